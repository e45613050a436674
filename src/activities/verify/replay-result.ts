import { emptyResult, fetchResult, resultOf } from '../../adapters/git/rescue/hand-over.ts';
import { openSource } from '../../adapters/git/source/source.ts';
import { removeTree } from '../../adapters/disk/remove-tree.ts';
import type { Failure, Reason } from '../../domain/agent/failure.ts';
import { verdictOf, type Found } from '../../domain/evidence/receipt.ts';
import type { Replayed, ReplayInput } from '../../domain/worker/second-verdict.ts';
import type { Tried } from '../../ports.ts';
import { digestOf } from '../../receipts/canonical.ts';
import { decisionOf, REPLAYED, replayFinding } from '../../receipts/replay.ts';
import { contextOf, sealBundle } from '../../receipts/bundle/seal.ts';
import type { Deps } from '../worker/context.ts';
import { cancellable } from '../worker/heartbeat.ts';
import { onSoundBase, openOrigin, type Origin } from '../prepare/origin.ts';
import { persist } from '../worker/persist.ts';
import { readRunPolicy } from '../prepare/read-policy.ts';
import { spacesFor } from './trial-space.ts';

export type ReplayAnswer = { ok: true; replayed: Replayed } | { ok: false; failure: Failure };

/** What this worker lacks, whatever the result is. */
const OWN_FAULTS: ReadonlySet<Reason> = new Set([
  'invalid-task',
  'repo-unavailable',
  'check-cannot-start',
  'setup-failed',
]);

/** The one before it in this process. */
let last: Promise<unknown> = Promise.resolve();

/** Verifies from nothing what another worker has accepted: fetches the result, and tries it out again. One at a time. */
export async function replayResult(deps: Deps, order: ReplayInput): Promise<ReplayAnswer> {
  return cancellable(
    () => ({ runId: order.runId, state: 'verifying' }),
    (signal) => {
      const mine = last.then(() => replay(deps, order, signal));
      last = mine.catch(() => undefined);
      return mine;
    },
  );
}

async function replay(deps: Deps, order: ReplayInput, signal: AbortSignal): Promise<ReplayAnswer> {
  signal.throwIfAborted();
  const open = () => openOrigin(deps, { task: order.task, base: order.base, signal });
  const origin = await open();
  if (!origin.ok) return origin;
  const dir = `${deps.home.scratch}/replay-${order.taskId}-${order.runId}`;
  const giveBack = deps.registry.borrow({ ...order, runId: `${order.runId}-replay` }, origin.baseDir);
  try {
    return await onSoundBase(origin.baseDir, { open, work: () => again(deps, order, { origin, dir, signal }) });
  } finally {
    giveBack();
    await removeTree(dir);
  }
}

async function again(
  deps: Deps,
  order: ReplayInput,
  { origin, dir, signal }: { origin: Extract<Origin, { ok: true }>; dir: string; signal: AbortSignal },
): Promise<ReplayAnswer> {
  const { baseDir, base } = origin;
  const gitDir = `${dir}/result.git`;
  const place = { base, baseDir, dir: gitDir };

  // 1. What is asked for, as the base says, not the other worker.
  const read = await readRunPolicy(deps, { task: order.task, origin, signal });
  if (!read.ok) return read;
  const { policy } = read;

  // 2. The result, and nothing else of the other worker's.
  if (order.ref && order.task.repo) {
    const opened = await openSource({ repo: order.task.repo, mirrorDir: deps.home.mirror });
    if (!opened.ok) return opened;
    const fetched = await fetchResult({
      ...{ ...place, source: opened.source, ref: order.ref, commit: order.commit, signal },
    });
    if (!fetched.ok) return fetched;
  } else await emptyResult(place);
  const result = await resultOf({ gitDir, base, commit: order.commit });

  // 3. The trials.
  const evidence: Tried = {
    ...{ policy, result, checkout: origin.checkout, heldOutDir: deps.home.heldOut, unseal: deps.keys.openSealed },
    // It passed again where the result was accepted.
    setUp: true,
    passed: {},
    ...spacesFor(deps, order, {
      dir: (name) => `${dir}/${name}`,
      log: (name) => `${dir}/${name}.log`,
      prepared: { task: order.task, policy, base, baseDir, sealed: origin.sealed },
      signal,
    }),
  };
  const findings: Found[] = [];
  for (const { kind, collect } of REPLAYED) {
    const finding = await persist(deps, () => collect(evidence), signal);
    if (finding) findings.push({ kind, ...finding });
  }
  signal.throwIfAborted();
  const unavailable = findings.find(({ reason }) => reason !== undefined && OWN_FAULTS.has(reason));
  const { name, machine, version } = deps.worker;
  if (unavailable)
    return { ok: false, failure: { reason: unavailable.reason!, message: `worker ${name}: ${unavailable.summary}` } };
  const decision = decisionOf({ tree: result.tree, policy }, findings);

  // 4. Both have their say in one bundle.
  const worker = { name, machine, version };
  findings.push({ kind: 'replay', ...replayFinding(order.decision, { decision, worker }) });
  const sealed = sealBundle({
    ...{ findings, verdict: verdictOf(findings), signer: deps.keys.signer, previous: order.bundle },
    context: contextOf(order.bundle, { worker, at: new Date().toISOString() }),
  });
  const replayed: Replayed = {
    ...{ worker: name, machine, decision, digest: digestOf(decision) },
    lines: sealed.text.slice(order.bundle.length),
    receipt: sealed.receipts.at(-1)!,
    verdict: sealed.verdict.digest,
  };
  return { ok: true, replayed };
}
