import { describe, expect, test } from '@jest/globals';
import { rmSync, symlinkSync } from 'node:fs';
import { ensureBase } from '../../src/adapters/git/source/base-store.ts';
import { treeEntries } from '../../src/adapters/git/entries.ts';
import {
  changedInSubmodules,
  laySubmodules,
  pathsOf,
  unlikeBefore,
} from '../../src/adapters/git/worktree/lay-submodules.ts';
import { createPrivateRepo } from '../../src/adapters/git/worktree/private-repo.ts';
import { captureResult } from '../../src/adapters/git/capture/result.ts';
import { openSource } from '../../src/adapters/git/source/source.ts';
import { git, IDENTITY, makeRepo, must, paths, write } from '../helpers/git.ts';
import { commitAll, link, openAll } from '../helpers/submodules.ts';
import { tempDir } from '../helpers/temp.ts';

describe('a worktree with submodules', () => {
  async function lab(root: string) {
    const old = makeRepo(`${root}/lib`, { 'l.txt': 'lib\n', '.gitignore': '*.o\n' });
    const app = `${root}/app`;
    makeRepo(app, { 'a.txt': 'a\n' });
    const base = link(app, 'libs/lib', old, '../lib');
    write(`${root}/lib`, { 'l.txt': 'newer\n' });
    const newer = commitAll(`${root}/lib`);
    const { opened, home } = await openAll(root, app);
    const { submodules } = must(opened);
    const { source } = must(await openSource({ repo: app, mirrorDir: home.mirror }));
    const baseDir = must(await ensureBase({ source, commit: base, home })).path;
    const { tree, result } = home.run('t1', '1-a');
    await createPrivateRepo({ tree, baseDir, commit: base, branch: 'fleet/t1', identity: IDENTITY });
    await laySubmodules(tree, submodules);
    const order = { tree, resultDir: result, baseDir, base, taskId: 't1', identity: IDENTITY };
    const capture = () => captureResult({ ...order, submodules: pathsOf(submodules) });
    const found = async () => {
      const made = await capture();
      const { entries } = await treeEntries(made.gitDir, made.commit);
      return changedInSubmodules({ tree, submodules, links: entries });
    };
    const changed = async () => [...(await found()).keys()];
    return { tree, base, newer, capture, changed, found };
  }

  test('is clean for its agent, and nothing of it is a change', async () => {
    await using temp = await tempDir();
    const { tree, base, capture, changed } = await lab(temp.path);
    expect(git(tree, 'status', '--porcelain')).toBe('');
    git(tree, 'add', '-A');
    expect(git(tree, 'status', '--porcelain')).toBe('');
    expect(await capture()).toMatchObject({ commit: base, changes: [], violations: [] });
    write(tree, { 'a.txt': 'b\n', 'libs/lib/made.o': 'x' });
    git(tree, 'commit', '-qam', 'mine');
    const made = await capture();
    expect(paths(made)).toEqual(['a.txt']);
    expect(made).toMatchObject({ leftUncommitted: 0, violations: [] });
    expect(await changed()).toEqual([]);
  });

  test('tells the files that its agent changed or removed there', async () => {
    await using temp = await tempDir();
    const { tree, base, capture, changed } = await lab(temp.path);
    write(tree, { 'libs/lib/l.txt': 'mine\n' });
    rmSync(`${tree}/libs/lib/.gitignore`);
    expect(await changed()).toEqual(['libs/lib/.gitignore', 'libs/lib/l.txt']);
    expect(await capture()).toMatchObject({ commit: base, changes: [] });
    rmSync(`${tree}/libs/lib`, { recursive: true });
    symlinkSync('/etc', `${tree}/libs/lib`);
    expect((await capture()).violations).toEqual([expect.stringContaining('libs/lib: a link that leaves the tree')]);
  });

  test('tells the files that its agent added there, but for those that are ignored or were there before', async () => {
    await using temp = await tempDir();
    const { tree, base, capture, changed, found } = await lab(temp.path);
    write(tree, { 'libs/lib/built.txt': 'x', 'libs/lib/built.o': 'x' });
    const before = Object.fromEntries([...(await found())].flatMap(([path, entry]) => (entry ? [[path, entry]] : [])));
    write(tree, { 'libs/lib/new.txt': 'x', 'libs/lib/in/new.txt': 'x', 'libs/lib/new.o': 'x' });
    expect(unlikeBefore(await found(), before).sort()).toEqual(['libs/lib/in/new.txt', 'libs/lib/new.txt']);
    expect(await changed()).toContain('libs/lib/built.txt');
    expect(await capture()).toMatchObject({ commit: base, changes: [] });
  });

  test('moves to another commit by the index, by a clone in its place, and goes', async () => {
    await using temp = await tempDir();
    const { tree, newer, capture, changed } = await lab(temp.path);
    git(tree, 'update-index', '--cacheinfo', `160000,${newer},libs/lib`);
    git(tree, 'commit', '-qm', 'by the index');
    expect(await capture()).toMatchObject({ changes: [{ path: 'libs/lib', kind: 'modified' }], leftUncommitted: 0 });
    expect(await changed()).toEqual([]);
    git(tree, 'reset', '-q', '--soft', 'HEAD~1');
    rmSync(`${tree}/libs/lib`, { recursive: true });
    git(`${tree}/libs`, 'clone', '-q', `${temp.path}/lib`, 'lib');
    git(tree, 'add', 'libs/lib');
    git(tree, 'commit', '-qm', 'by a clone');
    expect(await capture()).toMatchObject({ changes: [{ path: 'libs/lib', kind: 'modified' }], violations: [] });
    git(tree, 'rm', '-rqf', 'libs/lib');
    git(tree, 'commit', '-qm', 'gone');
    expect((await capture()).changes).toMatchObject([{ path: '.gitmodules' }, { path: 'libs/lib', kind: 'deleted' }]);
  });

  test('is refused with a repository in it that is no other commit', async () => {
    await using temp = await tempDir();
    const { tree, capture } = await lab(temp.path);
    git(`${tree}/libs/lib`, 'init', '-q');
    expect((await capture()).violations).toEqual(['libs/lib/.git: a nested git repository']);
  });

  test('takes the files in as its own, where its agent makes them so', async () => {
    await using temp = await tempDir();
    const { tree, capture } = await lab(temp.path);
    git(tree, 'rm', '-q', '--cached', 'libs/lib');
    git(tree, 'add', 'libs/lib');
    git(tree, 'commit', '-qm', 'vendored');
    const made = await capture();
    expect(made.changes).toEqual([
      { path: 'libs/lib', kind: 'deleted' },
      { path: 'libs/lib/.gitignore', kind: 'added' },
      { path: 'libs/lib/l.txt', kind: 'added' },
    ]);
    expect(made).toMatchObject({ leftUncommitted: 0, violations: [] });
  });
});
