import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { homeLayout, type HomeLayout } from '../../src/domain/names.ts';
import { ensureBase } from '../../src/adapters/git/source/base-store.ts';
import { createPrivateRepo } from '../../src/adapters/git/worktree/private-repo.ts';
import { captureResult } from '../../src/adapters/git/capture/result.ts';
import { openSource, type Source } from '../../src/adapters/git/source/source.ts';
import type { ResultTree } from '../../src/ports.ts';

export const IDENTITY = { name: 'Fleet', email: 'fleet@example.com' };

/** Plain git as a user or an agent would run it, with their configuration. */
export function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      ...{
        GIT_AUTHOR_NAME: 'User',
        GIT_AUTHOR_EMAIL: 'user@example.com',
        GIT_COMMITTER_NAME: 'User',
        GIT_COMMITTER_EMAIL: 'user@example.com',
      },
    },
  }).trim();
}

export function write(dir: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(`${dir}/${path}`), { recursive: true });
    writeFileSync(`${dir}/${path}`, text);
  }
}

/** A repository on `main` with one commit of these files; gives the commit. */
export function makeRepo(dir: string, files: Record<string, string> = { 'a.txt': 'a\n' }, ...init: string[]): string {
  mkdirSync(dir, { recursive: true });
  git(dir, 'init', '-q', '-b', 'main', ...init);
  write(dir, files);
  git(dir, 'add', '-A', '-f');
  git(dir, 'commit', '-q', '-m', 'first');
  return git(dir, 'rev-parse', 'HEAD');
}

export interface Lab {
  home: HomeLayout;
  repo: string;
  source: Source;
  base: string;
  baseDir: string;
  tree: string;
  capture(extra?: Partial<Parameters<typeof captureResult>[0]>): Promise<ResultTree>;
}

/** A repository, its base store and one run's private repository, in a temp folder. */
export async function makeLab(dir: string, files?: Record<string, string>, ...init: string[]): Promise<Lab> {
  const home = homeLayout(`${dir}/home`);
  const repo = `${dir}/repo`;
  const base = makeRepo(repo, files, ...init);
  const source = must(await openSource({ repo, mirrorDir: home.mirror })).source;
  const baseDir = must(await ensureBase({ source, commit: base, home })).path;
  const run = home.run('t1', '1-a');
  await createPrivateRepo({ tree: run.tree, baseDir, commit: base, branch: 'fleet/t1', identity: IDENTITY });
  const capture: Lab['capture'] = (extra) =>
    captureResult({ tree: run.tree, resultDir: run.result, baseDir, base, taskId: 't1', identity: IDENTITY, ...extra });
  return { home, repo, source, base, baseDir, tree: run.tree, capture };
}

export function must<T extends { ok: boolean }>(outcome: T): Extract<T, { ok: true }> {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome));
  return outcome as Extract<T, { ok: true }>;
}

export const paths = (result: ResultTree): string[] => result.changes.map((change) => change.path);
