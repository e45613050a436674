import { readFile } from 'node:fs/promises';
import { treeOf } from '../../adapters/git/entries.ts';
import { readJson, writeJson, writeText } from '../../adapters/disk/json-file.ts';
import { settledBy, type Replayed } from '../../domain/worker/second-verdict.ts';
import type { RunRef, Verified } from '../../domain/view/task-view.ts';
import type { PublicKey } from '../../domain/worker/worker.ts';
import { decisionOf, compareReplay as settleBundle } from '../../receipts/replay.ts';
import type { TrustedKey } from '../../receipts/bundle/trusted-keys.ts';
import { requirePrepared, type Deps } from '../worker/context.ts';
import { withdrawResults } from './offer-result.ts';
import { cancellable } from '../worker/heartbeat.ts';
import { keepResult } from '../save/keep-result.ts';
import { persist } from '../worker/persist.ts';

export type SettleInput = RunRef & {
  replayed: Replayed;
  /** Of the second worker, as its record has it. */ publicKey: PublicKey;
};

/** Compares what a second worker found with this one's own, and gives the final verdict; a second call repeats the first's. */
export async function compareReplay(deps: Deps, order: SettleInput): Promise<Verified> {
  const { verified: file } = deps.home.run(order.taskId, order.runId);
  const first = await readJson<Verified>(file);
  if (!first) throw new Error(`run ${order.runId} was not verified`);
  if (!first.elsewhere) return first;
  return cancellable(
    () => ({ runId: order.runId, state: 'verifying' }),
    (signal) => deps.registry.using(order, () => settle(deps, order, { first, signal })),
  );
}

async function settle(
  deps: Deps,
  { replayed, publicKey, ...ref }: SettleInput,
  { first, signal }: { first: Verified; signal: AbortSignal },
): Promise<Verified> {
  signal.throwIfAborted();
  const { prepared, n } = requirePrepared(deps, ref);
  const files = deps.home.run(ref.taskId, ref.runId);
  const { receipts: bundle } = deps.home.task(ref.taskId).runOf(n);
  const tree = await treeOf({ gitDir: files.result, commit: first.commit ?? prepared.base });
  const own = {
    ...{ text: await readFile(bundle, 'utf8'), task: ref.taskId, runId: ref.runId },
    decision: decisionOf({ tree, policy: prepared.policy }, first.receipts),
  };
  const trusted = [
    trust(deps.keys.shared.publicKey, deps.worker),
    trust(publicKey, { name: replayed.worker, machine: replayed.machine }),
  ];
  const settled = settleBundle(own, replayed, { trusted, now: Date.now() });
  const { text } = settled;
  if (text !== null) await persist(deps, () => writeText(bundle, text), signal);
  if (!settled.ok && first.commit) {
    const { commit } = first;
    await persist(deps, () => keepResult(deps, ref, { prepared, commit }), signal);
  }
  await withdrawResults(deps, ref, prepared);
  const end = settled.ok ? settled : { ...settled, holds: text !== null };
  const verified = settledBy(first, end, replayed);
  await persist(deps, () => writeJson(files.verified, verified), signal);
  return verified;
}

const trust = ({ id, key }: PublicKey, { name, machine }: { name: string; machine: string }): TrustedKey => ({
  ...{ id, key, worker: name, machine, notBefore: null, notAfter: null },
});
