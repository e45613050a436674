import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { pathsAhead } from '../../src/adapters/git/source/ahead.ts';
import { ensureBase } from '../../src/adapters/git/source/base-store.ts';
import { deliverBranch } from '../../src/adapters/git/deliver/deliver.ts';
import { emptyResult } from '../../src/adapters/git/rescue/hand-over.ts';
import { layOutWork } from '../../src/adapters/git/worktree/write-tree.ts';
import { isIn } from '../../src/adapters/git/source/ancestry.ts';
import { mergeCommit, mergeTrees } from '../../src/adapters/git/merge.ts';
import { checkedOutAt, fetchRefs, moveBranch, readRefs } from '../../src/adapters/git/deliver/merge-source.ts';
import { createPrivateRepo } from '../../src/adapters/git/worktree/private-repo.ts';
import { openSource, type Source } from '../../src/adapters/git/source/source.ts';
import type { WorkRecord } from '../../src/adapters/git/rescue/work-record.ts';
import { workOnto } from '../../src/adapters/git/worktree/rebase-work.ts';
import { homeLayout } from '../../src/domain/names.ts';
import { git, IDENTITY, makeRepo, must, write } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';

let temp: Awaited<ReturnType<typeof tempDir>>;
let root: string;
const { signal } = new AbortController();

beforeAll(async () => {
  temp = await tempDir();
  root = temp.path;
});
afterAll(async () => temp[Symbol.asyncDispose]());

/** A commit on a branch of its own, from `from`. */
function branch(repo: string, name: string, files: Record<string, string>, from = 'main'): string {
  git(repo, 'checkout', '-q', '-B', name, from);
  write(repo, files);
  git(repo, 'add', '-A');
  git(repo, 'commit', '-q', '-m', name);
  const commit = git(repo, 'rev-parse', 'HEAD');
  git(repo, 'checkout', '-q', '--detach', 'main');
  return commit;
}

/** A repository by path and as a bare one by URL, with a work repository of ours at its main. */
async function lab(name: string) {
  const repo = `${root}/${name}`;
  const base = makeRepo(repo, { 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const one = branch(repo, 'one', { 'a.txt': 'one\n' });
  const other = branch(repo, 'other', { 'a.txt': 'other\n', 'c.txt': 'c\n' });
  const free = branch(repo, 'free', { 'd.txt': 'd\n' });
  const home = homeLayout(`${root}/home-${name}`);
  const bare = `${root}/${name}.git`;
  git(root, 'clone', '-q', '--bare', repo, bare);
  git(bare, 'update-ref', 'HEAD', base);
  const source = must(await openSource({ repo, mirrorDir: home.mirror })).source;
  const url = must(await openSource({ repo: `file://${bare}`, mirrorDir: home.mirror })).source;
  const baseDir = must(await ensureBase({ source, commit: base, home })).path;
  return { repo, bare, base, one, other, free, home, source, url, baseDir };
}

const refsOf = (...names: string[]) => names.map((name) => `refs/heads/${name}`);
async function bring(source: Source, at: { dir: string; base: string; baseDir: string }, names: string[]) {
  await emptyResult(at);
  const { refs } = must(await readRefs(source, refsOf(...names)));
  must(await fetchRefs({ source, refs, base: at.base, gitDir: at.dir, signal }));
}

describe('merging without a worktree', () => {
  test.each(['path', 'url'] as const)(
    'by %s: the tree of both, or where they conflict; the same commit each time',
    async (kind) => {
      const { base, baseDir, one, other, free, source, url } = await lab(`merge-${kind}`);
      const dir = `${root}/merge-${kind}-work.git`;
      await bring(kind === 'path' ? source : url, { dir, base, baseDir }, ['one', 'other', 'free']);
      const clean = await mergeTrees({ gitDir: dir, ours: one, theirs: free });
      expect(clean.paths).toEqual([]);
      const make = () =>
        mergeCommit({
          ...{ gitDir: dir, tree: clean.tree, parents: [one, free], identity: IDENTITY },
          ...{ seconds: 1_700_000_000, message: 'Merge\n' },
        });
      expect(make()).toBe(make());
      expect(await isIn({ gitDir: dir, commit: free, head: make() })).toBe(true);
      expect(await isIn({ gitDir: dir, commit: make(), head: free })).toBe(false);
      expect((await mergeTrees({ gitDir: dir, ours: one, theirs: other })).paths).toEqual(['a.txt']);
    },
  );

  test.each(['path', 'url'] as const)('by %s: the target moves from where it was only', async (kind) => {
    const { repo, bare, base, baseDir, one, free, source, url } = await lab(`move-${kind}`);
    const to = kind === 'path' ? source : url;
    const at = kind === 'path' ? repo : bare;
    git(at, 'branch', 'integration', base);
    const dir = `${root}/move-${kind}-work.git`;
    await bring(to, { dir, base, baseDir }, ['one', 'free']);
    const { tree } = await mergeTrees({ gitDir: dir, ours: one, theirs: free });
    const merged = mergeCommit({
      gitDir: dir,
      tree,
      parents: [one, free],
      identity: IDENTITY,
      seconds: 1,
      message: 'M\n',
    });
    const move = { source: to, gitDir: dir, ref: 'refs/heads/integration', signal };
    expect(await moveBranch({ ...move, from: base, to: one })).toEqual({ ok: true });
    expect(await moveBranch({ ...move, from: base, to: merged })).toEqual({ ok: false, moved: true });
    expect(await moveBranch({ ...move, from: one, to: merged })).toEqual({ ok: true });
    // Repeated after its answer was lost.
    expect(await moveBranch({ ...move, from: one, to: merged })).toEqual({ ok: true });
    expect(git(at, 'rev-parse', 'integration')).toBe(merged);
    expect(git(at, 'ls-tree', '--name-only', merged)).toBe('a.txt\nb.txt\nd.txt');
  });

  test('a branch that some worktree has checked out is known', async () => {
    const { repo, source, url } = await lab('held');
    expect(await checkedOutAt(source, 'main')).toBeNull();
    git(repo, 'worktree', 'add', '-q', `${root}/held-main`, 'main');
    expect(await checkedOutAt(source, 'main')).toBe(`${root}/held-main`);
    expect(await checkedOutAt(source, 'one')).toBeNull();
    expect(await checkedOutAt(url, 'main')).toBeNull();
  });
});

describe("a task's branch that is mended", () => {
  test.each(['path', 'url'] as const)(
    'by %s: moves from its own earlier result, and from nothing else',
    async (kind) => {
      const { repo, bare, base, baseDir, one, other, free, source, url } = await lab(`mend-${kind}`);
      const to = kind === 'path' ? source : url;
      const dir = `${root}/mend-${kind}-work.git`;
      await bring(to, { dir, base, baseDir }, ['one', 'other', 'free']);
      const deliver = { source: to, gitDir: dir, base, ref: 'refs/heads/fleet/t1' };
      const at = () => git(kind === 'path' ? repo : bare, 'rev-parse', 'fleet/t1');
      must(await deliverBranch({ ...deliver, commit: one }));
      expect(await deliverBranch({ ...deliver, commit: other })).toMatchObject({ failure: { reason: 'conflict' } });
      must(await deliverBranch({ ...deliver, commit: other, replaces: one, earlier: [one] }));
      expect(at()).toBe(other);
      // Said again; then by somebody who knows less.
      must(await deliverBranch({ ...deliver, commit: other, replaces: one }));
      expect(await deliverBranch({ ...deliver, commit: free, replaces: one })).toMatchObject({
        failure: { reason: 'conflict' },
      });
      expect(at()).toBe(other);
      git(kind === 'path' ? repo : bare, 'branch', '-D', 'fleet/t1');
      must(await deliverBranch({ ...deliver, commit: free, replaces: other }));
      expect(at()).toBe(free);
    },
  );
});

test.each(['path', 'url'] as const)(
  'by %s: what a commit would bring into a branch that lacks some of it',
  async (kind) => {
    const { repo, bare, base, one, other, source, url } = await lab(`ahead-${kind}`);
    const at = kind === 'path' ? repo : bare;
    git(at, 'update-ref', 'refs/heads/trunk', one);
    const alone = git(at, '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit-tree', '-m', 'x', `${other}^{tree}`);
    git(at, 'update-ref', 'refs/heads/alone', alone);
    const from = kind === 'path' ? source : url;
    const ahead = async (commit: string, into: string) =>
      must(await pathsAhead({ source: from, commit, into, signal })).paths;
    expect(await ahead(base, 'trunk')).toEqual([]);
    expect(await ahead(one, 'trunk')).toEqual([]);
    expect(await ahead(other, 'trunk')).toEqual(['a.txt', 'c.txt']);
    expect(await ahead(alone, 'trunk')).toEqual(['a.txt', 'b.txt', 'c.txt']);
    expect(await ahead(one, 'nowhere')).toEqual([]);
    const unknown = '0123456789'.repeat(4);
    expect(await pathsAhead({ source: from, commit: unknown, into: 'trunk', signal })).toMatchObject({
      ...{ ok: false, failure: { reason: 'repo-unavailable', message: expect.stringMatching(/ cannot be read: /) } },
    });
  },
);

test('work goes on from another base: merged with it, uncommitted, with both sides marked where they conflict', async () => {
  const { repo, base, baseDir, one, other, source, home } = await lab('onto');
  const vault = `${root}/onto-vault.git`;
  await bring(source, { dir: vault, base, baseDir }, ['other']);
  const targetDir = must(await ensureBase({ source, commit: one, home })).path;
  const meta = { taskId: 't1', runId: '1-a', n: 1, workflow: 'w', base, head: other, coder: 'c', session: null };
  const at = '2026-01-01T00:00:00.000Z';
  const work: WorkRecord = {
    gitDir: vault,
    id: other,
    commit: other,
    meta: { ...meta, inFlight: null, claimedAt: at, at },
  };
  const tree = `${root}/onto-tree`;
  await createPrivateRepo({ tree, baseDir: targetDir, commit: one, branch: 'fleet/t1', identity: IDENTITY });
  const onBase = await workOnto({ work, base: one, baseDir: targetDir, dir: `${root}/onto.git`, identity: IDENTITY });
  const laid = await layOutWork({ tree, baseDir: targetDir, base: one, branch: 'fleet/t1', work: onBase });
  expect(laid).toEqual({ ok: true, paths: ['a.txt', 'c.txt'] });
  expect(readFileSync(`${tree}/a.txt`, 'utf8')).toBe('<<<<<<< target\none\n=======\nother\n>>>>>>> this-task\n');
  expect(existsSync(`${tree}/c.txt`)).toBe(true);
  expect(git(tree, 'rev-parse', 'HEAD')).toBe(one);
  expect(git(tree, 'status', '--porcelain')).toBe('M a.txt\n?? c.txt');
  expect(git(repo, 'status', '--porcelain')).toBe('');
});
