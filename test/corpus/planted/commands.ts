import { execFileSync } from 'node:child_process';
import { git } from '../../helpers/git.ts';
import { attributes, COMMIT, config, filter, remote, set, STATUS, type Planted } from './plot.ts';

/** Keys of a repository's configuration that name a program. */
export const COMMANDS: Record<string, Planted> = {
  'core.fsmonitor, version 2': set('core.fsmonitor', ({ run }) => run, STATUS),
  'core.fsmonitor, version 1': {
    plant: ({ tree, run }) => {
      config(tree, 'core.fsmonitor', run);
      config(tree, 'core.fsmonitorHookVersion', '1');
    },
    plain: STATUS,
  },
  'filter clean': filter('clean', ['git add -A']),
  'filter smudge': filter('smudge', ['rm a.txt', 'git checkout -f HEAD -- a.txt']),
  'filter process': filter('process', ['git add -A']),
  'diff.external': set('diff.external', ({ run }) => run, ['git diff']),
  'diff driver': {
    plant: ({ tree, run }) => {
      attributes(tree, '* diff=x\n');
      config(tree, 'diff.x.command', run);
    },
    plain: ['git diff'],
  },
  textconv: {
    plant: ({ tree, run }) => {
      attributes(tree, '* diff=x\n');
      config(tree, 'diff.x.textconv', run);
    },
    plain: ['git diff', 'git log -1 -p'],
  },
  'merge driver': {
    plant: ({ tree, run }) => {
      attributes(tree, '* merge=x\n');
      config(tree, 'merge.x.driver', run);
    },
    plain: [
      'git checkout -q -f -b side',
      'echo 1 >a.txt; git commit -qam 1',
      'git checkout -q -f -b other HEAD~1',
      'echo 2 >a.txt; git commit -qam 2',
      'git merge side',
    ],
  },
  'gpg.program at a commit': {
    plant: ({ tree, program }) => {
      config(tree, 'gpg.program', program);
      config(tree, 'commit.gpgSign', 'true');
    },
    plain: COMMIT,
  },
  'gpg.program for a signature that is shown': {
    plant: ({ tree, program }) => {
      config(tree, 'gpg.program', program);
      config(tree, 'log.showSignature', 'true');
      const body = git(tree, 'cat-file', 'commit', 'HEAD');
      const signed = body.replace(
        '\n\n',
        '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n',
      );
      const id = execFileSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
        cwd: tree,
        input: `${signed}\n`,
      });
      git(tree, 'update-ref', 'HEAD', id.toString().trim());
    },
    plain: ['git log -1'],
  },
  'gpg.ssh.program': {
    plant: ({ tree, program }) => {
      for (const [key, value] of [
        ['gpg.format', 'ssh'],
        ['gpg.ssh.program', program],
        ['commit.gpgSign', 'true'],
        ['user.signingKey', 'key::ssh-ed25519 AAAA'],
      ] as const)
        config(tree, key, value);
    },
    plain: COMMIT,
  },
  'core.sshCommand': {
    plant: ({ tree, run }) => {
      config(tree, 'core.sshCommand', run);
      config(tree, 'remote.origin.url', 'ssh://localhost/x');
      config(tree, 'extensions.partialClone', 'origin');
    },
    plain: ['git fetch origin'],
  },
  'core.gitProxy': remote('url', ({ tree, program }) => (config(tree, 'core.gitProxy', program), 'git://localhost/x'), [
    'git fetch evil',
  ]),
  'credential.helper': set('credential.helper', ({ run }) => `!${run}`, [
    'echo url=https://localhost/ | git credential fill',
  ]),
  'core.askPass': set('core.askPass', ({ program }) => program, ['echo url=https://localhost/ | git credential fill']),
  'core.pager': set('core.pager', ({ run }) => run, ['script -qec "git log" /dev/null']),
  'pager of one command': set('pager.status', ({ run }) => run, ['script -qec "git status" /dev/null']),
  'core.editor': set('core.editor', ({ run }) => run, ['git commit --amend']),
  'sequence.editor': set('sequence.editor', ({ run }) => run, ['git stash', 'git rebase -i HEAD~1']),
  alias: {
    plant: ({ tree, run }) =>
      ['st', 'read-tree', 'cat-file', 'ls-tree'].forEach((name) => config(tree, `alias.${name}`, `!${run}`)),
    plain: ['git st'],
  },
  'interactive.diffFilter': set('interactive.diffFilter', ({ run }) => `${run}; cat`, [
    'yes q | script -qec "git add -p" /dev/null',
  ]),
  'difftool and mergetool': {
    plant: ({ tree, run }) => {
      for (const kind of ['diff', 'merge']) {
        config(tree, `${kind}.tool`, 'x');
        config(tree, `${kind}tool.x.cmd`, run);
      }
    },
    plain: ['git difftool -y'],
  },
  'trailer.command': set('trailer.x.command', ({ run }) => run, ['git add -A', 'git commit -m x --trailer x=y']),
  'trailer.cmd': set('trailer.x.cmd', ({ run }) => run, ['git add -A', 'git commit -m x --trailer x=y']),
  'archive with export-subst and a tar format': {
    plant: ({ tree, run }) => {
      attributes(tree, '* export-subst\n');
      config(tree, 'tar.x.command', run);
    },
    plain: ['git archive --format=x HEAD'],
  },
  'browser and man viewer': {
    plant: ({ tree, run }) => {
      config(tree, 'browser.x.cmd', run);
      config(tree, 'man.viewer', 'x');
      config(tree, 'man.x.cmd', run);
    },
    plain: ['git help -m git'],
  },
  'remote.uploadpack': remote('uploadpack', ({ run }) => run, ['git fetch evil']),
  'remote.receivepack': remote('receivepack', ({ run }) => run, ['git push evil HEAD:x']),
  'a remote over ext::': remote('url', ({ run }) => `ext::sh -c ${run.replaceAll(' ', '% ')}`, ['git fetch evil']),
  'a remote helper of its own': remote('vcs', () => 'evil', ['PATH=$PWD/.git:$PATH git fetch evil']),
  'url.insteadOf': {
    plant: ({ tree, run }) => {
      for (const url of ['file://', 'https://', 'ssh://', '/'])
        config(tree, `url.ext::sh -c ${run.replaceAll(' ', '% ')} .insteadOf`, url);
      config(tree, 'protocol.ext.allow', 'always');
    },
    plain: ['git fetch file:///x'],
  },
  'core.alternateRefsCommand': {
    plant: ({ tree, run }) => config(tree, 'core.alternateRefsCommand', run),
    plain: ['git -c protocol.file.allow=always fetch -q ../../../../../../repo'],
  },
  'promisor remote': {
    plant: ({ tree, run }) => {
      config(tree, 'remote.p.url', `ext::sh -c ${run.replaceAll(' ', '% ')}`);
      config(tree, 'remote.p.promisor', 'true');
      config(tree, 'extensions.partialClone', 'p');
      config(tree, 'protocol.ext.allow', 'always');
    },
    plain: [`git cat-file -p ${'1'.repeat(40)}`],
  },
};
