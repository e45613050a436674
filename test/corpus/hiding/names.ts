import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { git, makeRepo, write, type Lab } from '../../helpers/git.ts';

const commit = (tree: string, message = 'x') => git(tree, 'commit', '-q', '--allow-empty', '-m', message);

/** Each hides a change by what a path is, is called, or belongs to. Gives the path, or several that all must be seen. */
export const NAMES: Record<string, (lab: Lab) => string | string[] | void> = {
  'folder turned into a file, and a file into a folder': ({ tree }) => {
    rmSync(`${tree}/src`, { recursive: true });
    write(tree, { src: 'two\n' });
    rmSync(`${tree}/a.txt`);
    write(tree, { 'a.txt/inside': 'two\n' });
    return ['src', 'src/x.ts', 'a.txt', 'a.txt/inside'];
  },
  'rename, both ends': ({ tree }) => {
    git(tree, 'mv', 'src/x.ts', 'src/y.ts');
    commit(tree);
    return ['src/x.ts', 'src/y.ts'];
  },
  'mode bits only': ({ tree }) => chmodSync(`${tree}/src/x.ts`, 0o755),
  'hard link to another file of the tree': ({ tree }) => {
    rmSync(`${tree}/src/x.ts`);
    linkSync(`${tree}/a.txt`, `${tree}/src/x.ts`);
  },
  'hard link to a file outside of it': ({ tree }) => {
    writeFileSync(`${tree}/../outside`, 'two\n');
    rmSync(`${tree}/src/x.ts`);
    linkSync(`${tree}/../outside`, `${tree}/src/x.ts`);
  },
  'twin in another case, of a file': ({ tree }) => (write(tree, { 'A.TXT': 'two\n' }), 'A.TXT'),
  'twin in another normal form': ({ tree }) => (write(tree, { 'cafe\u0301.txt': 'two\n' }), 'cafe\u0301.txt'),
  'twin with core.precomposeUnicode': ({ tree }) => {
    git(tree, 'config', 'core.precomposeUnicode', 'true');
    write(tree, { 'cafe\u0301.txt': 'c\n' });
    return 'cafe\u0301.txt';
  },
  'letters that do not show': ({ tree }) => (write(tree, { 'a\u200b.txt': 'two\n' }), 'a\u200b.txt'),
  'text that runs backwards': ({ tree }) => (write(tree, { 'a\u202etxt.sh': 'two\n' }), 'a\u202etxt.sh'),
  'trailing dot and space': ({ tree }) => (write(tree, { 'a.txt.': '2', 'a.txt ': '2' }), ['a.txt.', 'a.txt ']),
  'line breaks and control characters': ({ tree }) => {
    write(tree, { 'src/x.ts\n M a.txt': '2', 'bell\u0007\u001b[2K': '2' });
    return ['src/x.ts\n M a.txt', 'bell\u0007\u001b[2K'];
  },
  'name that is no UTF-8': ({ tree }) => {
    writeFileSync(Buffer.concat([Buffer.from(`${tree}/x-`), Buffer.from([0xff])]), '2');
    return 'x-\\xff';
  },
  'names as long as can be': ({ tree }) => {
    const [name, deep] = ['n'.repeat(255), Array.from({ length: 12 }, () => 'd'.repeat(200)).join('/')];
    write(tree, { [name]: '2', [`${deep}/f`]: '2' });
    return [name, `${deep}/f`];
  },
  'names that look like options and globs': ({ tree }) => {
    write(tree, { '-rf': '2', '--help': '2', ':(exclude)x': '2', '*': '2', '!a': '2', '#b': '2' });
    return ['-rf', '--help', ':(exclude)x', '*', '!a', '#b'];
  },
  'names of an object': ({ tree }) => (
    write(tree, { constructor: '2', __proto__x: '2' }),
    ['constructor', '__proto__x']
  ),
  'intent to add': ({ tree }) => (write(tree, { new: 'two\n' }), git(tree, 'add', '-N', 'new'), 'new'),
  'gitlink in the index over a folder with files': ({ tree, base }) => {
    git(tree, 'rm', '-q', '--cached', '-r', 'src');
    git(tree, 'update-index', '--add', '--cacheinfo', `160000,${base},src`);
    commit(tree);
    write(tree, { 'src/x.ts': 'two\n' });
  },
  'new gitlink': ({ tree, base }) => {
    mkdirSync(`${tree}/sub`);
    git(tree, 'update-index', '--add', '--cacheinfo', `160000,${base},sub`);
    commit(tree);
    return 'sub';
  },
  '.gitmodules and .gitattributes': ({ tree }) => {
    write(tree, { '.gitmodules': '[submodule "s"]\n\tpath = s\n\turl = ../s\n', '.gitattributes': '* -diff -text\n' });
    return ['.gitmodules', '.gitattributes'];
  },
  'commit on another branch, HEAD with it': ({ tree }) => {
    git(tree, 'checkout', '-q', '-b', 'other');
    write(tree, { 'src/x.ts': 'two\n' });
    git(tree, 'add', '-A');
    commit(tree);
  },
  'commit on another branch, its files left here': ({ tree, base }) => {
    write(tree, { 'src/x.ts': 'two\n' });
    git(tree, 'checkout', '-q', '-b', 'other');
    git(tree, 'add', '-A');
    commit(tree);
    git(tree, 'symbolic-ref', 'HEAD', 'refs/heads/fleet/t1');
    git(tree, 'read-tree', base);
  },
  'detached HEAD': ({ tree }) => {
    git(tree, 'checkout', '-q', '--detach');
    write(tree, { 'src/x.ts': 'two\n' });
    git(tree, 'add', '-A');
    commit(tree);
  },
  'unborn branch': ({ tree }) => {
    write(tree, { 'src/x.ts': 'two\n' });
    git(tree, 'symbolic-ref', 'HEAD', 'refs/heads/unborn');
  },
  'stash that was applied': ({ tree }) => {
    write(tree, { 'src/x.ts': 'two\n' });
    git(tree, 'stash', '-q');
    git(tree, 'stash', 'apply', '-q');
  },
  'worktree config elsewhere': ({ tree }) => {
    mkdirSync(`${tree}/../decoy/src`, { recursive: true });
    git(tree, 'config', 'core.worktree', '../../decoy');
    execFileSync('cp', [`${tree}/src/x.ts`, `${tree}/../decoy/src/x.ts`]);
    write(tree, { 'src/x.ts': 'two\n' });
  },
  'folder moved away behind a link that stays inside': ({ tree }) => {
    renameSync(`${tree}/src`, `${tree}/real`);
    symlinkSync('real', `${tree}/src`);
    return ['src', 'src/x.ts'];
  },
};

/** Each is a violation: nothing that could carry it away is delivered. */
export const VIOLATIONS: Record<string, (lab: Lab) => string> = {
  'nested repository': ({ tree }) => (makeRepo(`${tree}/sub/inner`), 'sub/inner/.git: a nested git repository'),
  'empty nested repository': ({ tree }) => (
    mkdirSync(`${tree}/sub`),
    git(`${tree}/sub`, 'init', '-q'),
    write(tree, { 'sub/hidden': 'x' }),
    'sub/.git: a nested git repository'
  ),
  'nested repository in an ignored folder of the base': ({ tree }) => (
    makeRepo(`${tree}/out`),
    'out/.git: a nested git repository'
  ),
  '.git file': ({ tree }) => (write(tree, { 'sub/.git': 'gitdir: /elsewhere' }), 'sub/.git: a nested git repository'),
  'upper case': ({ tree }) => (write(tree, { '.GIT/config': '' }), '.GIT: a nested git repository'),
  'HFS name': ({ tree }) => (write(tree, { 'x/.g\u200cit/config': '' }), 'x/.g\u200cit: a nested git repository'),
  'short name': ({ tree }) => (write(tree, { 'x/GIT~1/config': '' }), 'x/GIT~1: a nested git repository'),
  'trailing dot': ({ tree }) => (write(tree, { 'x/.git./config': '' }), 'x/.git.: a nested git repository'),
  'trailing space': ({ tree }) => (write(tree, { 'x/.git /config': '' }), 'x/.git : a nested git repository'),
  'data stream': ({ tree }) => (
    write(tree, { 'x/.git::$INDEX_ALLOCATION/config': '' }),
    'x/.git::$INDEX_ALLOCATION: a nested git repository'
  ),
  fifo: ({ tree }) => (execFileSync('mkfifo', [`${tree}/pipe`]), 'pipe: a special file'),
  socket: ({ tree }) => (
    execFileSync(
      process.execPath,
      ['-e', "require('net').createServer().listen('sock', () => process.reallyExit(0))"],
      {
        cwd: tree,
        stdio: 'ignore',
      },
    ),
    'sock: a special file'
  ),
  'absolute link': ({ tree }) => (symlinkSync('/etc/passwd', `${tree}/l`), 'l: a link that leaves the tree'),
  'link upwards': ({ tree }) => (symlinkSync('../../home', `${tree}/src/l`), 'src/l: a link that leaves the tree'),
  'link through a link': ({ tree }) => {
    mkdirSync(`${tree}/d`);
    symlinkSync('..', `${tree}/d/up`);
    symlinkSync('d/up/../home', `${tree}/l`);
    return 'l: a link that leaves the tree';
  },
  'absolute link into the tree itself': ({ tree }) => (
    symlinkSync(`${tree}/a.txt`, `${tree}/l`),
    'l: a link that leaves the tree'
  ),
  'link into .git': ({ tree }) => (symlinkSync('.git/config', `${tree}/l`), 'l: a link that leaves the tree'),
  'link to another process': ({ tree }) => (
    symlinkSync('/proc/self/root', `${tree}/l`),
    'l: a link that leaves the tree'
  ),
  '.gitmodules link': ({ tree }) => (
    symlinkSync('a.txt', `${tree}/.gitmodules`),
    '.gitmodules: a link in place of .gitmodules'
  ),
};
