import { existsSync, writeFileSync } from 'node:fs';
import { homeLayout } from '../../src/domain/names.ts';
import { openSource } from '../../src/adapters/git/source/source.ts';
import { openSubmodules } from '../../src/adapters/git/source/submodules.ts';
import { git, must } from './git.ts';

/** Repositories with submodules, for tests. */

export const ALLOWED = ['-c', 'protocol.file.allow=always'];
export const head = (repo: string) => git(repo, 'rev-parse', 'HEAD');
export const commitAll = (repo: string): string => {
  git(repo, 'add', '-A');
  git(repo, 'commit', '-q', '-m', 'more');
  return head(repo);
};
/** A gitlink without a clone, as another's repository has it. */
export const link = (repo: string, path: string, commit: string, url: string): string => {
  git(repo, 'update-index', '--add', '--cacheinfo', `160000,${commit},${path}`);
  writeFileSync(`${repo}/.gitmodules`, `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n`, { flag: 'a' });
  git(repo, 'add', '.gitmodules');
  git(repo, 'commit', '-q', '-m', `with ${path}`);
  return head(repo);
};

export async function openAll(root: string, repo: string, given: { rules?: string; wanted?: string[] } = {}) {
  const home = homeLayout(`${root}/home`);
  const { source } = must(await openSource({ repo, mirrorDir: home.mirror }));
  const path = repo.replace(/^file:\/\//, '');
  const commit = head(path);
  const gitDir = existsSync(`${path}/.git`) ? `${path}/.git` : path;
  const opened = await openSubmodules({
    ...{ source, at: { gitDir, commit }, rules: { gitDir, commit: given.rules ?? commit }, home },
    wanted: (one) => given.wanted?.includes(one) ?? true,
  });
  return { opened, home };
}
