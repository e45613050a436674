import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';

/**
 * So many TCP ports of this machine that nothing listens on, all different. Each has had a connection that its own side closed: so
 * for a minute Linux gives it to no program that asks for any port, and still to one that asks for this one.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer((socket) => void socket.end()).listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  return Promise.all(
    servers.map(async (server) => {
      const { port } = server.address() as AddressInfo;
      await once(connect(port, '127.0.0.1').resume(), 'close');
      await new Promise((resolve) => server.close(resolve));
      return port;
    }),
  );
}
