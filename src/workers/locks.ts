import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir, userInfo } from 'node:os';
import { tryLock } from 'fs-native-extensions';
import { writeText } from '../adapters/json-file.ts';
import { FleetError } from '../domain/error.ts';
import type { HomeLayout } from '../domain/names.ts';

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
    const read = (file: string) => readFileSync(`${names}/${file}`, 'utf8');
    return {
      release: () => [byHome, byName].forEach((fd) => closeSync(fd)),
      otherHomes: () => [...new Set(readdirSync(names).map(read))].filter((root) => root && root !== home.root),
    };
  } catch (error) {
    closeSync(byHome);
    throw error;
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
    throw new FleetError(refusal, { exitCode: 2 });
  }
  return fd;
}

/** The random part of the worker's own queue; stays the same over restarts, so that its runs find it again. */
export async function workerId(home: HomeLayout): Promise<string> {
  const known = await readFile(home.workerId, 'utf8').catch(() => '');
  if (/^[0-9a-f]{8}$/.test(known.trim())) return known.trim();
  const id = randomBytes(4).toString('hex');
  await writeText(home.workerId, `${id}\n`);
  return id;
}
