import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { matches } from '../../src/adapters/glob.ts';
import { checkoutTree, restoreFrom } from '../../src/adapters/git/worktree/checkout.ts';
import { diffstat, writePatch } from '../../src/adapters/git/capture/patch.ts';
import { git, makeLab, paths, write, type Lab } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';

describe('the agent’s commits', () => {
  test('are carried; what it left is one commit of ours on top; nothing changed is the base', async () => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path);
    expect(await lab.capture()).toMatchObject({
      commit: lab.base,
      changes: [],
      commits: [],
      odd: null,
      leftUncommitted: 0,
    });
    for (const n of ['one', 'two']) {
      write(lab.tree, { [n]: n });
      git(lab.tree, 'add', '-A');
      git(lab.tree, 'commit', '-q', '-m', n);
    }
    const head = git(lab.tree, 'rev-parse', 'HEAD');
    expect(await lab.capture()).toMatchObject({
      commit: head,
      tree: git(lab.tree, 'rev-parse', 'HEAD^{tree}'),
      leftUncommitted: 0,
      commits: [{ subject: 'one' }, { subject: 'two' }],
    });
    git(lab.tree, 'pack-refs', '--all');
    write(lab.tree, { three: '3' });
    const result = await lab.capture();
    expect(result).toMatchObject({ leftUncommitted: 1, odd: null });
    expect(git(result.gitDir, 'log', '--format=%an %s', `${lab.base}..${result.commit}`)).toBe(
      'Fleet Changes left uncommitted by the agent\nUser two\nUser one',
    );
    expect(git(result.gitDir, 'fsck', '--strict')).toBe('');
  });

  test('a file it forced in past .gitignore stays', async () => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path, { '.gitignore': '*.log\nout/\n' });
    write(lab.tree, { 'x.log': '1', 'out/y': '2', 'z.log': 'not added' });
    git(lab.tree, 'add', '-f', 'x.log', 'out/y');
    git(lab.tree, 'commit', '-q', '-m', 'forced');
    expect(paths(await lab.capture())).toEqual(['out/y', 'x.log']);
    write(lab.tree, { more: '1' });
    expect(paths(await lab.capture())).toEqual(['more', 'out/y', 'x.log']);
  });

  test('a commit that stands for a billion files is not listed: one commit of ours', async () => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path);
    let [id, kind] = [git(lab.tree, 'rev-parse', 'HEAD:a.txt'), '100644 blob'];
    for (let level = 0; level < 9; level += 1) {
      const lines = Array.from({ length: 10 }, (_, i) => `${kind} ${id}\te${i}\n`).join('');
      id = execFileSync('git', ['mktree'], { cwd: lab.tree, input: lines, encoding: 'utf8' }).trim();
      kind = '040000 tree';
    }
    git(lab.tree, 'reset', '-q', '--soft', git(lab.tree, 'commit-tree', id, '-p', lab.base, '-m', 'bomb'));
    write(lab.tree, { kept: 'work' });
    const before = process.memoryUsage.rss();
    let most = before;
    const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
    const result = await lab.capture();
    clearInterval(timer);
    expect(result).toMatchObject({
      odd: "the agent's commit has too many files",
      commits: [],
      changes: [{ path: 'kept', kind: 'added' }],
      leftUncommitted: 1,
      violations: [],
    });
    expect(git(result.gitDir, 'rev-parse', `${result.commit}^`)).toBe(lab.base);
    expect(most - before).toBeLessThan(200 * 1024 ** 2);
  });

  test('a commit message without end is not read', async () => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path);
    write(lab.tree, { kept: 'work' });
    git(lab.tree, 'add', '-A');
    writeFileSync(`${temp.path}/message`, 'x'.repeat(20 * 1024 ** 2));
    git(lab.tree, 'commit', '-q', '-F', `${temp.path}/message`);
    expect(await lab.capture()).toMatchObject({
      odd: expect.stringMatching(/larger than allowed/),
      leftUncommitted: 1,
    });
  });

  const ODD: Record<string, [RegExp, (lab: Lab, temp: string) => void]> = {
    'rewritten history': [/rewritten/, ({ tree }) => git(tree, 'commit', '-q', '--amend', '-m', 'x')],
    'orphan branch': [
      /rewritten/,
      ({ tree }) => (git(tree, 'checkout', '-q', '--orphan', 'o'), git(tree, 'commit', '-q', '-m', 'o')),
    ],
    '.git removed': [/is gone/, ({ tree }) => rmSync(`${tree}/.git`, { recursive: true })],
    '.git a link': [
      /not a folder/,
      ({ tree }, temp) => (renameSync(`${tree}/.git`, `${temp}/moved`), symlinkSync(`${temp}/moved`, `${tree}/.git`)),
    ],
    'HEAD empty': [/names no commit/, ({ tree }) => writeFileSync(`${tree}/.git/HEAD`, '')],
    'HEAD outside': [
      /names no commit/,
      ({ tree, base }, temp) => (
        writeFileSync(`${temp}/ref`, base),
        writeFileSync(`${tree}/.git/HEAD`, 'ref: refs/heads/../../../../../../ref')
      ),
    ],
    'unknown commit': [/not sound/, ({ tree }) => writeFileSync(`${tree}/.git/HEAD`, `${'1'.repeat(40)}\n`)],
    'other alternates': [
      /alternates/,
      ({ tree }) => (commit(tree), writeFileSync(`${tree}/.git/objects/info/alternates`, '/etc\n')),
    ],
    'objects a link': [
      /gone or a link/,
      ({ tree }, temp) => (
        commit(tree),
        renameSync(`${tree}/.git/objects`, `${temp}/o`),
        symlinkSync(`${temp}/o`, `${tree}/.git/objects`)
      ),
    ],
    'a link among the objects': [
      /contain links/,
      ({ tree }) => (commit(tree), symlinkSync('/etc', `${tree}/.git/objects/pack/x`)),
    ],
    'a missing object': [
      /not sound/,
      ({ tree }) => {
        commit(tree);
        const id = git(tree, 'rev-parse', 'HEAD:more');
        rmSync(`${tree}/.git/objects/${id.slice(0, 2)}/${id.slice(2)}`);
      },
    ],
    'too many commits': [
      /more than 1000/,
      ({ tree, base }) => {
        const stream = Array.from(
          { length: 1_001 },
          (_, i) =>
            `commit refs/heads/fleet/t1\ncommitter a <a@b> ${i} +0000\ndata 1\nx${i === 0 ? `\nfrom ${base}` : ''}\n`,
        ).join('');
        writeFileSync(`${tree}/../s`, stream);
        git(tree, '-c', 'alias.imp=!git fast-import --quiet --force < ../s', 'imp');
      },
    ],
  };
  const commit = (tree: string) => {
    write(tree, { more: 'm' });
    git(tree, 'add', '-A');
    git(tree, 'commit', '-q', '-m', 'more');
  };

  test.each(Object.keys(ODD))('%s: one commit of ours', async (name) => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path);
    write(lab.tree, { kept: 'work' });
    const [why, plant] = ODD[name]!;
    plant(lab, temp.path);
    const result = await lab.capture();
    expect(result.odd).toMatch(why);
    expect(paths(result)).toContain('kept');
    expect(git(result.gitDir, 'rev-list', '--count', `${lab.base}..${result.commit}`)).toBe('1');
    expect(git(result.gitDir, 'fsck', '--strict', '--connectivity-only')).not.toMatch(/error|missing/);
  });
});

test('patch and diffstat: binary, capped, without renames', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, { 'a.txt': 'a\n', gone: 'x\n' });
  rmSync(`${lab.tree}/gone`);
  write(lab.tree, { 'a.txt': 'a\nb\n', bin: 'x\0y', '.gitattributes': 'a.txt -diff\n' });
  const { gitDir, commit } = await lab.capture();
  const order = { gitDir, base: lab.base, commit, file: `${temp.path}/p` };
  expect(await writePatch({ ...order, maxBytes: 1e6 })).toMatchObject({
    files: 4,
    insertions: 2,
    deletions: 1,
    truncated: false,
  });
  mkdirSync(`${temp.path}/apply`);
  await checkoutTree({ gitDir, commit: lab.base, dir: `${temp.path}/apply` });
  git(`${temp.path}/apply`, 'apply', `${temp.path}/p`);
  expect(readFileSync(`${temp.path}/apply/a.txt`, 'utf8')).toBe('a\nb\n');
  expect(await writePatch({ ...order, maxBytes: 20 })).toMatchObject({ bytes: 20, truncated: true, files: 4 });
  expect(await diffstat(order)).toEqual({ files: 4, insertions: 2, deletions: 1 });
  expect(await writePatch({ ...order, commit: lab.base, maxBytes: 9 })).toMatchObject({
    bytes: 0,
    files: 0,
    truncated: false,
  });
});

const isMine = matches(['test/', '*.sh']);
const asInBase = { changed: isMine, added: isMine };

test('restoreFrom makes the named files what they are in base', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, { 'test/a': 'a', 'test/b': 'b', 'test/sub/c': 'c', 'x.sh': 'x', src: 's' });
  rmSync(`${lab.tree}/test`, { recursive: true });
  symlinkSync('.', `${lab.tree}/test`);
  write(lab.tree, { 'x.sh': 'evil', src: 'changed', 'extra.sh': 'new', '.gitignore': '*.sh\n' });
  const result = await lab.capture();
  const dir = `${temp.path}/c`;
  await checkoutTree({ gitDir: result.gitDir, commit: result.commit, dir });
  write(dir, { 'extra.sh': 'new' });
  const changed = await restoreFrom({ gitDir: result.gitDir, base: lab.base, dir }, asInBase);
  expect(changed).toEqual(['extra.sh', 'test', 'test/a', 'test/b', 'test/sub/c', 'x.sh']);
  expect(['test/a', 'test/sub/c', 'x.sh', 'src'].map((path) => readFileSync(`${dir}/${path}`, 'utf8'))).toEqual([
    'a',
    'c',
    'x',
    'changed',
  ]);
  expect(existsSync(`${dir}/extra.sh`)).toBe(false);
  expect(await restoreFrom({ gitDir: result.gitDir, base: lab.base, dir }, asInBase)).toEqual([]);
});
