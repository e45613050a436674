import { chmodSync, lstatSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { git, write, type Lab } from '../../helpers/git.ts';

/** What the base has. */
export const FILES = {
  'src/x.ts': 'one\n',
  'a.txt': 'a\n',
  'caf\u00e9.txt': 'c\n',
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
export const CLAIMS: Record<string, (lab: Lab) => string | void> = {
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
  'racy index: changed in the second in which it was added': ({ tree }) => {
    const time = new Date(1_700_000_000_000);
    utimesSync(`${tree}/src/x.ts`, time, time);
    git(tree, 'update-index', '--refresh');
    writeFileSync(`${tree}/src/x.ts`, 'two\n');
    utimesSync(`${tree}/src/x.ts`, time, time);
    utimesSync(`${tree}/.git/index`, time, time);
    git(tree, 'config', 'core.trustctime', 'false');
  },
  'core.checkStat=minimal': ({ tree }) => {
    git(tree, 'config', 'core.checkStat', 'minimal');
    git(tree, 'config', 'core.trustctime', 'false');
    git(tree, 'update-index', '--really-refresh');
    rewrite(`${tree}/src/x.ts`, 'two\n');
  },
  'split index': ({ tree }) => {
    git(tree, 'update-index', '--split-index', '--assume-unchanged', 'src/x.ts');
    write(tree, { 'src/x.ts': 'two\n' });
  },
  'untracked cache': ({ tree }) => {
    git(tree, 'update-index', '--force-untracked-cache');
    git(tree, 'status');
    const { atime, mtime } = lstatSync(`${tree}/src`);
    write(tree, { 'src/new.ts': 'two\n' });
    utimesSync(`${tree}/src`, atime, mtime);
    git(tree, 'config', 'core.untrackedCache', 'keep');
    git(tree, 'config', 'core.trustctime', 'false');
    return 'src/new.ts';
  },
  'monitor that says that nothing changed': ({ tree }) => {
    write(tree, { '.git/m': "#!/bin/sh\nprintf 'token\\0'\n" });
    chmodSync(`${tree}/.git/m`, 0o755);
    git(tree, 'config', 'core.fsmonitor', '.git/m');
    git(tree, 'update-index', '--fsmonitor');
    git(tree, 'update-index', '--fsmonitor-valid', 'src/x.ts');
    rewrite(`${tree}/src/x.ts`, 'two\n');
  },
  'graft that makes the change part of the base': ({ tree, base }) => {
    write(tree, { 'src/x.ts': 'two\n' });
    git(tree, 'commit', '-qam', 'x');
    write(tree, {
      '.git/info/grafts': `${git(tree, 'rev-parse', 'HEAD')}\n${base} ${git(tree, 'rev-parse', 'HEAD')}\n`,
    });
  },
  'ident attribute': ({ tree }) => {
    write(tree, { '.git/info/attributes': '* ident\n', 'src/x.ts': '$Id: hidden $\n' });
  },
  'working-tree-encoding attribute': ({ tree }) => {
    write(tree, { '.git/info/attributes': '*.ts working-tree-encoding=UTF-16LE\n' });
    writeFileSync(`${tree}/src/x.ts`, Buffer.from('one\n', 'utf16le'));
  },
  'line ends that git would not show': ({ tree }) => {
    write(tree, { '.git/info/attributes': '* text=auto eol=crlf\n', 'src/x.ts': 'one\r\n' });
    git(tree, 'config', 'core.autocrlf', 'true');
  },
  'ignored by itself, and added by force in a commit': ({ tree }) => {
    write(tree, { '.git/info/exclude': 'src\n', 'src/new.ts': 'x' });
    git(tree, 'add', '-f', 'src/new.ts');
    git(tree, 'commit', '-qm', 'x');
    return 'src/new.ts';
  },
  'submodule.ignore': ({ tree }) => {
    git(tree, 'config', 'diff.ignoreSubmodules', 'all');
    git(tree, 'config', 'status.showUntrackedFiles', 'no');
    write(tree, { 'new.ts': 'x' });
    return 'new.ts';
  },
};
