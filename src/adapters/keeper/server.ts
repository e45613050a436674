import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Keeper } from './keeper.ts';
import { receiveLines } from './lines.ts';
import type { Request, Response } from './protocol.ts';

/** Answers on a socket that only our own user can open. Call it with the keeper's lock held: a stale socket is removed. */
export async function serve(
  path: string,
  keeper: Keeper,
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
    receiveLines(socket, (line) => void answer(keeper, socket, JSON.parse(line) as Request));
  });
  rmSync(path, { force: true });
  const mask = process.umask(0o177);
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve).once('error', reject).listen(path);
    process.umask(mask);
  });
  return { server, clients };
}

async function answer(keeper: Keeper, socket: Socket, { id, op, args }: Request): Promise<void> {
  let response: Response;
  try {
    const handle = keeper.handlers[op] as ((args: unknown) => unknown) | undefined;
    if (!handle) throw new Error(`${op} is not known to this keeper`);
    response = { id, value: await handle(args) };
  } catch (error) {
    response = { id, error: (error as Error).message };
  }
  if (!socket.destroyed) socket.write(`${JSON.stringify(response)}\n`);
}
