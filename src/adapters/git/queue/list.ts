import type { Readable } from 'node:stream';
import { ended, startGit } from '../git.ts';
import { settle } from '../pack.ts';

/** What git says of one entry of the folder. */
export interface Listed {
  path: string;
  /** Its bytes, as latin1. */
  raw: string;
  mode: string;
  type: string;
  id: string;
  /** Bytes; NaN of what is no file. */
  size: number;
}

const LINE = /^(\d{6}) (\w+) ([0-9a-f]+)\s+(\S+)\t([^]*)$/;

/**
 * The entries of one folder of a commit that are wanted, by name: read as git tells them, and `most` of them, as somebody
 * may have pushed millions. `more`: there are others.
 */
export async function listFolder(
  list: { gitDir: string; commit: string; folder: string; most: number },
  isWanted: (path: string) => boolean,
): Promise<{ entries: Listed[]; more: boolean }> {
  const { gitDir, commit, folder, most } = list;
  const args = ['ls-tree', '-z', '--long', commit, '--', folder, `${folder}/`];
  const child = startGit(args, { gitDir }, { stdin: 'ignore', stdout: 'pipe', buffer: { stdout: false } });
  const end = settle(ended(child, args));
  const entries: Listed[] = [];
  let rest = '';
  for await (const chunk of child.stdout as Readable) {
    const lines = (rest + (chunk as Buffer).toString('latin1')).split('\0');
    rest = lines.pop()!;
    entries.push(...lines.map(parse).filter(({ path }) => isWanted(path)));
    if (entries.length > most) break;
  }
  const more = entries.length > most;
  if (more) child.kill('SIGKILL');
  const failed = await end;
  if (failed && !more) throw failed;
  return { entries: entries.slice(0, most), more };
}

function parse(line: string): Listed {
  const [, mode = '', type = '', id = '', size = '', raw = ''] = LINE.exec(line) ?? [];
  return { path: Buffer.from(raw, 'latin1').toString('utf8'), raw, mode, type, id, size: Number(size) };
}
