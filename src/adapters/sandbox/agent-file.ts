import { constants } from 'node:fs';
import { open, readdir, type FileHandle } from 'node:fs/promises';

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MOST_NAMES = 200;

/**
 * Reads one regular file in a folder that a live agent owns, by the names on the way to it (`*` stands for any part of
 * a name; the last match in order counts). No link is followed, no pipe waited for. Undefined: there is none, or it is
 * larger than `maxBytes`.
 */
export async function readAgentFile(find: {
  root: string;
  names: readonly string[];
  maxBytes: number;
}): Promise<{ name: string; bytes: Buffer } | undefined> {
  const [name, ...rest] = find.names;
  if (name === undefined) return undefined;
  return withFolder(find.root, async (beneath) => {
    for (const found of await matching(beneath, name)) {
      const at = `${beneath}/${found}`;
      const file = rest.length
        ? await readAgentFile({ ...find, root: at, names: rest })
        : await readWhole(at, found, find.maxBytes);
      if (file) return file;
    }
    return undefined;
  });
}

/**
 * Reads the regular files of a folder below one that a live agent owns, in order of their names: `most` at most, and none that
 * is larger than `maxBytes`; `left` are the names of the others, links among them. What begins with a dot is not read.
 */
export async function readAgentFolder(find: {
  root: string;
  folder: string;
  most: number;
  maxBytes: number;
}): Promise<{ files: { name: string; bytes: Buffer }[]; left: string[] }> {
  const names = await withFolder(find.root, (root) =>
    withFolder(`${root}/${find.folder}`, (folder) => matching(folder, '*')),
  );
  const read = { files: [] as { name: string; bytes: Buffer }[], left: [] as string[] };
  for (const name of (names ?? []).filter((name) => !name.startsWith('.')).sort()) {
    const file =
      read.files.length < find.most &&
      (await readAgentFile({ root: find.root, names: [find.folder, name], maxBytes: find.maxBytes }));
    if (file) read.files.push(file);
    else read.left.push(name);
  }
  return read;
}

async function withFolder<T>(path: string, use: (beneath: string) => Promise<T>): Promise<T | undefined> {
  const folder = await open(path, FOLDER).catch(() => undefined);
  if (!folder) return undefined;
  try {
    return await use(process.platform === 'linux' ? `/proc/self/fd/${folder.fd}` : path);
  } finally {
    await folder.close();
  }
}

async function matching(folder: string, name: string): Promise<string[]> {
  if (!name.includes('*')) return [name];
  const [before = '', after = ''] = name.split('*');
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((one) => one.length >= name.length - 1 && one.startsWith(before) && one.endsWith(after))
    .sort()
    .reverse()
    .slice(0, MOST_NAMES);
}

async function readWhole(path: string, name: string, maxBytes: number) {
  const file = await open(path, FILE).catch(() => undefined);
  if (!file) return undefined;
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > maxBytes) return undefined;
    return { name, bytes: await readBytes(file, stat.size) };
  } finally {
    await file.close();
  }
}

async function readBytes(file: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  let at = 0;
  for (let got = -1; got !== 0 && at < size; at += got) got = (await file.read(bytes, at, size - at, at)).bytesRead;
  return bytes.subarray(0, at);
}
