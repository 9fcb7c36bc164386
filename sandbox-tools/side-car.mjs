// Runs in a container beside the agent's, where no socket of the host can be mounted: listens on Unix sockets in the
// volume that both share, and hands every byte to the relay of the host over TCP. It has a network and no secret of a
// provider; the agent's container has neither. Node built-ins only.
//
//   node side-car.mjs FOLDER < orders
//
// The first line of standard input is its orders, {"host","port","token","channels":["gateway","status"]}: on standard
// input, since arguments and environment of a container are shown to whoever may ask its engine. When standard input
// ends, the benchmark is gone, and so is the side-car. It says "ready" on standard output.
import { chmodSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { join } from './forwarder.mjs';

/** Listens on `<folder>/<channel>.sock`; each connection names its channel to the relay, with the token. */
function offer(folder, channel, { host, port, token }) {
  const path = `${folder}/${channel}.sock`;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const relay = connect({ host, port, allowHalfOpen: true });
    relay.write(`${token} ${channel}\n`);
    join(client, relay);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      // The agent is another user, and sees the folder read-only.
      chmodSync(path, 0o666);
      resolve();
    });
  });
}

const folder = process.argv[2];
const lines = createInterface({ input: process.stdin });
lines.once('line', (line) => {
  const orders = JSON.parse(line);
  Promise.all(orders.channels.map((channel) => offer(folder, channel, orders))).then(
    () => process.stdout.write('ready\n'),
    (error) => {
      process.stderr.write(`side-car: ${error.message}\n`);
      process.exit(1);
    },
  );
});
lines.once('close', () => process.exit(0));
