import type { Seen } from '../domain/patrol.ts';
import { WORKFLOW_TYPE } from '../domain/names.ts';
import type { TaskState } from '../domain/run.ts';
import { ATTRIBUTES } from '../workflows/attributes.ts';
import { canClaim } from './explain.ts';
import { standingOf } from './standing.ts';
import { Attended, stateOf, viewTask, type TaskReport } from './view.ts';
import { mapBounded, type Wire } from './wire.ts';
import { isAttached, listWorkers } from './workers.ts';

const WIDTH = 12;
/** Of each state, the oldest: a round is short. */
const LOOKED_AT = 200;
const LOOK_AT: readonly TaskState[] = [
  'queued',
  'blocked',
  'setting-up',
  'running',
  'verifying',
  'delivering',
  'awaiting-quota',
  'awaiting-checks',
  'parked',
  'awaiting-approval',
  'awaiting-answer',
];

export interface Around {
  states: Partial<Record<TaskState, number>>;
  /** Open tasks, of each state the oldest ones. */
  seen: Seen[];
  /** What agents proposed and no rule allows, as long as it waits for a first yes; oldest first. */
  proposals: { id: string; approval: string }[];
  /** Runs that attached workers have room for now. */
  free: number;
}

interface Listed {
  id: string;
  state: TaskState;
  dependsOn: readonly string[];
}

/** All open tasks by one list; those that something may be wrong with are looked at. */
export async function lookAround(wire: Wire): Promise<Around> {
  const [listed, workers] = await Promise.all([listOpen(wire), listWorkers(wire)]);
  const attached = workers.filter(isAttached);
  const states: Around['states'] = {};
  for (const { state } of listed) states[state] = (states[state] ?? 0) + 1;

  const stateById = new Map<string, TaskState>(listed.map(({ id, state }) => [id, state]));
  const elsewhere = listed.flatMap(({ state, dependsOn }) => (state === 'blocked' ? dependsOn : []));
  for (const [id, state] of await standingOf(
    wire,
    elsewhere.filter((id) => !stateById.has(id)),
  ))
    stateById.set(id, state);

  const blockedByOpen = ({ state, dependsOn }: Listed) =>
    state === 'blocked' && dependsOn.length > 0 && dependsOn.every((id) => listed.some((other) => other.id === id));
  const looked = LOOK_AT.flatMap((state) =>
    listed.filter((one) => one.state === state && !blockedByOpen(one)).slice(0, LOOKED_AT),
  );
  const attended = new Attended(wire);
  const reports = await mapBounded(looked, WIDTH, ({ id }) => viewTask(wire, id, attended).catch(() => undefined));
  const known = reports.flatMap((report) => report ?? []);
  return {
    states,
    seen: known.map((report) => ({
      ...{ id: report.id, title: report.title, state: report.state, reason: report.reason, message: report.message },
      since: sinceOf(report),
      claimable: attached.some((worker) => canClaim(worker, report.claimQueue)),
      waitsFor: (report.dependsOn ?? []).map(({ id, state }) => ({
        id,
        told: state,
        state: stateById.get(id) ?? null,
      })),
    })),
    proposals: known.flatMap(({ id, proposed, approval }) =>
      proposed && approval?.stage === 'before-run' ? { id, approval: approval.id } : [],
    ),
    free: attached.reduce((sum, { view }) => {
      const open = view && view.holds.length === 0 && !view.leaving;
      return sum + (open ? Math.max(0, view.slots.total - view.slots.used) : 0);
    }, 0),
  };
}

/** Oldest first. */
async function listOpen({ client }: Wire): Promise<Listed[]> {
  const listed: Listed[] = [];
  const query = `WorkflowType = '${WORKFLOW_TYPE}' AND ExecutionStatus = 'Running'`;
  for await (const task of client.workflow.list({ query, pageSize: 1_000 })) {
    const dependsOn = task.typedSearchAttributes.get(ATTRIBUTES.dependsOn) ?? [];
    listed.push({ id: task.workflowId, state: stateOf(task), dependsOn });
  }
  return listed.toReversed();
}

/** Since when it waits as it does; of a run the last sign. */
function sinceOf({ state, since, live, runs, approval, question, createdAt }: TaskReport): string {
  const run = runs.at(-1);
  if (state === 'awaiting-approval' && approval) return approval.since;
  if (state === 'awaiting-answer' && question) return question.askedAt;
  if (run && !run.endedAt) return live?.lastEventAt ?? since ?? run.startedAt;
  return since ?? run?.endedAt ?? createdAt;
}
