import { isIn } from '../source/ancestry.ts';
import { redact } from '../git.ts';
import { emptyResult } from '../rescue/hand-over.ts';
import { layOutWork } from './write-tree.ts';
import { fail, failGit, type Failed } from '../failures.ts';
import { copyObjects } from '../pack.ts';
import { resolveBase } from '../source/resolve-base.ts';
import { nameOfSource, reading, type Source } from '../source/source.ts';

export interface BringCommit {
  source: Source;
  /** A branch, tag or commit, as the source knows it. */
  ref: string;
  base: string;
  baseDir: string;
  /** A folder for a repository of ours, made anew. */
  dir: string;
  /** A private repository at its base that nothing else has touched. */
  tree: string;
  /** Without `refs/heads/`. */
  branch: string;
  maxBytes: number;
  signal: AbortSignal;
}

/** Puts what somebody committed to a repository into a worktree, with its history on top of the base. Runs nothing of it. */
export async function bringCommit(bring: BringCommit): Promise<{ ok: true; commit: string } | Failed> {
  const { source, ref, base, baseDir, dir, tree, branch, maxBytes, signal } = bring;
  const name = nameOfSource(source);

  // 1. It is there, and stands on the base.
  const found = await resolveBase({ source, base: ref, signal });
  if (!found.ok) return found.failure.reason === 'base-missing' ? lacking(name, ref) : found;
  const { commit } = found;
  const stands = await descends(source, { base, commit });
  if (stands !== true) return stands || fail('receipts-rejected', notOn({ ref, commit, base }));

  // 2. Its objects, each checked, into a repository of ours; from there into the worktree.
  await emptyResult({ dir, base, baseDir });
  if (commit === base) return { ok: true, commit };
  try {
    const revs = [commit, `^${base}`];
    await copyObjects({ from: reading(source), to: { gitDir: dir }, revs, strict: true, maxBytes });
  } catch (error) {
    return failGit(error, 'receipts-rejected', `${commit.slice(0, 12)} of ${name} is not sound`);
  }
  const laid = await layOutWork({ tree, baseDir, base, branch, work: { gitDir: dir, commit, meta: { head: commit } } });
  if (!laid.ok) return fail('tampered', `${commit.slice(0, 12)} cannot be laid out: ${laid.why}`);
  return { ok: true, commit };
}

async function descends(source: Source, { base, commit }: { base: string; commit: string }): Promise<boolean | Failed> {
  try {
    return await isIn({ ...reading(source), commit: base, head: commit });
  } catch (error) {
    return failGit(error, 'repo-unavailable', `the history of ${nameOfSource(source)} cannot be read`);
  }
}

const lacking = (name: string, ref: string): Failed =>
  fail('receipts-rejected', `${redact(name)} has no branch, tag or commit ${ref}: push it there, and hand it in again`);

const notOn = ({ ref, commit, base }: { ref: string; commit: string; base: string }): string =>
  `${ref.startsWith(commit) ? commit.slice(0, 12) : `${ref} (${commit.slice(0, 12)})`} does not stand on the task's base ${base.slice(0, 12)}: rebase it, and hand it in again`;
