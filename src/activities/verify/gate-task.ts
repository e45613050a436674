import { readJson, writeJson } from '../../adapters/disk/json-file.ts';
import { findingOf } from '../../domain/evidence/review.ts';
import { gatePrompt } from '../../domain/prompt/review-prompt.ts';
import type { Gated, RunRef } from '../../domain/view/task-view.ts';
import { askReviewer } from './ask-reviewer.ts';
import { requirePrepared, type Deps } from '../worker/context.ts';
import { cancellable } from '../worker/heartbeat.ts';
import { persist } from '../worker/persist.ts';

export type GateInput = RunRef & { /** What a person said since the last veto. */ said: string | null };

/** Asks the policy's reviewer whether the task should be worked on at all; a second call repeats the first's opinion. */
export async function gateTask(deps: Deps, order: GateInput): Promise<Gated> {
  const { gated } = deps.home.run(order.taskId, order.runId);
  const known = await readJson<Gated>(gated);
  if (known) return known;
  return cancellable(
    () => ({ runId: order.runId, state: 'setting-up' }),
    (signal) =>
      deps.registry.using(order, async () => {
        const answer = await ask(deps, order, signal);
        await persist(deps, () => writeJson(gated, answer), signal);
        return answer;
      }),
  );
}

async function ask(deps: Deps, order: GateInput, signal: AbortSignal): Promise<Gated> {
  signal.throwIfAborted();
  const { prepared, n } = requirePrepared(deps, order);
  const { task, policy, base, baseDir } = prepared;
  const { said } = order;
  const reviewed = await persist(deps, () =>
    askReviewer(deps, order, {
      ...{ prepared, signal },
      files: { gitDir: baseDir, commit: base },
      logFile: deps.home.task(order.taskId).runOf(n).reviewLog,
      prompt: (place) => gatePrompt({ ...place, task, policy, said }),
    }),
  );
  return { ...findingOf(reviewed, { commit: base }), at: new Date().toISOString() };
}
