// Runs inside the sandbox: listens on 127.0.0.1 and hands every byte to the gateway's Unix socket and back.
// Knows nothing of HTTP; Node built-ins only.
import { connect, createServer } from 'node:net';

/**
 * Hands the bytes of one socket to another, with back-pressure and half-close. Not `pipe`: that one looks at
 * `process.stdout`, which makes Node set the descriptor non-blocking, for the agent's command too, which shares it
 * and would lose output ("Resource temporarily unavailable").
 */
function carry(from, to) {
  from.on('data', (chunk) => {
    if (to.write(chunk)) return;
    from.pause();
    to.once('drain', () => from.resume());
  });
  from.on('end', () => to.end());
}

/**
 * Joins two sockets that both allow half-open connections, until both are closed.
 * @param {import('node:net').Socket} client
 * @param {import('node:net').Socket} gateway
 */
export function join(client, gateway) {
  const endBoth = () => {
    client.destroy();
    gateway.destroy();
  };
  client.on('error', endBoth);
  gateway.on('error', endBoth);
  carry(client, gateway);
  carry(gateway, client);
  client.on('close', () => gateway.destroy());
  gateway.on('close', () => client.destroySoon());
}

/**
 * Starts the forwarder.
 * @param {{ port: number, socketPath: string }} options port 0 picks a free one
 * @returns {Promise<import('node:net').Server>} listening on 127.0.0.1
 */
export function startForwarder({ port, socketPath }) {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    join(client, connect({ path: socketPath, allowHalfOpen: true }));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port }, () => {
      server.off('error', reject);
      server.on('error', () => {});
      resolve(server);
    });
  });
}
