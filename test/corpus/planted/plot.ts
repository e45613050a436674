import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { git, makeRepo, write } from '../../helpers/git.ts';

/** Where an agent plants: its worktree, its HOME, a command line that leaves a mark, and a program that does so. */
export interface Plot {
  tree: string;
  home: string;
  run: string;
  program: string;
}

export interface Planted {
  plant(plot: Plot): void;
  /** What an unwary user or worker does afterwards in the tree: shell commands. None: that is out of reach here, e.g. `git-lfs`. */
  plain?: string[];
  /** The result can never be delivered, for this reason. */
  violation?: RegExp;
}

export const HOOKS =
  'applypatch-msg commit-msg post-applypatch post-checkout post-commit post-index-change post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase pre-receive prepare-commit-msg proc-receive push-to-checkout reference-transaction sendemail-validate update fsmonitor-watchman'.split(
    ' ',
  );
export const STATUS = ['git status', 'git diff'];
export const COMMIT = ['git add -A', 'git commit -m x'];

/** One key of the agent's own configuration, whatever git itself would let it write there. */
export const config = (tree: string, key: string, value: string, file = '.git/config'): void => {
  const [, section = '', sub, name = ''] = /^([^.]+)\.(?:(.*)\.)?([^.]+)$/.exec(key) ?? [];
  const quote = (text: string) => text.replace(/["\\]/g, '\\$&');
  const header = sub === undefined ? `[${section}]` : `[${section} "${quote(sub)}"]`;
  mkdirSync(`${tree}/${file}`.replace(/\/[^/]*$/, ''), { recursive: true });
  writeFileSync(`${tree}/${file}`, `${header}\n\t${name} = "${quote(value)}"\n`, { flag: 'a' });
};
export const hook = (dir: string, name: string, run: string): void => {
  write(dir, { [name]: `#!/bin/sh\n${run}\n` });
  chmodSync(`${dir}/${name}`, 0o755);
};
export const attributes = (tree: string, text: string): void => {
  // What we put there first would keep the agent's from counting: it can remove that.
  rmSync(`${tree}/.git/info/attributes`, { force: true });
  write(tree, { '.gitattributes': text });
};
export const set = (key: string, value: (plot: Plot) => string, plain: string[]): Planted => ({
  plant: (plot) => config(plot.tree, key, value(plot)),
  plain,
});
export const filter = (kind: string, plain: string[]): Planted => ({
  plant: ({ tree, run }) => {
    attributes(tree, '* filter=x\n');
    config(tree, `filter.x.${kind}`, run);
    config(tree, 'filter.x.required', 'true');
  },
  plain,
});
export const remote = (key: string, value: (plot: Plot) => string, plain: string[]): Planted => ({
  plant: (plot) => {
    const local = `${plot.tree}/../elsewhere`;
    makeRepo(local);
    config(plot.tree, 'remote.evil.url', key === 'url' ? value(plot) : local);
    if (key !== 'url') config(plot.tree, `remote.evil.${key}`, value(plot));
    config(plot.tree, 'remote.evil.fetch', '+refs/heads/*:refs/remotes/evil/*');
    config(plot.tree, 'protocol.ext.allow', 'always');
  },
  plain,
});
export const submodule = (
  { url, gitmodules = '' }: { url: (plot: Plot) => string; gitmodules?: string },
  rest: Omit<Planted, 'plant'>,
): Planted => ({
  plant: (plot) => {
    const { tree, run } = plot;
    const id = makeRepo(`${tree}/../sub`);
    write(tree, { '.gitmodules': `[submodule "s"]\n\tpath = s\n\turl = ${url(plot)}\n${gitmodules}` });
    git(tree, 'update-index', '--add', '--cacheinfo', `160000,${id},s`);
    for (const [name, value] of [
      ['url', url(plot)],
      ['update', `!${run}`],
      ['active', 'true'],
    ] as const)
      config(tree, `submodule.s.${name}`, value);
    config(tree, 'protocol.ext.allow', 'always');
  },
  ...rest,
});

/** Puts the program of a remote helper where a PATH could lead. */
export function makeProgram(plot: Plot): void {
  for (const path of [plot.program, `${plot.tree}/.git/git-remote-evil`])
    if (existsSync(`${plot.tree}/.git`)) {
      writeFileSync(path, `#!/bin/sh\n${plot.run}\n`);
      chmodSync(path, 0o755);
    }
}
