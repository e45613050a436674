import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test } from '@jest/globals';
import { git, type GitFailed } from '../../src/adapters/git/git.ts';
import { GitProcess } from '../../src/adapters/git/process/client.ts';
import { openSource } from '../../src/adapters/git/source/source.ts';
import { checkMachine } from '../../src/adapters/sandbox/check-machine.ts';
import { homeLayout } from '../../src/domain/names.ts';
import { makeRepo } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';

const PATH = process.env['PATH'];
afterEach(() => void (process.env['PATH'] = PATH));

/** A home, and a folder that comes first in PATH, with a git that does this. */
async function machine(script?: string) {
  const temp = await tempDir();
  const bin = `${temp.path}/bin`;
  for (const dir of [bin, `${temp.path}/home`]) mkdirSync(dir);
  if (script !== undefined) {
    writeFileSync(`${bin}/git`, `#!/bin/sh\n${script}\n`);
    chmodSync(`${bin}/git`, 0o755);
    process.env['PATH'] = `${bin}:${PATH}`;
  }
  const home = homeLayout(`${temp.path}/home`);
  const check = () => checkMachine({ home, isolation: 'process-group' });
  return { temp, bin, home, check, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}

const failed = async (args: string[], options = {}): Promise<GitFailed> =>
  git(args, options).then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as GitFailed,
  );

test('a sound machine passes, and nothing is left of the check', async () => {
  await using m = await machine();
  expect(await m.check()).toBeUndefined();
  expect(readdirSync(m.home.scratch)).toEqual([]);
});

test.each([
  ['kill -SEGV $$', 'git was ended by SIGSEGV when its check made and read a commit (git hash-object)'],
  ['kill -KILL $$', 'git was ended by SIGKILL when its check made and read a commit (git hash-object)'],
  ['exit 127', 'git cannot be run (exit code 127) when its check made and read a commit (git hash-object)'],
  ['exit 1', /^git hash-object failed \(1\)/],
  ['case " $* " in *cat-file*) echo other ;; *) exec /usr/bin/git "$@" ;; esac', /does not give back/],
])('a git that does `%s` is found, though it may answer --version', async (script, said) => {
  await using m = await machine(`[ "$1" = --version ] && exec /usr/bin/git --version\n${script}`);
  expect(await m.check()).toEqual(typeof said === 'string' ? said : expect.stringMatching(said));
});

test('a git that is gone, and a home that cannot be used, are found', async () => {
  await using m = await machine();
  process.env['PATH'] = m.bin;
  expect(await m.check()).toMatch(/^git cannot be run \(ENOENT\)/);
  process.env['PATH'] = PATH;
  rmSync(m.home.root, { recursive: true });
  expect(await m.check()).toBe(`its home ${m.home.root} cannot be read and written (ENOENT)`);
  writeFileSync(m.home.root, '');
  expect(await m.check()).toBe(`its home ${m.home.root} cannot be read and written (ENOTDIR)`);
});

test('a git that dies is told from one whose time was up, or whose reader left, by a code', async () => {
  await using m = await machine('kill -SEGV $$');
  expect(await failed(['rev-parse'])).toMatchObject({ broken: 'SIGSEGV', timedOut: false });
  await using slow = await machine('exec sleep 60');
  const late = await failed(['rev-parse'], { timeoutMs: 50 });
  const given = new AbortController();
  const leaving = failed(['ls-remote'], { network: true, signal: given.signal });
  given.abort();
  for (const error of [late, await leaving]) {
    expect(error.timedOut).toBe(true);
    expect(error.broken).toBeUndefined();
  }
  await using pipe = await machine('kill -PIPE $$');
  expect((await failed(['rev-parse'])).broken).toBeUndefined();
  expect([m, slow, pipe].length).toBe(3);
});

test('no repository is blamed for a git that dies', async () => {
  await using m = await machine();
  const repo = `${m.temp.path}/repo`;
  makeRepo(repo, { 'a.txt': 'a' });
  await using _sick = await machine('kill -SEGV $$');
  const opened = await openSource({ repo, mirrorDir: (key) => key });
  expect(opened).toMatchObject({ ok: false, failure: { reason: 'machine-fault' } });
});

test('a git that is started by a process of its own says so too', async () => {
  await using m = await machine('kill -SEGV $$');
  const runner = new GitProcess();
  try {
    const dying = runner.git(['rev-parse'], { env: { PATH: `${m.bin}:${PATH}` } });
    await expect(dying).rejects.toMatchObject({ broken: 'SIGSEGV' });
  } finally {
    runner.close();
  }
});

test('a folder that cannot be entered is no fault of git', async () => {
  await using m = await machine();
  const error = await failed(['rev-parse'], { cwd: `${m.temp.path}/nowhere` });
  expect([error.code, error.broken]).toEqual([128, undefined]);
});
