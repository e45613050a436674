import { describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  rmSync,
} from 'node:fs';
import { homeLayout } from '../../src/domain/names.ts';
import { emptyBase, ensureBase, releaseBases } from '../../src/adapters/git/source/base-store.ts';
import { copyIgnored } from '../../src/adapters/git/worktree/copy-ignored.ts';
import { createPrivateRepo, readAtBase } from '../../src/adapters/git/worktree/private-repo.ts';
import { openSource } from '../../src/adapters/git/source/source.ts';
import { git, IDENTITY, makeLab, makeRepo, must, write } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';

describe('base store', () => {
  test('holds only that commit’s history, once, for concurrent callers', async () => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path);
    git(lab.repo, 'commit', '-q', '--allow-empty', '-m', 'later');
    const later = git(lab.repo, 'rev-parse', 'HEAD');
    const all = await Promise.all(
      Array.from({ length: 16 }, () => ensureBase({ source: lab.source, commit: later, home: lab.home })),
    );
    expect(new Set(all.map((one) => must(one).path)).size).toBe(1);
    expect(git(lab.baseDir, 'rev-list', '--all', 'HEAD')).toBe(lab.base);
    expect(() => git(lab.baseDir, 'cat-file', '-e', later)).toThrow();
    expect(git(lab.baseDir, 'fsck', '--strict')).toBe('');
    expect(readdirSync(`${lab.home.bases}/${lab.source.key}`)).toHaveLength(2);
    expect(await ensureBase({ source: lab.source, commit: '1'.repeat(40), home: lab.home })).toMatchObject({
      failure: { reason: 'base-missing' },
    });
  });

  test('of a shallow clone, of a clone that borrows, of a sha256 repository', async () => {
    await using temp = await tempDir();
    const home = homeLayout(`${temp.path}/home`);
    makeRepo(`${temp.path}/r`);
    git(`${temp.path}/r`, 'commit', '-q', '--allow-empty', '-m', 'two');
    git(temp.path, 'clone', '-q', '--depth', '1', `file://${temp.path}/r`, 'shallow');
    git(temp.path, 'clone', '-q', '--shared', `${temp.path}/r`, 'borrows');
    makeRepo(`${temp.path}/sha256`, { a: '1' }, '--object-format=sha256');
    for (const [name, count] of [
      ['shallow', 1],
      ['borrows', 2],
      ['sha256', 1],
    ] as const) {
      const repo = `${temp.path}/${name}`;
      const { source } = must(await openSource({ repo, mirrorDir: home.mirror }));
      const commit = git(repo, 'rev-parse', 'HEAD');
      const { path } = must(await ensureBase({ source, commit, home }));
      expect(git(path, 'rev-list', '--count', 'HEAD')).toBe(String(count));
      const tree = `${temp.path}/runs/${name}`;
      await createPrivateRepo({ tree, baseDir: path, commit, branch: 'fleet/x', identity: IDENTITY });
      expect(git(tree, 'log', '--oneline').split('\n')).toHaveLength(count);
      expect(git(tree, 'status', '--porcelain')).toBe('');
    }
  });

  test('a damaged source is a value; what a kill left is swept; the last three and those in use stay', async () => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path);
    const dir = `${lab.home.bases}/${lab.source.key}`;
    for (let i = 1; i <= 5; i += 1) {
      mkdirSync(`${dir}/${i}.git`);
      utimesSync(`${dir}/${i}.git`, 1000 + i, 1000 + i);
    }
    mkdirSync(`${dir}/6.git.making-dead/objects`, { recursive: true });
    utimesSync(lab.baseDir, 1, 1);
    releaseBases({ home: lab.home, inUse: new Set([lab.baseDir]) });
    expect(readdirSync(dir).sort()).toEqual(['3.git', '4.git', '5.git', `${lab.base}.git`].sort());
    rmSync(`${lab.repo}/.git/objects/${git(lab.repo, 'rev-parse', 'HEAD:a.txt').replace(/^(..)/, '$1/')}`);
    rmSync(lab.baseDir, { recursive: true });
    expect(await ensureBase({ source: lab.source, commit: lab.base, home: lab.home })).toMatchObject({
      failure: { reason: 'repo-unavailable' },
    });
    expect(readdirSync(dir).filter((name) => name.includes('making'))).toEqual([]);
  });

  test('what was asked for just now stays, however many there are', async () => {
    await using temp = await tempDir();
    const home = homeLayout(`${temp.path}/home`);
    const dir = `${home.bases}/key`;
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    for (const minutes of [1, 2, 3, 4, 9, 11, 48]) {
      mkdirSync(`${dir}/${minutes}.git`, { recursive: true });
      utimesSync(`${dir}/${minutes}.git`, ago(minutes), ago(minutes));
    }
    releaseBases({ home, inUse: new Set() });
    expect(readdirSync(dir).sort()).toEqual(['1.git', '2.git', '3.git', '4.git', '9.git']);
  });

  test('the empty base is one deterministic commit', async () => {
    await using temp = await tempDir();
    const home = homeLayout(`${temp.path}/home`);
    const one = await emptyBase(home);
    expect(await emptyBase(home)).toEqual(one);
    expect(git(one.path, 'fsck', '--strict')).not.toMatch(/error/);
    await createPrivateRepo({
      tree: `${temp.path}/t`,
      baseDir: one.path,
      commit: one.commit,
      branch: 'fleet/x',
      identity: IDENTITY,
    });
    expect(git(`${temp.path}/t`, 'log', '--format=%s')).toBe('Empty base');
  });
});

describe('private repository', () => {
  test('is on its branch, clean, raw, without hooks or remotes, and is made once', async () => {
    await using temp = await tempDir();
    const { tree, base } = await makeLab(temp.path, {
      'x.bat': 'a\n',
      '.gitattributes': '*.bat eol=crlf\n*.bin filter=lfs\n',
      'l.bin': 'version lfs',
    });
    expect(git(tree, 'symbolic-ref', 'HEAD')).toBe('refs/heads/fleet/t1');
    expect(git(tree, 'rev-parse', 'HEAD')).toBe(base);
    expect(git(tree, 'status', '--porcelain')).toBe('');
    expect(readFileSync(`${tree}/x.bat`, 'utf8')).toBe('a\n');
    expect(git(tree, 'config', 'user.email')).toBe(IDENTITY.email);
    expect(git(tree, 'remote')).toBe('');
    expect(existsSync(`${tree}/.git/hooks`)).toBe(false);
    write(tree, { 'mine.txt': 'work' });
    rmSync(`${tree}/.git`, { recursive: true });
    await createPrivateRepo({ tree, baseDir: '/nonexistent', commit: base, branch: 'fleet/t1', identity: IDENTITY });
    expect(readFileSync(`${tree}/mine.txt`, 'utf8')).toBe('work');
  });

  test('16 at once', async () => {
    await using temp = await tempDir();
    const lab = await makeLab(
      temp.path,
      Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`d${i % 7}/f${i}`, `${i}`])),
    );
    const trees = Array.from({ length: 16 }, (_, i) => `${temp.path}/many/${i}/tree`);
    await Promise.all(
      trees.map((tree, i) =>
        createPrivateRepo({ tree, baseDir: lab.baseDir, commit: lab.base, branch: `fleet/${i}`, identity: IDENTITY }),
      ),
    );
    for (const tree of trees) expect(git(tree, 'status', '--porcelain')).toBe('');
  });

  test('kill -9 in the middle is repaired', async () => {
    await using temp = await tempDir();
    const lab = await makeLab(
      temp.path,
      Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`d${i % 50}/f${i}`, `${i}`])),
    );
    const order = JSON.stringify({
      tree: `${temp.path}/k/tree`,
      baseDir: lab.baseDir,
      commit: lab.base,
      branch: 'fleet/k',
      identity: IDENTITY,
    });
    const module = new URL('../../src/adapters/git/worktree/private-repo.ts', import.meta.url).pathname;
    const code = `import(${JSON.stringify(module)}).then((m) => { process.stdout.write('go'); return m.createPrivateRepo(${order}); })`;
    const child = spawn(process.execPath, ['--import', 'tsx', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: process.cwd(),
    });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    while (!existsSync(`${temp.path}/k`) || readdirSync(`${temp.path}/k`).length === 0)
      await new Promise((resolve) => setTimeout(resolve, 1));
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    expect(existsSync(`${temp.path}/k/tree`)).toBe(false);
    await createPrivateRepo(JSON.parse(order) as Parameters<typeof createPrivateRepo>[0]);
    expect(git(`${temp.path}/k/tree`, 'status', '--porcelain')).toBe('');
    expect(readdirSync(`${temp.path}/k`)).toEqual(['tree']);
  });

  test('readAtBase reads regular files of the base, bounded', async () => {
    await using temp = await tempDir();
    const { baseDir, base } = await makeLab(temp.path, { '.fleet.yaml': 'setup: []\n' });
    expect((await readAtBase({ baseDir, commit: base, path: '.fleet.yaml' }))?.toString()).toBe('setup: []\n');
    expect(await readAtBase({ baseDir, commit: base, path: 'none' })).toBeNull();
    await expect(readAtBase({ baseDir, commit: base, path: '.fleet.yaml', maxBytes: 3 })).rejects.toThrow();
  });

  test('copyIgnored copies regular files that the globs name and nothing else', async () => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path, { 'a.txt': 'a' });
    write(lab.repo, {
      '.env': 'S=1',
      'cfg/x/.env': 'S=2',
      'cfg/y.json': '{}',
      'a.txt': 'changed',
      '.git/info/.env': 'no',
    });
    writeFileSync(`${temp.path}/secret`, 'no');
    symlinkSync(`${temp.path}/secret`, `${lab.repo}/link.env`);
    symlinkSync(temp.path, `${lab.repo}/out`);
    const globs = ['**/.env', 'cfg', '*.env', 'out/secret', 'a.txt', '.git/config'];
    expect(await copyIgnored({ checkout: lab.repo, tree: lab.tree, globs })).toEqual([
      '.env',
      'cfg/x/.env',
      'cfg/y.json',
    ]);
    expect(readFileSync(`${lab.tree}/a.txt`, 'utf8')).toBe('a');
    expect(await copyIgnored({ checkout: lab.repo, tree: lab.tree, globs: ['none/**', '../**'] })).toEqual([]);
  });
});
