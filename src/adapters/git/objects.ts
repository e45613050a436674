import { createHash, randomBytes, type Hash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
  constants,
} from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createDeflate, deflateSync } from 'node:zlib';
import type { Identity, ObjectFormat } from './init.ts';

export type ObjectType = 'blob' | 'tree' | 'commit';
export const NO_FOLLOW = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export const hashHeader = (format: ObjectFormat, type: ObjectType, size: number): Hash =>
  createHash(format).update(`${type} ${size}\0`);
export const hashObject = (format: ObjectFormat, type: ObjectType, body: Uint8Array): string =>
  hashHeader(format, type, body.length).update(body).digest('hex');

/** A repository of ours that objects are written to. */
export interface ObjectStore {
  gitDir: string;
  format: ObjectFormat;
}

/** Stores an object in a repository of ours without git, and gives its id. Atomic; an object that is there is left. */
export function writeLoose(to: ObjectStore, type: ObjectType, body: Uint8Array): string {
  const { gitDir, format } = to;
  const id = hashObject(format, type, body);
  const place = placeFor(gitDir, id);
  if (existsSync(place.path)) return id;
  const data = deflateSync(Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]), { level: 1 });
  writeFileSync(place.temp, data, { mode: 0o444 });
  renameSync(place.temp, place.path);
  return id;
}

export interface BlobFile {
  path: string | Buffer;
  /** Bytes. */
  size: number;
  /** What it was hashed to before. */
  id: string;
  /** A symlink: its target is the content. */
  link: boolean;
}

/** Stores a file as a blob, streamed where it is large. Throws where it is not what was hashed before. */
export async function writeBlobFile(to: ObjectStore, file: BlobFile): Promise<void> {
  const { gitDir, format } = to;
  if (file.link) return check(writeLoose(to, 'blob', readlinkSync(file.path, { encoding: 'buffer' })), file.id);
  if (file.size <= 1024 * 1024) {
    const fd = openSync(file.path, NO_FOLLOW);
    try {
      check(writeLoose(to, 'blob', readFileSync(fd)), file.id);
    } finally {
      closeSync(fd);
    }
    return;
  }
  const place = placeFor(gitDir, file.id);
  const hash = hashHeader(format, 'blob', file.size);
  const deflate = createDeflate({ level: 1 });
  deflate.write(`blob ${file.size}\0`);
  const source = createReadStream(file.path, { flags: NO_FOLLOW as unknown as string });
  source.on('data', (chunk) => hash.update(chunk));
  try {
    await pipeline(source, deflate, createWriteStream(place.temp, { mode: 0o444 }));
    check(hash.digest('hex'), file.id);
    renameSync(place.temp, place.path);
  } finally {
    rmSync(place.temp, { force: true });
  }
}

/** A commit's bytes; `seconds` since 1970, UTC. */
export function commitObject(commit: {
  tree: string;
  parents: readonly string[];
  identity: Identity;
  seconds: number;
  message: string;
}): Buffer {
  const clean = (text: string) => text.replace(/[\p{Cc}<>]/gu, ' ').trim() || 'unknown';
  const who = `${clean(commit.identity.name)} <${clean(commit.identity.email).replaceAll(' ', '')}> ${commit.seconds} +0000`;
  const parents = commit.parents.map((id) => `parent ${id}\n`).join('');
  return Buffer.from(
    `tree ${commit.tree}\n${parents}author ${who}\ncommitter ${who}\n\n${commit.message.replaceAll('\0', ' ')}`,
  );
}

function placeFor(gitDir: string, id: string): { path: string; temp: string } {
  const dir = `${gitDir}/objects/${id.slice(0, 2)}`;
  mkdirSync(dir, { recursive: true });
  return { path: `${dir}/${id.slice(2)}`, temp: `${dir}/tmp_obj_${randomBytes(6).toString('hex')}` };
}

function check(id: string, expected: string): void {
  if (id !== expected) throw new Error('a file changed while it was captured: the agent is not dead');
}
