import type { Readable } from 'node:stream';
import { delegate, ended, GitFailed, startGit, type CopyObjects } from './git.ts';
import { RecentPacks } from './recent-packs.ts';

export const PACK_TIMEOUT_MS = 10 * 60_000;

/** Carries objects from one repository to another without either knowing the other. Throws {@link GitFailed}. */
export async function copyObjects(copy: CopyObjects): Promise<void> {
  return delegate()?.copyObjects(copy) ?? pipeObjects(copy);
}

/** As {@link copyObjects}, by processes of this one. */
export async function pipeObjects(copy: CopyObjects): Promise<void> {
  const timeoutMs = copy.timeoutMs ?? PACK_TIMEOUT_MS;
  // A commit's objects are the same wherever they come from, and are checked where they go to.
  const key = `${copy.revs.join(' ')} ${copy.blobs ?? true}`;
  const known = copy.pack === 'use' && recent.take(key);
  if (known) return storeWhole(copy, known, timeoutMs);
  const packArgs = ['pack-objects', '--revs', '--stdout', '--delta-base-offset', '-q'];
  if (copy.blobs === false) packArgs.push('--filter=blob:none');
  const pack = startGit(
    packArgs,
    { ...copy.from, timeoutMs },
    { stdin: 'pipe', stdout: 'pipe', buffer: { stdout: false } },
  );
  pack.stdin?.on('error', () => {});
  pack.stdin?.end(copy.revs.map((rev) => `${rev}\n`).join(''));
  const packed = settle(ended(pack, packArgs));

  const early = copy.looseBelow === undefined ? startStore(copy, 'index-pack', timeoutMs) : undefined;
  const first = await firstChunk(pack.stdout as Readable);
  if (!first) early?.child.kill('SIGKILL');
  if (!first)
    throw (await packed) ?? new GitFailed(packArgs, { code: null, stderr: 'no pack was made', timedOut: false });
  const { child: store, stored } = early ?? startStore(copy, verbFor(copy, first), timeoutMs);
  const heard = copy.pack === 'keep' ? recent.listen(pack.stdout as Readable, first) : undefined;
  store.stdin?.on('error', () => pack.stdout?.resume());
  store.stdin?.write(first);
  if (store.stdin) pack.stdout?.pipe(store.stdin);

  const failed = await Promise.race([
    packed.then((failure) => failure ?? stored),
    stored.then((failure) => failure ?? packed),
  ]);
  if (failed) {
    pack.kill('SIGKILL');
    store.kill('SIGKILL');
    // Nobody reads what is left of the pack any more, and until it is read its process does not count as ended.
    pack.stdout?.unpipe().resume();
  }
  const [packFailure, storeFailure] = await Promise.all([packed, stored]);
  const cause = failed ?? packFailure ?? storeFailure;
  if (cause) throw cause;
  heard?.keep(key);
}

const RECENT_BYTES = 8 * 1024 ** 2;
const recent = new RecentPacks(RECENT_BYTES);

async function storeWhole(copy: CopyObjects, pack: Buffer, timeoutMs: number): Promise<void> {
  const { child, stored } = startStore(copy, verbFor(copy, pack), timeoutMs);
  child.stdin?.on('error', () => {});
  child.stdin?.end(pack);
  const failure = await stored;
  if (failure) throw failure;
}

function verbFor({ looseBelow }: CopyObjects, pack: Buffer): 'index-pack' | 'unpack-objects' {
  const few = looseBelow !== undefined && pack.length >= 12 && pack.readUInt32BE(8) < looseBelow;
  return few ? 'unpack-objects' : 'index-pack';
}

function startStore(copy: CopyObjects, verb: 'index-pack' | 'unpack-objects', timeoutMs: number) {
  const args = [
    verb,
    verb === 'index-pack' ? '--stdin' : '-q',
    ...(copy.strict ? ['--strict'] : []),
    ...(copy.maxBytes === undefined ? [] : [`--max-input-size=${copy.maxBytes}`]),
  ];
  const child = startGit(args, { ...copy.to, timeoutMs }, { stdin: 'pipe' });
  return { child, stored: settle(ended(child, args)) };
}

export const settle = (work: Promise<unknown>): Promise<Error | undefined> =>
  work.then(
    () => undefined,
    (error: Error) => error,
  );

/** The first bytes, or undefined where there are none. The stream is left paused. */
async function firstChunk(stream: Readable): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const done = (chunk: Buffer | undefined) => {
      stream.off('data', onData).off('end', onEnd).off('error', onEnd).off('close', onEnd);
      resolve(chunk);
    };
    const onData = (chunk: Buffer) => {
      stream.pause();
      done(chunk);
    };
    const onEnd = () => done(undefined);
    stream.on('data', onData).on('end', onEnd).on('error', onEnd).on('close', onEnd);
  });
}

/** GIT_ALTERNATE_OBJECT_DIRECTORIES is a list with `:` between; quoted, a path may contain anything. */
export const alternateList = (path: string): string => `"${path.replace(/["\\]/g, '\\$&')}"`;
