import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { dropDamagedBase, ensureBase, releaseBases } from '../../src/adapters/git/source/base-store.ts';
import { checkoutTree } from '../../src/adapters/git/worktree/checkout.ts';
import { deliverBranch } from '../../src/adapters/git/deliver/deliver.ts';
import { GitFailed } from '../../src/adapters/git/git.ts';
import { openRescue, saveRescue } from '../../src/adapters/git/rescue/rescue.ts';
import { resolveBase } from '../../src/adapters/git/source/resolve-base.ts';
import { processTable } from '../../src/adapters/program/process.ts';
import { openSource } from '../../src/adapters/git/source/source.ts';
import { git, makeLab, must, write } from '../helpers/git.ts';
import { sickProgram } from '../helpers/sick-program.ts';
import { silentServer } from '../helpers/silent-server.ts';
import { tempDir } from '../helpers/temp.ts';
import { until } from '../helpers/until.ts';

/** No compression makes it small: damage in the middle of a pack hits it. */
const files = () => ({ 'a.txt': 'a\n', 'large.bin': randomBytes(250_000).toString('hex') });
const cutPacks = (gitDir: string): void => {
  const dir = `${gitDir}/objects/pack`;
  for (const name of readdirSync(dir).filter((each) => each.endsWith('.pack')))
    truncateSync(`${dir}/${name}`, statSync(`${dir}/${name}`).size >> 1);
};
/** What the loader of programs says and ends with. */
const UNLOADABLE =
  "echo 'git: error while loading shared libraries: libz.so.1: cannot open shared object file' >&2; exit 127";
/** Until it is disposed of, git ends so with arguments like these. */
async function sickGit(dir: string, { when, end }: { when: string; end: string }): Promise<Disposable> {
  const { PATH } = process.env;
  const sick = await sickProgram(`${dir}/bin`, { name: 'git', when, end });
  await sick.sicken();
  process.env.PATH = sick.env.PATH;
  return { [Symbol.dispose]: () => void (process.env.PATH = PATH) };
}
const failed = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a base store', () => {
  test('that git finds damaged is made anew, and what is left of it stays as long as a run may borrow from it', async () => {
    await using temp = await tempDir();
    const { home, source, base, baseDir } = await makeLab(temp.path, files());
    cutPacks(baseDir);
    const error = await failed(checkoutTree({ gitDir: baseDir, commit: base, dir: `${temp.path}/out` }));
    expect(error).toBeInstanceOf(GitFailed);
    expect(await dropDamagedBase(baseDir, error)).toBe(true);
    expect(must(await ensureBase({ source, commit: base, home })).path).toBe(baseDir);
    expect(git(baseDir, 'fsck', '--full')).toBe('');

    const names = () => readdirSync(`${home.bases}/${source.key}`).filter((name) => name.includes('damaged'));
    releaseBases({ home, inUse: new Set([baseDir]) });
    expect(names()).toHaveLength(1);
    releaseBases({ home, inUse: new Set() });
    expect(names()).toEqual([]);
  });

  test('that is whole stays, whatever git says; also where its history holds what git finds odd today', async () => {
    await using temp = await tempDir();
    const { repo, source, home } = await makeLab(temp.path);
    const odd = `tree ${git(repo, 'rev-parse', 'HEAD^{tree}')}\nauthor A <a@b> 1 +0000\ncommitter A<a@b> 1 +0000\n\nodd\n`;
    writeFileSync(`${temp.path}/odd`, odd);
    const commit = git(repo, 'hash-object', '--literally', '-t', 'commit', '-w', `${temp.path}/odd`);
    const { path } = must(await ensureBase({ source, commit, home }));
    const error = new GitFailed(['x'], { code: 128, stderr: 'fatal: bad object HEAD', timedOut: false });
    expect(() => git(path, 'fsck', '--full')).toThrow();
    expect(await dropDamagedBase(path, error)).toBe(false);
  });

  test.each([
    ['cannot be run', '*', UNLOADABLE],
    ['cannot be run for the look', '*" fsck "*', UNLOADABLE],
    ['is killed at the look', '*" fsck "*', 'kill -KILL $$'],
  ])('that is damaged stays where git %s: that says nothing of it', async (_, when, end) => {
    await using temp = await tempDir();
    const { base, baseDir } = await makeLab(temp.path, files());
    cutPacks(baseDir);
    using _sick = await sickGit(temp.path, { when, end });
    const error = await failed(checkoutTree({ gitDir: baseDir, commit: base, dir: `${temp.path}/out` }));
    expect(error).toBeInstanceOf(GitFailed);
    expect(await dropDamagedBase(baseDir, error)).toBe(false);
  });
});

test("work that git cannot be run to carry is no fault of its agent's", async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path);
  write(lab.tree, { 'b.txt': 'b\n' });
  git(lab.tree, 'add', '-A');
  git(lab.tree, 'commit', '-q', '-m', 'mine');
  using _sick = await sickGit(temp.path, { when: '*" pack-objects "*', end: UNLOADABLE });
  await expect(lab.capture()).rejects.toMatchObject({ broken: 'exit code 127' });
});

test('a mirror that is damaged is fetched anew, also where only the base is made from it', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, files());
  const url = `file://${lab.repo}`;
  const { source } = must(await openSource({ repo: url, mirrorDir: lab.home.mirror }));
  const { commit } = must(await resolveBase({ source }));
  const damages = [
    cutPacks,
    (dir: string) => truncateSync(`${dir}/HEAD`, 0),
    (dir: string) => rmSync(`${dir}/objects`, { recursive: true }),
  ];
  for (const damage of damages) {
    damage(source.kind === 'url' ? source.gitDir : '');
    const { path } = must(await ensureBase({ source, commit, home: lab.home }));
    rmSync(path, { recursive: true });
    damage(source.kind === 'url' ? source.gitDir : '');
    git(lab.repo, 'commit', '-q', '--allow-empty', '-m', 'next');
    expect(must(await resolveBase({ source })).commit).toBe(git(lab.repo, 'rev-parse', 'HEAD'));
  }
});

/** `save`: keeps one more state of the worktree, and gives its commit. */
async function makeVault(dir: string) {
  const lab = await makeLab(dir, { 'a.txt': 'a' });
  const vaultDir = lab.home.vaultOf('key');
  const save = async (ref: string, content: string): Promise<string> => {
    write(lab.tree, { 'a.txt': content });
    const { gitDir, commit } = await lab.capture();
    must(await saveRescue({ vaultDir, gitDir, commit, ref }));
    return commit;
  };
  return { lab, vaultDir, save };
}

const cutLargest = (gitDir: string): void => {
  const packs = readdirSync(`${gitDir}/objects/pack`).map((name) => `${gitDir}/objects/pack/${name}`);
  const [largest] = packs.filter((path) => path.endsWith('.pack')).sort((a, b) => statSync(b).size - statSync(a).size);
  truncateSync(largest!, 1_000);
};

test('a damaged vault is replaced by one with what can be read of it', async () => {
  await using temp = await tempDir();
  const { lab, vaultDir, save } = await makeVault(temp.path);
  const small = await save('refs/fleet/t/1-a', 'small');
  await save('refs/fleet/t/2-b', randomBytes(250_000).toString('hex'));
  cutLargest(vaultDir);

  const last = await save('refs/fleet/t/3-c', 'last');
  expect(must(await openRescue({ vaultDir, ref: 'refs/fleet/t/3-c' })).commit).toBe(last);
  expect(must(await openRescue({ vaultDir, ref: 'refs/fleet/t/1-a' })).commit).toBe(small);
  expect(await openRescue({ vaultDir, ref: 'refs/fleet/t/2-b' })).toMatchObject({
    failure: { reason: 'base-missing' },
  });
  expect(git(vaultDir, 'fsck', '--full')).toBe('');
  expect(readdirSync(lab.home.vault).filter((name) => name.includes('damaged'))).toHaveLength(1);
});

test('a damaged vault stays in its place while git cannot be run to copy what it has', async () => {
  await using temp = await tempDir();
  const { lab, vaultDir, save } = await makeVault(temp.path);
  const small = await save('refs/fleet/t/1-a', 'small');
  await save('refs/fleet/t/2-b', randomBytes(250_000).toString('hex'));
  cutLargest(vaultDir);
  const { gitDir, commit } = await lab.capture();
  const order = { vaultDir, gitDir, commit, ref: 'refs/fleet/t/3-c' };
  for (const end of [UNLOADABLE, 'kill -KILL $$']) {
    using _sick = await sickGit(`${temp.path}/${end.length}`, { when: '*" index-pack "*', end });
    expect(await saveRescue(order)).toMatchObject({ failure: { reason: 'machine-fault' } });
  }
  expect(must(await openRescue({ vaultDir, ref: 'refs/fleet/t/1-a' })).commit).toBe(small);
  expect(readdirSync(lab.home.vault)).toEqual([basename(vaultDir)]);
  must(await saveRescue(order));
  expect(must(await openRescue({ vaultDir, ref: 'refs/fleet/t/1-a' })).commit).toBe(small);
});

test('a vault whose base is gone is replaced too, though the run that is saved can read that elsewhere', async () => {
  await using temp = await tempDir();
  const { lab, vaultDir, save } = await makeVault(temp.path);
  await save('refs/fleet/t/1-a', 'one');
  rmSync(`${vaultDir}/refs/fleet`, { recursive: true });
  writeFileSync(`${vaultDir}/refs/base`, `${lab.base}\n`);
  rmSync(`${vaultDir}/objects`, { recursive: true });
  mkdirSync(`${vaultDir}/objects`);

  const commit = await save('refs/fleet/t/2-b', 'two');
  const { gitDir } = must(await openRescue({ vaultDir, ref: 'refs/fleet/t/2-b' }));
  const ref = 'refs/heads/fleet/t1';
  expect(await deliverBranch({ source: lab.source, gitDir, commit, base: lab.base, ref })).toMatchObject({ ok: true });
  expect(git(vaultDir, 'fsck', '--full')).toBe('');
});

test('a lock that a killed git left on the branch of a task is taken away', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path);
  write(lab.tree, { 'b.txt': 'b' });
  const { gitDir, commit, base } = await lab.capture();
  mkdirSync(`${lab.repo}/.git/refs/heads/fleet`);
  writeFileSync(`${lab.repo}/.git/refs/heads/fleet/t1.lock`, '');
  const ref = 'refs/heads/fleet/t1';
  expect(await deliverBranch({ source: lab.source, gitDir, commit, base, ref })).toMatchObject({ ok: true });
  expect(git(lab.repo, 'rev-parse', ref)).toBe(commit);
});

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

test('a remote that says nothing is waited for only as long as somebody wants to know', async () => {
  await using temp = await tempDir();
  await using remote = await silentServer();
  const { source } = must(
    await openSource({ repo: `git://127.0.0.1:${remote.port}/x`, mirrorDir: (key) => `${temp.path}/${key}` }),
  );
  const [one, two] = [new AbortController(), new AbortController()];
  const fetching = () => [...processTable().values()].some(({ pid }) => commandOf(pid).includes(source.gitDir));
  const waits = [one, two].map(({ signal }) => resolveBase({ source, signal }));
  await until(fetching);
  one.abort(new Error('one'));
  await expect(waits[0]).rejects.toThrow('one');
  expect(fetching()).toBe(true);
  two.abort(new Error('two'));
  await expect(waits[1]).rejects.toThrow('two');
  await until(() => !fetching());
});
