import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { git, makeLab, makeRepo, paths, write, type Lab } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';

const FILES = {
  'src/x.ts': 'one\n',
  'a.txt': 'a\n',
  '.gitignore': 'out/\n*.log\n',
  'out/kept.txt': 'tracked though ignored\n',
};

/** Same size and times as before. */
function rewrite(path: string, text: string): void {
  const { atime, mtime } = lstatSync(path);
  writeFileSync(path, text);
  utimesSync(path, atime, mtime);
}

/** Each hides a change of `src/x.ts` (or of the path it gives) from some git. */
const HIDING: Record<string, (lab: Lab) => string | void> = {
  'assume-unchanged': ({ tree }) => {
    git(tree, 'update-index', '--assume-unchanged', 'src/x.ts');
    write(tree, { 'src/x.ts': 'two\n' });
  },
  'skip-worktree': ({ tree }) => {
    git(tree, 'update-index', '--skip-worktree', 'src/x.ts');
    write(tree, { 'src/x.ts': 'two\n' });
  },
  'info/exclude': ({ tree }) => {
    write(tree, { '.git/info/exclude': '*\n', 'new.ts': 'x' });
    return 'new.ts';
  },
  'core.excludesFile': ({ tree }) => {
    git(tree, 'config', 'core.excludesFile', `${tree}/.git/all`);
    write(tree, { '.git/all': '*\n', 'new.ts': 'x' });
    return 'new.ts';
  },
  'same size and mtime': ({ tree }) => rewrite(`${tree}/src/x.ts`, 'two\n'),
  'index with the new stat': ({ tree }) => {
    write(tree, { 'src/x.ts': 'two\n' });
    const id = git(tree, 'rev-parse', 'HEAD:src/x.ts');
    git(tree, 'update-index', 'src/x.ts');
    git(tree, 'update-index', '--cacheinfo', `100644,${id},src/x.ts`);
  },
  'replaced blob': ({ tree }) => {
    write(tree, { 'src/x.ts': 'two\n' });
    git(tree, 'replace', git(tree, 'rev-parse', 'HEAD:src/x.ts'), git(tree, 'hash-object', '-w', 'src/x.ts'));
  },
  'replaced commit': ({ tree }) => {
    write(tree, { 'src/x.ts': 'two\n' });
    git(tree, 'add', '-A');
    git(tree, 'replace', 'HEAD', git(tree, 'commit-tree', '-m', 'fake', git(tree, 'write-tree')));
  },
  'ignore of a tracked file, taken out of the index': ({ tree }) => {
    write(tree, { '.gitignore': 'out/\n*.log\nsrc\n', 'src/x.ts': 'two\n' });
    git(tree, 'rm', '-q', '--cached', '-r', 'src');
  },
  'tracked file in an ignored folder': ({ tree }) => {
    write(tree, { 'out/kept.txt': 'two' });
    return 'out/kept.txt';
  },
  'core.fileMode=false': ({ tree }) => {
    git(tree, 'config', 'core.fileMode', 'false');
    chmodSync(`${tree}/src/x.ts`, 0o755);
  },
  'core.ignoreStat': ({ tree }) => {
    git(tree, 'config', 'core.ignoreStat', 'true');
    git(tree, 'update-index', '--really-refresh');
    rewrite(`${tree}/src/x.ts`, 'two\n');
  },
  'sparse checkout': ({ tree }) => {
    git(tree, 'sparse-checkout', 'set', '--no-cone', '/a.txt');
    write(tree, { 'src/x.ts': 'two\n' });
  },
  'link in place of a file with the same content': ({ tree }) => {
    write(tree, { 'src/y.ts': 'one\n' });
    rmSync(`${tree}/src/x.ts`);
    symlinkSync('y.ts', `${tree}/src/x.ts`);
  },
  'folder swapped for a link': ({ tree }) => {
    renameSync(`${tree}/src`, `${tree}/real`);
    symlinkSync('real', `${tree}/src`);
  },
  'case twin': ({ tree }) => {
    git(tree, 'config', 'core.ignoreCase', 'true');
    write(tree, { 'SRC/X.ts': 'two\n' });
    return 'SRC/X.ts';
  },
  'diff attribute': ({ tree }) => {
    write(tree, { '.git/info/attributes': '* -diff filter=gone\n', 'src/x.ts': 'two\n' });
    git(tree, 'config', 'filter.gone.clean', 'echo one');
  },
  'no permission to read': ({ tree }) => {
    write(tree, { 'src/x.ts': 'two\n' });
    chmodSync(`${tree}/src/x.ts`, 0);
    chmodSync(`${tree}/src`, 0);
  },
  'GIT_INDEX emptied': ({ tree }) => {
    write(tree, { 'src/x.ts': 'two\n' });
    truncateSync(`${tree}/.git/index`, 0);
  },
};

describe('hiding tricks', () => {
  test.each(Object.keys(HIDING))('%s is seen', async (name) => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path, FILES);
    const path = HIDING[name]?.(lab) ?? 'src/x.ts';
    const result = await lab.capture();
    expect(paths(result)).toContain(path);
    expect(git(result.gitDir, 'diff-tree', '-r', '--name-only', result.base, result.commit).split('\n')).toContain(
      path,
    );
  });
});

describe('violations', () => {
  const PLANTED: Record<string, (tree: string) => string> = {
    'nested repository': (tree) => (makeRepo(`${tree}/sub/inner`), 'sub/inner/.git: a nested git repository'),
    '.git file': (tree) => (write(tree, { 'sub/.git': 'gitdir: /elsewhere' }), 'sub/.git: a nested git repository'),
    'upper case': (tree) => (write(tree, { '.GIT/config': '' }), '.GIT: a nested git repository'),
    'HFS name': (tree) => (write(tree, { 'x/.g\u200cit/config': '' }), 'x/.g\u200cit: a nested git repository'),
    'short name': (tree) => (write(tree, { 'x/GIT~1/config': '' }), 'x/GIT~1: a nested git repository'),
    fifo: (tree) => (execFileSync('mkfifo', [`${tree}/pipe`]), 'pipe: a special file'),
    'absolute link': (tree) => (symlinkSync('/etc/passwd', `${tree}/l`), 'l: a link that leaves the tree'),
    'link upwards': (tree) => (symlinkSync('../../home', `${tree}/src/l`), 'src/l: a link that leaves the tree'),
    'link through a link': (tree) => {
      mkdirSync(`${tree}/d`);
      symlinkSync('..', `${tree}/d/up`);
      symlinkSync('d/up/../home', `${tree}/l`);
      return 'l: a link that leaves the tree';
    },
    'link into .git': (tree) => (symlinkSync('.git/config', `${tree}/l`), 'l: a link that leaves the tree'),
    '.gitmodules link': (tree) => (
      symlinkSync('a.txt', `${tree}/.gitmodules`),
      '.gitmodules: a link in place of .gitmodules'
    ),
  };
  test.each(Object.keys(PLANTED))('%s', async (name) => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path, FILES);
    const expected = PLANTED[name]?.(lab.tree);
    expect((await lab.capture()).violations).toEqual([expected]);
  });

  test('a path too long to open, and a worktree that is gone, are the agent’s doing', async () => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path, FILES);
    const deep = `for i in $(seq 60); do mkdir ${'n'.repeat(90)} && cd ${'n'.repeat(90)} || exit 1; done; echo x > file`;
    execFileSync('bash', ['-c', deep], { cwd: lab.tree });
    expect((await lab.capture()).violations).toEqual([expect.stringMatching(/cannot be read \(ENAMETOOLONG\)$/)]);
    execFileSync('rm', ['-rf', lab.tree]);
    const gone = await lab.capture();
    expect(gone).toMatchObject({ violations: ['.: cannot be read (ENOENT)'], odd: 'the repository (.git) is gone' });
    expect(paths(gone)).toEqual(Object.keys(FILES).sort());
  });

  test('links inside, loops, and what the base had are none', async () => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path, FILES);
    symlinkSync('../a.txt', `${lab.tree}/src/in`);
    symlinkSync('loop', `${lab.tree}/loop`);
    symlinkSync('nowhere', `${lab.tree}/dangling`);
    expect(await lab.capture()).toMatchObject({ violations: [], odd: null });
  });
});
