import { expect, test } from '@jest/globals';
import { chmodSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { ensureBase } from '../../src/adapters/git/source/base-store.ts';
import { createPrivateRepo } from '../../src/adapters/git/worktree/private-repo.ts';
import { snapshotUntracked } from '../../src/adapters/git/capture/walk.ts';
import { git, IDENTITY, makeLab, makeRepo, must, paths, write } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';

const FILES = {
  'src/x.ts': 'one\n',
  'a.txt': 'a\n',
  '.gitignore': 'out/\n*.log\n',
  'out/kept.txt': 'tracked though ignored\n',
};

test('odd names, modes, deletions, large files and a folder in place of a file become exactly that tree', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, { ...FILES, 'd/e/f': '1', swap: 'file', 'b.ts': 'b' });
  const { tree } = lab;
  write(tree, {
    'new\nline': '1',
    '-dash': '2',
    'ünï/çödé': '3',
    'a b\t"q"': '4',
    ' lead': '5',
    'swap2/x': '6',
    'noise.log': 'ignored',
    'out/new': 'ignored',
  });
  rmSync(`${tree}/d`, { recursive: true });
  rmSync(`${tree}/swap`);
  write(tree, { 'swap/inside': '7' });
  chmodSync(`${tree}/b.ts`, 0o755);
  symlinkSync('a.txt', `${tree}/link`);
  writeFileSync(Buffer.concat([Buffer.from(`${tree}/latin-`), Buffer.from([0xe9])]), 'bytes');
  writeFileSync(`${tree}/large.bin`, Buffer.alloc(3_000_000, 7));
  const result = await lab.capture();
  expect(result.violations).toEqual([]);
  expect(paths(result)).toContain('latin-\\xe9');
  expect(paths(result)).not.toContain('noise.log');
  expect(result.changes.find(({ path }) => path === 'b.ts')?.kind).toBe('mode');
  expect(result.changes.find(({ path }) => path === 'swap')?.kind).toBe('deleted');
  git(tree, 'add', '-A');
  expect(result.tree).toBe(git(tree, 'write-tree'));
  expect(git(result.gitDir, 'fsck', '--strict', '--full')).toBe('');
});

test('what setup made is left out while it is unchanged', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  write(lab.tree, { 'a.txt': 'by setup', lock: 'by setup', gen: 'by setup', constructor: 'x' });
  const preexisting = JSON.parse(
    JSON.stringify(await snapshotUntracked({ tree: lab.tree, baseDir: lab.baseDir, base: lab.base })),
  );
  expect(await lab.capture({ preexisting })).toMatchObject({ changes: [], commit: lab.base });
  write(lab.tree, { gen: 'by the agent' });
  expect(paths(await lab.capture({ preexisting }))).toEqual(['gen']);
  git(lab.tree, 'add', 'lock', 'gen');
  git(lab.tree, 'commit', '-q', '-m', 'both');
  const result = await lab.capture({ preexisting });
  expect(paths(result)).toEqual(['gen', 'lock']);
  expect(result).toMatchObject({ leftUncommitted: 0, commits: [{ subject: 'both' }] });
});

test('an uninitialised submodule stays', async () => {
  await using temp = await tempDir();
  const id = makeRepo(`${temp.path}/dep`);
  const lab = await makeLab(`${temp.path}/a`, { x: '1' });
  git(lab.repo, 'update-index', '--add', '--cacheinfo', `160000,${id},sub`);
  git(lab.repo, 'commit', '-q', '-m', 'with a submodule');
  const commit = git(lab.repo, 'rev-parse', 'HEAD');
  const { path: baseDir } = must(await ensureBase({ source: lab.source, commit, home: lab.home }));
  const tree = `${temp.path}/s/tree`;
  await createPrivateRepo({ tree, baseDir, commit, branch: 'fleet/s', identity: IDENTITY });
  const order = { tree, baseDir, base: commit };
  expect(await lab.capture(order)).toMatchObject({ commit, changes: [], violations: [] });
  write(tree, { 'sub/file': 'x' });
  expect((await lab.capture(order)).changes).toEqual([
    { path: 'sub', kind: 'deleted' },
    { path: 'sub/file', kind: 'added' },
  ]);
});

test('another commit of a submodule, in the agent’s own commit, is a change like any other', async () => {
  await using temp = await tempDir();
  const [one, two] = [makeRepo(`${temp.path}/dep`), makeRepo(`${temp.path}/dep2`, { z: 'z' })];
  const lab = await makeLab(`${temp.path}/a`, { x: '1' });
  git(lab.repo, 'update-index', '--add', '--cacheinfo', `160000,${one},sub`);
  git(lab.repo, 'commit', '-q', '-m', 'with a submodule');
  const base = git(lab.repo, 'rev-parse', 'HEAD');
  const { path: baseDir } = must(await ensureBase({ source: lab.source, commit: base, home: lab.home }));
  const tree = `${temp.path}/s/tree`;
  await createPrivateRepo({ tree, baseDir, commit: base, branch: 'fleet/s', identity: IDENTITY });
  git(tree, 'update-index', '--cacheinfo', `160000,${two},sub`);
  git(tree, 'commit', '-q', '-m', 'moved');
  const head = git(tree, 'rev-parse', 'HEAD');
  const change = { path: 'sub', kind: 'modified' };
  expect(await lab.capture({ tree, baseDir, base })).toMatchObject({ commit: head, changes: [change], violations: [] });
  write(tree, { x: '2' });
  expect((await lab.capture({ tree, baseDir, base })).changes).toEqual([change, { path: 'x', kind: 'modified' }]);
  // Only said in the index, it is no part of the tree.
  git(tree, 'reset', '-q', '--soft', base);
  expect((await lab.capture({ tree, baseDir, base })).changes).toEqual([{ path: 'x', kind: 'modified' }]);
});

test('a sha256 repository works', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(`${temp.path}/a`, { x: '1' }, '--object-format=sha256');
  write(lab.tree, { 'y/z': '2' });
  const result = await lab.capture();
  git(lab.tree, 'add', '-A');
  expect(result.tree).toBe(git(lab.tree, 'write-tree'));
  expect(readFileSync(`${result.gitDir}/config`, 'utf8')).toContain('sha256');
});

test('a link in the place of the worktree leads nowhere', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  write(temp.path, { 'secrets/key': 'private' });
  renameSync(lab.tree, `${lab.tree}-moved`);
  symlinkSync(`${temp.path}/secrets`, lab.tree);
  const result = await lab.capture();
  expect(result.violations).not.toEqual([]);
  expect(paths(result)).not.toContain('key');
  expect(readFileSync(`${temp.path}/secrets/key`, 'utf8')).toBe('private');
});

test('a file that is called like a full disk is no full disk', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  write(lab.tree, { 'a.txt': 'mine\n' });
  git(lab.tree, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qam', 'mine');
  const head = git(lab.tree, 'rev-parse', 'HEAD^{tree}');
  const object = `${lab.tree}/.git/objects/${head.replace(/^(..)/, '$1/')}`;
  chmodSync(object, 0o644);
  writeFileSync(object, 'garbage');
  const pack = `${lab.tree}/.git/objects/pack/pack-No space left on device`;
  write(lab.tree, { '.git/objects/pack/.keep': '' });
  for (const kind of ['idx', 'pack']) writeFileSync(`${pack}.${kind}`, 'garbage');
  const result = await lab.capture();
  expect(result.odd).not.toBeNull();
  expect(paths(result)).toEqual(['a.txt']);
});

test('an added twin of a path is told, in the tree as it becomes', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, { ...FILES, 'caf\u00e9.md': '1', README: '1' });
  write(lab.tree, { 'cafe\u0301.md': '2', 'Src/new.ts': '2' });
  renameSync(`${lab.tree}/README`, `${lab.tree}/Readme`);
  expect((await lab.capture()).twins).toEqual(
    expect.arrayContaining([
      { path: 'cafe\u0301.md', of: 'caf\u00e9.md' },
      { path: 'Src', of: 'src' },
    ]),
  );
  rmSync(`${lab.tree}/cafe\u0301.md`);
  rmSync(`${lab.tree}/Src`, { recursive: true });
  expect((await lab.capture()).twins).toEqual([]);
});
