import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir, userInfo } from 'node:os';
import { tryLock } from 'fs-native-extensions';
import { writeText } from '../../adapters/disk/json-file.ts';
import { wrongState } from '../../domain/error.ts';
import type { HomeLayout } from '../../domain/names.ts';

/** A lock that ends with the process, however it ends. */
export interface HeldLock {
  release(): void;
  /** Homes of the other workers that run, or ran, on this machine under this user. */
  otherHomes(): string[];
}

/** One worker per FLEET_HOME, and one per name on a machine: the second is refused. */
export async function lockWorker(home: HomeLayout, name: string): Promise<HeldLock> {
  await mkdir(home.root, { recursive: true });
  const names = `${tmpdir()}/fleet-workers-${userInfo().uid}`;
  mkdirSync(names, { recursive: true, mode: 0o700 });
  const byHome = lock(
    home.workerLock,
    `a worker is already running in ${home.root}: stop it, or set FLEET_HOME to another folder`,
  );
  try {
    const byName = lock(
      `${names}/${name}.lock`,
      `a worker named ${name} is already running on this machine: choose another with --name`,
    );
    ftruncateSync(byName);
    writeSync(byName, home.root);
    dropLeft(names);
    const homes = () => new Set(readdirSync(names).map((file) => homeIn(`${names}/${file}`)));
    return {
      release: () => [byHome, byName].forEach((fd) => closeSync(fd)),
      otherHomes: () => [...homes()].filter((root) => root !== home.root && existsSync(root)),
    };
  } catch (error) {
    closeSync(byHome);
    throw error;
  }
}

/** Names that no worker holds, of homes that are no more: they would be hidden from every agent for ever. */
function dropLeft(names: string): void {
  for (const file of readdirSync(names)) {
    const path = `${names}/${file}`;
    const root = homeIn(path);
    if (!root || existsSync(root)) continue;
    try {
      // Held while it goes: whoever opened it before finds another file at its path, and asks again.
      const fd = openSync(path, 'r+');
      if (tryLock(fd)) unlinkSync(path);
      closeSync(fd);
    } catch {
      // Another worker was faster.
    }
  }
}

/** Empty where its worker has not written it yet, or the file is gone. */
function homeIn(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The lock of a home that no worker runs in, for whoever tends it meanwhile; undefined where one does. */
export function lockIdleHome(home: HomeLayout): Disposable | undefined {
  const fd = openSync(home.workerLock, 'a+', 0o600);
  const ours = tryLock(fd);
  if (!ours) closeSync(fd);
  return ours ? { [Symbol.dispose]: () => closeSync(fd) } : undefined;
}

function lock(path: string, refusal: string): number {
  const fd = openSync(path, 'a+', 0o600);
  if (!tryLock(fd)) {
    closeSync(fd);
    throw wrongState(refusal);
  }
  if (fstatSync(fd).ino === statSync(path, { throwIfNoEntry: false })?.ino) return fd;
  // It was removed between the two: what is locked is no file of that name.
  closeSync(fd);
  return lock(path, refusal);
}

/** The random part of the worker's own queue; stays the same over restarts, so that its runs find it again. */
export async function workerId(home: HomeLayout): Promise<string> {
  const known = await readFile(home.workerId, 'utf8').catch(() => '');
  if (/^[0-9a-f]{8}$/.test(known.trim())) return known.trim();
  const id = randomBytes(4).toString('hex');
  await writeText(home.workerId, `${id}\n`);
  return id;
}
