import { endRun, free } from './activities.ts';
import { outcomeOf } from './agents.ts';
import type { HeldRun, Work } from './attempt.ts';
import { using } from './steps.ts';
import type { Worker } from './worker.ts';

const QUIET_MS = 20_000;

/** As src/workers/health/reaper.ts: frees what no open task owns any more, and tells of what it has of it. */
export function* reap(on: Worker): Work<void> {
  const { clock } = on.world;
  const quiet = [...on.disk.values()].filter(
    ({ runId, retired }) =>
      !retired && !on.busy.get(runId) && clock.now - (on.touched.get(runId) ?? on.startedAt) >= QUIET_MS,
  );
  for (const run of quiet) {
    const task = yield* standing(on, run);
    if (task === 'owns' || task === 'unknown') continue;
    if (task === 'candidate') {
      run.retired = true;
      on.world.server.pump('fleet');
    } else if (!(yield* using(on, run, abandon(on, run, task !== 'closed')))) return;
  }
  for (const run of [...on.disk.values()].filter(({ retired }) => retired)) {
    const task = yield* standing(on, run);
    if (task === 'settled' || task === 'closed') free(on, run);
    if (task === 'lost' && !(yield* using(on, run, abandon(on, run, true)))) return;
  }
}

/** False where the task could not be told. */
function* abandon(on: Worker, run: HeldRun, open: boolean): Work<boolean> {
  const { world } = on;
  const { runId, taskId } = run;
  world.checker.say(`${on.name}: abandons ${runId} of ${taskId}`);
  yield* endRun(on, run, 'superseded');
  const agent = on.keeper.agents.get(runId);
  if (run.prepared && agent && !agent.crashed) run.outcome ??= outcomeOf(agent, world.clock.now);
  yield world.random.spread(5, 2_000);
  const finished = open && run.outcome !== undefined && run.outcome.stopped === null;
  if (open && !on.inContact) return false;
  if (open) world.server.workflows.get(taskId)?.signal('lateResult', { runId, saved: null, finished });
  world.reached(on, `told ${taskId}`);
  yield 1;
  if (finished) run.retired = true;
  else free(on, run);
  world.server.pump('fleet');
  return true;
}

function* standing(
  on: Worker,
  { taskId, runId, retired }: HeldRun,
): Work<'owns' | 'candidate' | 'lost' | 'settled' | 'closed' | 'unknown'> {
  yield on.world.random.between(2, 60);
  if (!on.inContact) return 'unknown';
  const workflow = on.world.server.workflows.get(taskId);
  if (!workflow || workflow.closed) return 'closed';
  const run = workflow.view?.runs.find((other) => other.runId === runId);
  if (run?.endedAt === null) return 'owns';
  if (run?.late === 'candidate') return 'candidate';
  return (run ? run.late || run.reason !== 'host-lost' : retired) ? 'settled' : 'lost';
}
