import { randomBytes } from 'node:crypto';
import { failpoint } from '../../adapters/failpoint.ts';
import { emptyResult, resultOf } from '../../adapters/git/rescue/hand-over.ts';
import { GitFailed } from '../../adapters/git/git.ts';
import { commonCommit } from '../../adapters/git/source/ancestry.ts';
import { fail } from '../../adapters/git/failures.ts';
import { isIn } from '../../adapters/git/source/ancestry.ts';
import { mergeCommit, mergeTrees } from '../../adapters/git/merge.ts';
import {
  checkedOutAt,
  checkedOutSentence,
  fetchRefs,
  moveBranch,
  readRefs,
} from '../../adapters/git/deliver/merge-source.ts';
import { nameOfSource, openSource, type Source } from '../../adapters/git/source/source.ts';
import { removeTree } from '../../adapters/disk/remove-tree.ts';
import type { Failure } from '../../domain/agent/failure.ts';
import type { MergeEntry, MergeInput, MergeOutcome, RefusedMerge } from '../../domain/deliver/merge.ts';
import { jointPolicy } from '../../domain/deliver/merge-policy.ts';
import { branchOf, branchRef } from '../../domain/names.ts';
import type { Policy } from '../../domain/repository/repo-policy.ts';
import type { Tried } from '../../ports.ts';
import { acceptanceAgain } from '../../receipts/kinds/acceptance.ts';
import type { Deps } from '../worker/context.ts';
import { cancellable } from '../worker/heartbeat.ts';
import { policiesOf } from './merge-policies.ts';
import { onSoundBase, openOrigin, type Origin } from '../prepare/origin.ts';
import { persist } from '../worker/persist.ts';
import { isStopped } from '../worker/programs.ts';
import { spacesFor } from '../verify/trial-space.ts';

/** The target may move while its results are checked. */
const MOST_TRIES = 5;
const SECONDS = 1_000;
const PATHS_MAX = 10;

/**
 * Merges results onto their target's head one after the other, checks what comes of it, and moves the target there if it is
 * where it was. Whatever was killed in between, a result is merged once: one that the target has is left alone.
 */
export function mergeBatch(deps: Deps, order: MergeInput): Promise<MergeOutcome> {
  let pushing = false;
  const onPush = (now: boolean): void => void (pushing = now);
  return cancellable(
    () => ({ runId: `merge into ${order.into}`, state: 'verifying' }),
    async (signal) => {
      const opened = await openSource({ repo: order.repo, mirrorDir: deps.home.mirror });
      if (!opened.ok) return opened;
      const { source } = opened;
      for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
        await deps.programs.resumed(signal);
        const dir = `${deps.home.scratch}/merge-${randomBytes(6).toString('hex')}`;
        try {
          const outcome = await mergeOnce(deps, order, { source, dir, signal, onPush });
          onPush(false);
          if (outcome !== 'moved') return outcome;
        } catch (error) {
          if (!isStopped(error)) throw error;
          tries -= 1;
        } finally {
          await removeTree(dir);
        }
      }
      return unavailable(`${order.into} of ${nameOfSource(source)} is moved by somebody else all the time`);
    },
    { bound: () => pushing },
  );
}

interface Place {
  source: Source;
  dir: string;
  signal: AbortSignal;
  /** From `true` on it runs to its end, whoever cancels: what was pushed must be known. */
  onPush(now: boolean): void;
}

async function mergeOnce(deps: Deps, order: MergeInput, place: Place): Promise<MergeOutcome | 'moved'> {
  const { source, dir, signal } = place;
  const targetRef = `refs/heads/${order.into}`;

  // 1. How everything stands now.
  const refs = await readRefs(source, [targetRef, ...order.members.map(({ id }) => branchRef(id))]);
  if (!refs.ok) return refs;
  const target = refs.refs.get(targetRef);
  if (!target) return forPeople(`${nameOfSource(source)} has no branch ${order.into}`);
  const held = await checkedOutAt(source, order.into);
  if (held) return forPeople(checkedOutSentence(order.into, held));
  const open = () => openOrigin(deps, { task: order, base: target, signal });
  const origin = await open();
  if (!origin.ok) return origin;
  const giveBack = deps.registry.borrow({ taskId: 'merge', runId: dir }, origin.baseDir);
  const known = { ...place, origin, target, refs: refs.refs };
  try {
    return await onSoundBase(origin.baseDir, { open, work: () => onto(deps, order, known) });
  } finally {
    giveBack();
  }
}

type Known = Place & {
  origin: Extract<Origin, { ok: true }>;
  target: string;
  refs: ReadonlyMap<string, string>;
};

async function onto(deps: Deps, order: MergeInput, known: Known): Promise<MergeOutcome | 'moved'> {
  const { source, dir, signal, origin, target } = known;
  const gitDir = `${dir}/merge.git`;
  await emptyResult({ dir: gitDir, base: target, baseDir: origin.baseDir });

  // 2. One after the other; one that only conflicts with another of them waits for the next time.
  const there = order.members.filter(({ id, commit }) => known.refs.get(branchRef(id)) === commit);
  const wanted = new Map(there.map(({ id, commit }) => [branchRef(id), commit]));
  const fetched = await fetchRefs({ source, refs: wanted, base: target, gitDir, signal });
  if (!fetched.ok) return fetched;
  const ruled = await policiesOf(deps, { members: there, origin });
  const fitting = there.filter(({ id }) => ruled.policies.has(id));
  const made = await mergeEach(deps, { gitDir, target, into: order.into, members: fitting });
  const gone = order.members.filter((member) => !there.includes(member));
  const refused = [...made.refused, ...ruled.refused, ...gone.map(goneFrom(source))];
  const { head, chosen, already } = made;
  if (chosen.length === 0) return { ok: true, target, merged: already, refused, red: null };
  failpoint('merge.made');

  // 3. What all of them have to pass, with what they may not decide about as they were delivered.
  const policy = jointPolicy(chosen.map(({ member: { id } }) => ruled.policies.get(id)!) as [Policy, ...Policy[]]);
  const result = await resultOf({ gitDir, base: target, commit: head });
  const evidence: Tried = {
    // Each result was delivered with what it may not change as in its own base: what is checked is what would be pushed.
    ...{ policy, result, rules: head, checkout: origin.checkout, passed: {} },
    ...{ heldOutDir: deps.home.heldOut, unseal: deps.keys.openSealed },
    ...spacesFor(
      deps,
      { taskId: 'merge', runId: 'merge' },
      {
        dir: (name) => `${dir}/${name}`,
        log: (name) => `${dir}/${name}.log`,
        prepared: { task: order, policy, base: target, baseDir: origin.baseDir, sealed: origin.sealed },
        signal,
      },
    ),
  };
  const finding = await persist(deps, () => acceptanceAgain.collect(evidence), signal);
  signal.throwIfAborted();
  if (finding && !finding.ok) {
    const red = { ids: chosen.map(({ member }) => member.id), message: finding.summary };
    return { ok: true, target, merged: already, refused, red };
  }
  failpoint('merge.checked');

  deps.programs.mayGoOn();
  // Its checks took their time: somebody may work there by now.
  const taken = await checkedOutAt(source, order.into);
  if (taken) return forPeople(checkedOutSentence(order.into, taken));

  // 4. From here on it runs to its end, whoever cancels.
  signal.throwIfAborted();
  known.onPush(true);
  if (!deps.inContact()) throw new Error(`${deps.worker.name} has lost contact with the server`);
  const moved = await moveBranch({ source, gitDir, ref: `refs/heads/${order.into}`, from: target, to: head, signal });
  if (!moved.ok) return moved.moved ? 'moved' : moved;
  failpoint('merge.pushed');
  return {
    ok: true,
    target,
    merged: [...already, ...chosen.map(({ member: { id }, commit }) => ({ id, commit }))],
    refused,
    red: null,
  };
}

interface Made {
  head: string;
  chosen: { member: MergeEntry; commit: string }[];
  already: { id: string; commit: string }[];
  refused: RefusedMerge[];
}

async function mergeEach(
  { config }: Deps,
  given: { gitDir: string; target: string; into: string; members: readonly MergeEntry[] },
): Promise<Made> {
  const { gitDir, target, into } = given;
  const made: Made = { head: target, chosen: [], already: [], refused: [] };
  for (const member of given.members) {
    const { id, commit } = member;
    if (await isIn({ gitDir, commit, head: target })) {
      made.already.push({ id, commit: target });
      continue;
    }
    // A task that went on from it came first.
    if (made.head !== target && (await isIn({ gitDir, commit, head: made.head }))) {
      made.chosen.push({ member, commit: made.head });
      continue;
    }
    const tried = await conflictsOf({ gitDir, ours: made.head, theirs: commit });
    if ('tree' in tried) {
      const seconds = Math.floor(Date.parse(member.at) / SECONDS);
      const message = `Merge ${branchOf(id)} into ${into}\n\nFleet-Task: ${id}\n`;
      const parents = [made.head, commit] as const;
      made.head = mergeCommit({ gitDir, tree: tried.tree, parents, identity: config.git, seconds, message });
      made.chosen.push({ member, commit: made.head });
      continue;
    }
    const alone = made.head === target ? tried : await conflictsOf({ gitDir, ours: target, theirs: commit });
    if ('tree' in alone) continue;
    const message = `it conflicts with ${into} (${target.slice(0, 12)}) in ${alone.why}`;
    made.refused.push({ id, reason: 'merge-failed', message });
  }
  return made;
}

async function conflictsOf(merge: {
  gitDir: string;
  ours: string;
  theirs: string;
}): Promise<{ tree: string } | { why: string }> {
  try {
    const { tree, paths } = await mergeTrees(merge);
    if (paths.length === 0) return { tree };
    const more = paths.length > PATHS_MAX ? ` and ${paths.length - PATHS_MAX} more` : '';
    return { why: paths.slice(0, PATHS_MAX).join(', ') + more };
  } catch (error) {
    const { gitDir, ours, theirs } = merge;
    if (!(error instanceof GitFailed) || (await commonCommit({ gitDir }, ours, theirs)) !== undefined) throw error;
    return { why: 'all of it: the two have no commit in common' };
  }
}

const goneFrom =
  (source: Source) =>
  ({ id, commit }: MergeEntry): RefusedMerge => ({
    id,
    reason: 'repo-unavailable',
    message: `${branchOf(id)} of ${nameOfSource(source)} is not at ${commit.slice(0, 12)} any more`,
  });

const unavailable = (message: string): { ok: false; failure: Failure } => fail('repo-unavailable', message);
/** What no other try, and no other worker, gets past. */
const forPeople = (message: string) => fail('repo-unavailable', message, { lasting: true });
