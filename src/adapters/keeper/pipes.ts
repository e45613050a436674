import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, constants, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Socket, type OnReadOpts, type SocketConstructorOpts } from 'node:net';
import type { PipeStock } from './pipe-stock.ts';

/** A pipe as the shell makes it: `write` is for a child's stdio, then to be closed here. */
export interface Pipe {
  read: number;
  write: number;
}

/**
 * Real pipes, by way of named ones that are removed at once: what Node gives a child are sockets, and those cannot be opened by
 * name (`echo >/dev/stderr` fails with ENXIO).
 */
export async function openPipes(stock: PipeStock, count: number): Promise<Pipe[]> {
  const paths = await stock.take(count);
  const pipes: Pipe[] = [];
  try {
    for (const path of paths) {
      const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      pipes.push({ read, write: openSync(path, 'w') });
    }
    return pipes;
  } catch (error) {
    for (const { read, write } of pipes) [read, write].forEach((fd) => closeSync(fd));
    throw error;
  } finally {
    for (const path of paths) rmSync(path, { force: true });
  }
}

/**
 * A named pipe at `path` for anybody who may write there, handed to `take` until `close`. It was made where nobody else can write to,
 * and is moved: what was planted at `path` is replaced, never followed.
 */
export function offerPipe(made: string, { path, take }: { path: string; take: (bytes: Buffer) => void }): Drain {
  try {
    const read = openSync(made, constants.O_RDONLY | constants.O_NONBLOCK);
    // Without a writer of our own it would end with the first that closes it.
    const write = openSync(made, 'w');
    const stream = drain(read, take);
    let open = true;
    const close = () => {
      if (open) closeSync(write);
      open = false;
    };
    try {
      chmodSync(made, 0o200);
      renameSync(made, path);
    } catch {
      close();
    }
    return { ...stream, close };
  } finally {
    rmSync(made, { force: true });
  }
}

/** A descriptor that reads `text` and then ends, without anybody to write it: a file that has no name any more. */
export function openText(dir: string, text: string): number {
  const path = `${dir}/.stdin-${randomUUID()}`;
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    return openSync(path, 'r');
  } finally {
    rmSync(path, { force: true });
  }
}

export interface Drain {
  /** Resolves at the end of the stream. */
  ended: Promise<void>;
  destroy(): void;
  /** Ends a stream that has a writer here: what is in it still comes. */
  close?(): void;
}

/**
 * Hands everything that comes out of a pipe to `take`, in one buffer that is used again: `take` must be done with it when it
 * returns, and what it does not keep costs no memory. `ended` resolves at the end of the stream.
 */
export function drain(fd: number, take: (bytes: Buffer) => void): Drain {
  const buffer = Buffer.alloc(64 * 1024);
  const callback = (length: number) => {
    take(buffer.subarray(0, length));
    return true;
  };
  // `onread` is missing in the types of the constructor, not in its documentation.
  const options: SocketConstructorOpts & { onread: OnReadOpts } = {
    fd,
    readable: true,
    writable: false,
    onread: { buffer, callback },
  };
  const socket = new Socket(options);
  const ended = new Promise<void>((resolve) => socket.on('error', () => resolve()).on('close', () => resolve()));
  socket.resume();
  return { ended, destroy: () => void socket.destroy() };
}
