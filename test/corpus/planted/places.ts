import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { git, makeRepo, write } from '../../helpers/git.ts';
import { attributes, COMMIT, config, hook, HOOKS, STATUS, submodule, type Planted } from './plot.ts';

/** Places that git takes hooks, configuration or whole repositories from. */
export const PLACES: Record<string, Planted> = {
  'hooks of every kind': {
    plant: ({ tree, run }) => HOOKS.forEach((name) => hook(`${tree}/.git/hooks`, name, run)),
    plain: COMMIT,
  },
  'core.hooksPath': {
    plant: ({ tree, run }) => {
      HOOKS.forEach((name) => hook(`${tree}/h`, name, run));
      config(tree, 'core.hooksPath', 'h');
    },
    plain: COMMIT,
  },
  'include.path': {
    plant: ({ tree, run }) => {
      write(tree, { inc: `[core]\n\tfsmonitor = ${run}\n` });
      config(tree, 'include.path', '../inc');
    },
    plain: STATUS,
  },
  'includeIf gitdir': {
    plant: ({ tree, run }) => {
      write(tree, { inc: `[core]\n\tfsmonitor = ${run}\n` });
      config(tree, 'includeIf.gitdir:**.path', '../inc');
    },
    plain: STATUS,
  },
  'includeIf onbranch': {
    plant: ({ tree, run }) => {
      write(tree, { inc: `[core]\n\tfsmonitor = ${run}\n` });
      config(tree, 'includeIf.onbranch:**.path', '../inc');
    },
    plain: STATUS,
  },
  'worktree config': {
    plant: ({ tree, run }) => {
      config(tree, 'extensions.worktreeConfig', 'true');
      config(tree, 'core.fsmonitor', run, '.git/config.worktree');
    },
    plain: STATUS,
  },
  'filter named in info/attributes': {
    plant: ({ tree, run }) => {
      write(tree, { '.git/info/attributes': '* filter=x\n' });
      config(tree, 'filter.x.clean', run);
    },
    plain: ['git add -A'],
  },
  'filter named in core.attributesFile': {
    plant: ({ tree, run }) => {
      rmSync(`${tree}/.git/info/attributes`, { force: true });
      write(tree, { '.git/all': '* filter=x\n' });
      config(tree, 'core.attributesFile', '.git/all');
      config(tree, 'filter.x.clean', run);
    },
    plain: ['git add -A'],
  },
  'submodule that is updated by a command': submodule(
    { url: ({ tree }) => `${tree}/../sub` },
    { plain: ['git -c protocol.file.allow=always submodule update --init'] },
  ),
  'submodule over ext::': submodule(
    { url: ({ run }) => `ext::sh -c ${run.replaceAll(' ', '% ')}` },
    { plain: ['git submodule update --init'] },
  ),
  'command in .gitmodules': submodule(
    { url: ({ tree }) => `${tree}/../sub`, gitmodules: '\tupdate = !touch x\n' },
    { violation: /^\.gitmodules: refused by git: gitmodules/ },
  ),
  '.git file that leads elsewhere': {
    plant: ({ tree, run }) => {
      config(tree, 'core.fsmonitor', run);
      renameSync(`${tree}/.git`, `${tree}/../evil.git`);
      writeFileSync(`${tree}/.git`, 'gitdir: ../evil.git\n');
    },
    plain: STATUS,
  },
  commondir: {
    plant: ({ tree, run }) => {
      execFileSync('cp', ['-r', `${tree}/.git`, `${tree}/../common.git`]);
      writeFileSync(`${tree}/../common.git/config`, `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ${run}\n`);
      write(tree, { '.git/commondir': `${tree}/../common.git\n` });
    },
    plain: STATUS,
  },
  'bare repository among the files': {
    plant: ({ tree, run }) => {
      git(tree, 'init', '-q', '--bare', 'fixtures');
      config(tree, 'core.fsmonitor', run, 'fixtures/config');
      config(tree, 'core.worktree', '..', 'fixtures/config');
      config(tree, 'core.bare', 'false', 'fixtures/config');
    },
    plain: ['cd fixtures && git status'],
  },
  'hooks of a nested repository': {
    plant: ({ tree, run }) => {
      makeRepo(`${tree}/inner`);
      HOOKS.forEach((name) => hook(`${tree}/inner/.git/hooks`, name, run));
      config(`${tree}/inner`, 'core.fsmonitor', run);
    },
    plain: ['cd inner && git commit --allow-empty -m x'],
    violation: /^inner\/\.git: a nested git repository$/,
  },
  'configuration in HOME': {
    plant: ({ home, run }) => {
      config(home, 'core.fsmonitor', run, '.gitconfig');
      config(home, 'uploadpack.packObjectsHook', run, '.gitconfig');
      hook(`${home}/templates/hooks`, 'post-checkout', run);
      config(home, 'init.templateDir', `${home}/templates`, '.gitconfig');
    },
    plain: STATUS,
  },
  'configuration in XDG_CONFIG_HOME': {
    plant: ({ home, run }) => config(home, 'core.fsmonitor', run, '.config/git/config'),
    plain: STATUS,
  },
  'GIT_ variables in files that shells read': {
    plant: ({ tree, home, run }) => {
      const text = `export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0="${run}" GIT_EXTERNAL_DIFF="${run}"\n`;
      write(home, { '.profile': text, '.bashrc': text });
      write(tree, { '.env': text, '.envrc': text });
    },
    plain: ['. ./.env; git status; git diff'],
  },
  'maintenance and collection': {
    plant: ({ tree, run }) => {
      hook(`${tree}/.git/hooks`, 'pre-auto-gc', run);
      config(tree, 'gc.auto', '1');
      config(tree, 'gc.autoDetach', 'false');
      config(tree, 'maintenance.auto', 'true');
    },
    plain: [
      'mkdir -p .git/objects/17 && for i in 1 2 3; do touch .git/objects/17/$(printf %038d $i); done',
      'git gc --auto',
    ],
  },
  'large file storage': {
    plant: ({ tree, run }) => {
      attributes(tree, '*.txt filter=lfs diff=lfs merge=lfs -text\n');
      write(tree, { '.lfsconfig': `[lfs]\n\turl = ext::${run}\n\tcustomtransfer.x.path = ${run}\n` });
      for (const kind of ['clean', 'smudge', 'process']) config(tree, `filter.lfs.${kind}`, run);
    },
    plain: ['git add -A'],
  },
  'a post-index-change hook that checkouts and indexes run': {
    plant: ({ tree, run }) => hook(`${tree}/.git/hooks`, 'post-index-change', run),
    plain: ['git add -A'],
  },
};
