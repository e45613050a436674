import { expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { bringCommit } from '../../src/adapters/git/worktree/fetch-commit.ts';
import { GitFailed } from '../../src/adapters/git/git.ts';
import { pipeObjects } from '../../src/adapters/git/pack.ts';
import { openSource } from '../../src/adapters/git/source/source.ts';
import { git, makeLab, must, paths, write, type Lab } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';

const bring = (lab: Lab, ref: string, over = {}) => {
  const { source, base, baseDir, tree, home } = lab;
  const dir = home.run('t1', '1-a').resume;
  const signal = new AbortController().signal;
  return bringCommit({
    ...{ source, ref, base, baseDir, dir, tree, branch: 'fleet/t1', maxBytes: 1024 ** 2, signal },
    ...over,
  });
};

/** Commits on a branch of the user's repository, as somebody outside of the fleet would. */
function commitOn(repo: string, branch: string, files: Record<string, string>): string {
  git(repo, 'checkout', '-q', '-B', branch);
  write(repo, files);
  git(repo, 'add', '-A');
  git(repo, 'commit', '-q', '-m', `Work on ${branch}`);
  const commit = git(repo, 'rev-parse', 'HEAD');
  git(repo, 'checkout', '-q', 'main');
  return commit;
}

test('what was committed to the repository is laid into the worktree with its own history', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, { 'a.txt': 'a\n', 'gone.txt': 'x\n' });
  git(lab.repo, 'checkout', '-q', '-b', 'jean/work');
  git(lab.repo, 'rm', '-q', 'gone.txt');
  const commit = commitOn(lab.repo, 'jean/work', { 'a.txt': 'b\n', 'new/b.txt': 'new\n' });

  expect(must(await bring(lab, 'jean/work')).commit).toBe(commit);
  expect(await readFile(`${lab.tree}/new/b.txt`, 'utf8')).toBe('new\n');
  const result = await lab.capture();
  expect(paths(result)).toEqual(['a.txt', 'gone.txt', 'new/b.txt']);
  expect(result).toMatchObject({ commit, odd: null, leftUncommitted: 0, violations: [] });
  // Once more, as after a crash in the middle.
  expect(must(await bring(lab, commit)).commit).toBe(commit);
  expect((await lab.capture()).commit).toBe(commit);
});

test('the base itself is no change', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path);
  expect(must(await bring(lab, 'main')).commit).toBe(lab.base);
  expect((await lab.capture()).changes).toEqual([]);
});

test('a commit that is not there, and one that does not stand on the base, are refused with a sentence', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path);
  git(lab.repo, 'checkout', '-q', '--orphan', 'alone');
  const alone = commitOn(lab.repo, 'alone', { 'c.txt': 'c\n' });
  const unknown = 'd'.repeat(40);

  expect(await bring(lab, unknown)).toMatchObject({
    failure: {
      reason: 'receipts-rejected',
      message: `${lab.repo} has no branch, tag or commit ${unknown}: push it there, and hand it in again`,
    },
  });
  expect(await bring(lab, 'alone')).toMatchObject({
    failure: {
      reason: 'receipts-rejected',
      message: `alone (${alone.slice(0, 12)}) does not stand on the task's base ${lab.base.slice(0, 12)}: rebase it, and hand it in again`,
    },
  });
});

test('of a URL it is fetched, and nothing that the commit names is run or followed', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path);
  const remote = `${temp.path}/remote`;
  git(temp.path, 'clone', '-q', lab.repo, remote);
  write(remote, { '.gitattributes': '* filter=evil\n', 'x.txt': 'x\n' });
  git(remote, 'add', '-A');
  git(remote, 'commit', '-q', '-m', 'Add attributes');
  git(remote, 'config', 'filter.evil.smudge', `touch ${temp.path}/ran`);
  const url = `file://${remote}`;
  const { source } = must(await openSource({ repo: url, mirrorDir: lab.home.mirror }));

  const commit = must(await bring(lab, 'main', { source })).commit;
  expect(commit).toBe(git(remote, 'rev-parse', 'main'));
  expect(existsSync(`${temp.path}/ran`)).toBe(false);
  expect(paths(await lab.capture())).toEqual(['.gitattributes', 'x.txt']);
});

test('a store that takes nothing ends the copy, however much there is still to come', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path);
  const commit = commitOn(lab.repo, 'huge', { 'huge.txt': randomBytes(12_000_000).toString('base64') });
  const copy = {
    revs: [commit],
    strict: true,
    from: { gitDir: `${lab.repo}/.git` },
    to: { gitDir: `${temp.path}/none` },
  };
  for (let times = 0; times < 6; times += 1) await expect(pipeObjects(copy)).rejects.toThrow(GitFailed);
});

test('one that is larger than the run may be is refused', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path);
  commitOn(lab.repo, 'large', { 'large.txt': Array.from({ length: 40_000 }, () => Math.random()).join('\n') });
  expect(await bring(lab, 'large', { maxBytes: 10_000 })).toMatchObject({
    ok: false,
    failure: { reason: 'receipts-rejected' },
  });
});
