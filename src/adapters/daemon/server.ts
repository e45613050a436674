import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { receiveLines } from './lines.ts';
import type { Response } from './link.ts';

type Handlers = Readonly<Record<string, (args: never) => unknown>>;
type Request = { id: number; op: string; args: never };

/** Answers on a socket that only our own user can open. Call it with the process's lock held: a stale socket is removed. */
export async function serve(
  path: string,
  handlers: Handlers,
  changed: () => void,
): Promise<{ server: Server; clients: Set<Socket> }> {
  const clients = new Set<Socket>();
  const server = createServer((socket) => {
    clients.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      clients.delete(socket);
      changed();
    });
    receiveLines(socket, (line) => void answer(handlers, socket, JSON.parse(line) as Request));
  });
  await listenAlone(server, path);
  return { server, clients };
}

/** On a socket that only our own user can open. A stale one is removed. */
export async function listenAlone(server: Server, path: string): Promise<void> {
  rmSync(path, { force: true });
  const mask = process.umask(0o177);
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve).once('error', reject).listen(path);
    process.umask(mask);
  });
}

async function answer(handlers: Handlers, socket: Socket, { id, op, args }: Request): Promise<void> {
  let response: Response;
  try {
    const handle = Object.hasOwn(handlers, op) ? handlers[op] : undefined;
    if (!handle) throw new Error(`${op} is not known to this process`);
    response = { id, value: await handle(args) };
  } catch (error) {
    response = { id, error: (error as Error).message };
  }
  if (!socket.destroyed) socket.write(`${JSON.stringify(response)}\n`);
}
