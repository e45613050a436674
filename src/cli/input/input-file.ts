import { constants, createReadStream } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type FleetError, wrongInput, notFound } from '../../domain/error.ts';
import { formatBytes } from '../../domain/values/bytes.ts';
import type { Cli } from '../command.ts';

/** The text of a file that a person named, `-` for stdin; with `pipes` also of `<(command)`. @throws FleetError (2) where there is none, or it cannot be meant */
export async function readInput(
  cli: Cli,
  file: string,
  { maxBytes, pipes = false }: { maxBytes: number; pipes?: boolean },
): Promise<string> {
  const bytes =
    file === '-'
      ? Buffer.from(await cli.stdin(maxBytes))
      : await readBounded(resolve(cli.cwd, file), { file, maxBytes, pipes });
  const name = file === '-' ? 'stdin' : file;
  if (bytes.length === 0) throw wrongInput(`${name} is empty`);
  if (bytes.length > maxBytes) throw tooLarge(name, maxBytes);
  if (bytes.includes(0)) throw wrongInput(`${name} is not text`);
  return bytes.toString('utf8');
}

async function readBounded(
  path: string,
  { file, maxBytes, pipes }: { file: string; maxBytes: number; pipes: boolean },
): Promise<Buffer> {
  try {
    // A pipe that nobody writes to would be waited for without end.
    await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await handle.stat();
    if (stat.isDirectory()) throw wrongInput(`${file} is a folder`);
    if (pipes && stat.isFIFO()) return await readPipe(path, maxBytes);
    if (!stat.isFile()) throw wrongInput(`${file} is no regular file`);
    if (stat.size > maxBytes) throw tooLarge(file, maxBytes);
    const bytes = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (let n = 1; n > 0 && length < bytes.length; length += n)
      n = (await handle.read(bytes, length, bytes.length - length, null)).bytesRead;
    return bytes.subarray(0, length);
  } catch (error) {
    throw fileError(error, file);
  }
}

/** To the end of whoever writes to it. */
async function readPipe(path: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of createReadStream(path)) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > maxBytes) break;
  }
  return Buffer.concat(chunks);
}

/** @throws FleetError (2) where it cannot be written */
export async function writeOutput(cli: Cli, file: string, text: string): Promise<void> {
  await writeFile(resolve(cli.cwd, file), text).catch((error: unknown) => {
    throw fileError(error, file);
  });
}

function fileError(error: unknown, file: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return notFound(`${file} does not exist`);
  if (code === 'EISDIR') return wrongInput(`${file} is a folder`);
  if (code === 'EACCES' || code === 'EPERM') return wrongInput(`${file} is not open to this user`);
  return error;
}

const tooLarge = (name: string, maxBytes: number): FleetError =>
  wrongInput(`${name} is larger than ${formatBytes(maxBytes)}`);
