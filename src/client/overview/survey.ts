import { isClosed } from '../../domain/scheduling/dependencies.ts';
import type { Seen } from '../../domain/produce/patrol.ts';
import type { TaskState } from '../../domain/task/state.ts';
import { isOnWorker, type TaskRow } from '../../domain/list/task-row.ts';
import { canClaim } from '../explain/explain.ts';
import { lookAt } from '../read/list.ts';
import { listById, listRows } from '../read/rows.ts';
import { standingOf } from './standing.ts';
import { viewTask } from '../read/view.ts';
import { mapBounded, type FleetConnection } from '../connection.ts';
import { isAttached, listWorkers } from '../fleet/workers.ts';

const WIDTH = 12;
/** The most tasks of each state, the oldest first: a round is short. */
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

type States = ReadonlyMap<string, TaskState>;

/** All open tasks by one list; only runs that are on a worker, and blocked tasks that nothing seems to hold, are looked at. */
export async function lookAround(wire: FleetConnection): Promise<Around> {
  const [newest, workers] = await Promise.all([listRows(wire, `ExecutionStatus = 'Running'`), listWorkers(wire)]);
  const listed = newest.toReversed();
  const attached = workers.filter(isAttached);
  const counts: Around['states'] = {};
  for (const { state } of listed) counts[state] = (counts[state] ?? 0) + 1;

  const states = await statesOf(wire, listed);
  const open = new Set(listed.map(({ id }) => id));
  const isHeld = ({ state, dependsOn }: TaskRow) =>
    state === 'blocked' && dependsOn.length > 0 && dependsOn.every((id) => open.has(id));
  const shown = LOOK_AT.flatMap((state) =>
    listed.filter((row) => row.state === state && !isHeld(row)).slice(0, LOOKED_AT),
  );
  const seen = await mapBounded(shown, WIDTH, async (row): Promise<Seen> => {
    const { id, title, state, reason, message, claimQueue } = row;
    return {
      ...{ id, title, state, reason, message, since: await lastSign(wire, row) },
      claimable: attached.some((worker) => canClaim(worker, claimQueue)),
      waitsFor: state === 'blocked' ? await waitsFor(wire, row, states) : [],
    };
  });
  return {
    states: counts,
    seen,
    proposals: listed.flatMap(({ id, proposed, waits }) =>
      proposed && waits?.stage === 'before-run' && waits.approval ? { id, approval: waits.approval } : [],
    ),
    free: attached.reduce((sum, { view }) => {
      const open = view && view.holds.length === 0 && !view.leaving;
      return sum + (open ? Math.max(0, view.slots.total - view.slots.used) : 0);
    }, 0),
  };
}

/** The states of all open tasks, and of those that these wait for. One that lists do not have is asked for alone. */
async function statesOf(wire: FleetConnection, listed: readonly TaskRow[]): Promise<States> {
  const states = new Map(listed.map(({ id, state }) => [id, state]));
  const needed = listed.flatMap(({ state, dependsOn }) => (state === 'blocked' ? dependsOn : []));
  const unknown = (): string[] => [...new Set(needed)].filter((id) => !states.has(id));
  for (const { id, state } of await listById(wire, unknown())) states.set(id, state);
  for (const [id, state] of await standingOf(wire, unknown())) states.set(id, state);
  return states;
}

/** What it was told of them only its workflow knows: it is asked where nothing that is open holds it. */
async function waitsFor(wire: FleetConnection, { id, dependsOn }: TaskRow, states: States): Promise<Seen['waitsFor']> {
  const stand = dependsOn.map((one) => ({ id: one, state: states.get(one) ?? null }));
  const told = new Map(stand.map((one) => [one.id, one.state]));
  if (stand.every(({ state }) => !state || isClosed(state))) {
    const view = await viewTask(wire, id).catch(() => undefined);
    for (const one of view?.dependsOn ?? []) told.set(one.id, one.state);
  }
  return stand.map((one) => ({ ...one, told: told.get(one.id) ?? null }));
}

/** Since when it waits as it does; of a run the last sign. */
async function lastSign(wire: FleetConnection, row: TaskRow): Promise<string> {
  if (!isOnWorker(row)) return row.since;
  const { live, since } = await lookAt(wire, row);
  return live?.lastEventAt ?? since;
}
