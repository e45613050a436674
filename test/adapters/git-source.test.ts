import { describe, expect, test } from '@jest/globals';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homeLayout } from '../../src/domain/names.ts';
import { inspectRepo } from '../../src/adapters/git/source/inspect.ts';
import { resolveBase } from '../../src/adapters/git/source/resolve-base.ts';
import { blocksBranches, openSource } from '../../src/adapters/git/source/source.ts';
import { git, makeRepo, must } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';

describe('a path', () => {
  test('top, subfolder, linked worktree and bare clone all open', async () => {
    await using temp = await tempDir();
    const repo = `${temp.path}/My Project`;
    makeRepo(repo, { 'sub/a.txt': 'a' });
    git(repo, 'worktree', 'add', '-q', '-b', 'other', `${temp.path}/linked`);
    git(temp.path, 'clone', '-q', '--bare', repo, `${temp.path}/b.git`);
    const open = async (path: string) => must(await openSource({ repo: path, mirrorDir: (key) => key })).source;
    const [top, sub, linked, bare] = await Promise.all(
      [repo, `${repo}/sub`, `${temp.path}/linked`, `${temp.path}/b.git`].map(open),
    );
    expect(top).toMatchObject({ kind: 'path', checkout: repo, gitDir: `${repo}/.git`, commonDir: `${repo}/.git` });
    expect(top?.key).toMatch(/^my-project-[0-9a-f]{10}$/);
    expect(sub).toEqual({ ...top, folder: 'sub' });
    expect(linked).toMatchObject({ key: top?.key, checkout: `${temp.path}/linked`, commonDir: `${repo}/.git` });
    expect(bare).toMatchObject({ checkout: null, commonDir: `${temp.path}/b.git` });
    git(`${temp.path}/linked`, 'commit', '-q', '--allow-empty', '-m', 'on other');
    expect(must(await resolveBase({ source: linked! })).commit).toBe(git(`${temp.path}/linked`, 'rev-parse', 'HEAD'));
    expect(must(await resolveBase({ source: top! })).commit).toBe(git(repo, 'rev-parse', 'HEAD'));
  });

  test('each failure has its sentence', async () => {
    await using temp = await tempDir();
    mkdirSync(`${temp.path}/plain`);
    mkdirSync(`${temp.path}/empty`);
    git(`${temp.path}/empty`, 'init', '-q');
    const said = async (repo: string) => {
      const outcome = await inspectRepo(repo, 5_000);
      return outcome.ok ? 'ok' : `${outcome.failure.reason}: ${outcome.failure.message.replaceAll(temp.path, '')}`;
    };
    expect(await said(`${temp.path}/none`)).toBe('repo-unavailable: repo /none does not exist on this machine');
    expect(await said(`${temp.path}/plain`)).toBe('repo-unavailable: /plain is not a git repository');
    expect(await said(`${temp.path}/empty`)).toBe('base-missing: /empty has no commits');
    expect(await said(`file://${temp.path}/none.git`)).toMatch(
      /^repo-unavailable: file:\/\/\/none.git is not a git repository/,
    );
    expect(await said('https://user:secret@localhost:1/x.git')).not.toContain('secret');
    expect(await said('https://user:secret@localhost:1/x.git')).toMatch(/^repo-unavailable: .* cannot be reached/);
  });

  test('inspectRepo gives top, head and branch; a branch named fleet blocks', async () => {
    await using temp = await tempDir();
    const head = makeRepo(`${temp.path}/r`, { 'sub/a': '1' });
    expect(await inspectRepo(`${temp.path}/r/sub`)).toEqual({
      ok: true,
      top: `${temp.path}/r`,
      folder: 'sub',
      head,
      defaultBranch: 'main',
    });
    symlinkSync(`${temp.path}/r/sub`, `${temp.path}/link`);
    expect(await inspectRepo(`${temp.path}/link`)).toMatchObject({ top: `${temp.path}/r`, folder: 'sub' });
    expect(await inspectRepo(`file://${temp.path}/r`)).toEqual({
      ok: true,
      top: `file://${temp.path}/r`,
      folder: '',
      head,
      defaultBranch: 'main',
    });
    const { source } = must(await openSource({ repo: `${temp.path}/r`, mirrorDir: (key) => key }));
    expect(await blocksBranches(source)).toBe(false);
    git(`${temp.path}/r`, 'branch', 'fleet');
    expect(await blocksBranches(source)).toBe(true);
  });

  test('bases: branch, tag, short id; a missing one is a value', async () => {
    await using temp = await tempDir();
    const first = makeRepo(`${temp.path}/r`);
    git(`${temp.path}/r`, 'tag', '-a', 'v1', '-m', 'v1');
    const { source } = must(await openSource({ repo: `${temp.path}/r`, mirrorDir: (key) => key }));
    for (const base of ['main', 'v1', first, first.slice(0, 8), 'HEAD'])
      expect(must(await resolveBase({ source, base })).commit).toBe(first);
    for (const base of ['nope', '0'.repeat(40), '--all', 'a b', `${git(`${temp.path}/r`, 'rev-parse', 'HEAD^{tree}')}`])
      expect(await resolveBase({ source, base })).toMatchObject({ ok: false, failure: { reason: 'base-missing' } });
  });
});

describe('a URL', () => {
  test('is mirrored; a new commit is fetched; branch, tag, pull ref, hidden commit and HEAD resolve', async () => {
    await using temp = await tempDir();
    const repo = `${temp.path}/up`;
    const first = makeRepo(repo);
    git(repo, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
    const home = homeLayout(`${temp.path}/home`);
    const { source } = must(await openSource({ repo: `file://${repo}`, mirrorDir: home.mirror }));
    expect(must(await resolveBase({ source })).commit).toBe(first);
    git(repo, 'tag', 'v1');
    git(repo, 'commit', '-q', '--allow-empty', '-m', 'second');
    const second = git(repo, 'rev-parse', 'HEAD');
    git(repo, 'update-ref', 'refs/pull/7/head', second);
    const both = await Promise.all([
      resolveBase({ source, base: 'main' }),
      resolveBase({ source }),
      resolveBase({ source, base: 'refs/pull/7/head' }),
    ]);
    expect(both.map((one) => must(one).commit)).toEqual([second, second, second]);
    expect(must(await resolveBase({ source, base: 'v1' })).commit).toBe(first);
    const hidden = git(repo, 'commit-tree', '-m', 'hidden', 'HEAD^{tree}');
    expect(must(await resolveBase({ source, base: hidden })).commit).toBe(hidden);
    expect(await resolveBase({ source, base: 'gone' })).toMatchObject({ failure: { reason: 'base-missing' } });
    expect(git(source.kind === 'url' ? source.gitDir : '', 'for-each-ref', '--format=%(refname)')).not.toContain(
      'refs/heads',
    );
  });

  test('a lock file of a killed fetch is cleared; sha256 remotes work; a black hole times out', async () => {
    await using temp = await tempDir();
    const repo = `${temp.path}/up`;
    const first = makeRepo(repo, { a: '1' }, '--object-format=sha256');
    const home = homeLayout(`${temp.path}/home`);
    const { source } = must(await openSource({ repo: `file://${repo}`, mirrorDir: home.mirror }));
    expect(must(await resolveBase({ source })).commit).toBe(first);
    git(repo, 'commit', '-q', '--allow-empty', '-m', 'second');
    writeFileSync(`${source.kind === 'url' ? source.gitDir : ''}/refs/origin/heads/main.lock`, '');
    expect(must(await resolveBase({ source })).commit).toBe(git(repo, 'rev-parse', 'HEAD'));

    const { createServer } = await import('node:net');
    const silent = createServer(() => {}).listen(0);
    const { port } = silent.address() as { port: number };
    const hole = must(await openSource({ repo: `git://127.0.0.1:${port}/x`, mirrorDir: home.mirror }));
    const began = performance.now();
    expect(await resolveBase({ source: hole.source, timeoutMs: 500 })).toMatchObject({
      failure: { message: expect.stringContaining('timed out') },
    });
    expect(performance.now() - began).toBeLessThan(30_000);
    silent.close();
  });
});
