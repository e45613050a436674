import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

/** A server that accepts every connection and never says anything. */
export async function silentServer(): Promise<{ port: number } & AsyncDisposable> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
