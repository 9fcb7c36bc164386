// Runs inside the sandbox: listens on 127.0.0.1 and hands every byte to the gateway's Unix socket and back.
// Knows nothing of HTTP; Node built-ins only.
import { connect, createServer } from 'node:net';

/**
 * Starts the forwarder.
 * @param {{ port: number, socketPath: string }} options port 0 picks a free one
 * @returns {Promise<import('node:net').Server>} listening on 127.0.0.1
 */
export function startForwarder({ port, socketPath }) {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const gateway = connect({ path: socketPath, allowHalfOpen: true });
    const endBoth = () => {
      client.destroy();
      gateway.destroy();
    };
    client.on('error', endBoth);
    gateway.on('error', endBoth);
    // `pipe` carries back-pressure and half-close in both directions.
    client.pipe(gateway);
    gateway.pipe(client);
    client.on('close', () => gateway.destroy());
    gateway.on('close', () => client.destroySoon());
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
