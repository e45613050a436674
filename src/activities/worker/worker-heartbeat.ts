import { Context } from '@temporalio/activity';
import { statfs } from 'node:fs/promises';
import type { WorkerIdentity, WorkerView } from '../../domain/worker/worker.ts';
import type { Deps } from './context.ts';
import { heartbeating } from './heartbeat.ts';

const EVERY_MS = 2_000;

/** Lasts as long as this worker's process, and says with each heartbeat how the worker stands. */
export async function workerHeartbeat(deps: Deps, { since }: { since: string }): Promise<void> {
  if (since !== deps.worker.startedAt) return;
  let freeBytes = await freeSpace(deps);
  const { cancelled, cancellationSignal } = Context.current();
  const look = async () => {
    for (;;) {
      await Context.current().sleep(EVERY_MS);
      cancellationSignal.throwIfAborted();
      freeBytes = await freeSpace(deps);
    }
  };
  await deps.presence.during(() =>
    heartbeating(
      () => viewOf(deps, freeBytes),
      () => Promise.race([look(), cancelled]),
    ),
  );
}

async function freeSpace({ home }: Deps): Promise<number | null> {
  return statfs(home.root).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => null,
  );
}

export function identityOf({ worker, coders }: Deps): WorkerIdentity {
  return {
    name: worker.name,
    machine: worker.machine,
    hostQueue: worker.hostQueue,
    queues: worker.queues,
    coders: [...coders].map(([name, { version }]) => ({ name, version })),
    since: worker.startedAt,
    version: worker.version,
    pid: process.pid,
  };
}

function viewOf(deps: Deps, freeBytes: number | null): WorkerView {
  const { config, registry, holds, tally } = deps;
  const defaultCoder = deps.defaultCoder();
  return {
    ...identityOf(deps),
    slots: { total: config.worker.slots, used: registry.size },
    runs: registry.list().map(({ taskId, runId, claimedAt }) => ({ taskId, runId, since: claimedAt })),
    holds: holds.reasons,
    closed: [...deps.coders.keys()].flatMap((coder) => deps.seats.closed(coder) ?? []),
    credentials: [...deps.coders.keys()].flatMap((coder) => deps.seats.of(coder)),
    ...(defaultCoder ? { defaultCoder } : {}),
    budgets: deps.budgets.spent(),
    ...(deps.fitness.inARow > 0 ? { failedInARow: deps.fitness.inARow } : {}),
    ...(deps.fitness.provedAt ? { provedAt: deps.fitness.provedAt } : {}),
    leaving: holds.causes.includes('leaving'),
    order: holds.order,
    stopped: holds.stopped,
    freeBytes,
    tally: tally.read(),
    at: new Date().toISOString(),
  };
}
