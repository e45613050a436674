import { execa } from 'execa';

/** Bytes that a folder takes on its disk. */
export async function folderBytes(path: string): Promise<number> {
  return 1024 * (await du('-skx', path));
}

export interface FolderSize {
  bytes: number;
  files: number;
}

const TIMEOUT_MS = 120_000;

/** What a folder takes on its disk, by a process of its own: an agent may have made a million files. What cannot be read is left out. */
export async function folderSize(path: string): Promise<FolderSize> {
  const [bytes, files] = await Promise.all([folderBytes(path), du('-sx', '--inodes', path)]);
  return { bytes, files };
}

async function du(...args: string[]): Promise<number> {
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C' };
  const options = { env, extendEnv: false, reject: false, timeout: TIMEOUT_MS, stdin: 'ignore' } as const;
  const { stdout } = await execa('nice', ['du', ...args], options);
  return Number.parseInt(stdout ?? '', 10) || 0;
}
