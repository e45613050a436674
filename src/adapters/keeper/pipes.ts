import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs';
import { Socket, type OnReadOpts, type SocketConstructorOpts } from 'node:net';
import { promisify } from 'node:util';

/** A pipe as the shell makes it: `write` is for a child's stdio, then to be closed here. */
export interface Pipe {
  read: number;
  write: number;
}

/**
 * Real pipes, by way of named ones in `dir` that are removed at once: what Node gives a child are sockets, and those cannot
 * be opened by name (`echo >/dev/stderr` fails with ENXIO).
 */
export async function openPipes(dir: string, count: number): Promise<Pipe[]> {
  const paths = Array.from({ length: count }, () => `${dir}/.pipe-${randomUUID()}`);
  const pipes: Pipe[] = [];
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths], {
      env: { PATH: '/usr/bin:/bin:/run/current-system/sw/bin' },
    });
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

/**
 * Hands everything that comes out of a pipe to `take`, in one buffer that is used again: `take` must be done with it when it
 * returns, and what it does not keep costs no memory. `ended` resolves at the end of the stream.
 */
export function drain(fd: number, take: (bytes: Buffer) => void): { ended: Promise<void>; destroy: () => void } {
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
