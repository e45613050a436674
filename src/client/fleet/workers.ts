import type { WorkflowExecutionDescription } from '@temporalio/client';
import { RECORD_TYPE } from '../../domain/names.ts';
import type { WorkerRecord, WorkerView } from '../../domain/worker/worker.ts';
import { onServersClock } from './clock.ts';
import { decoded, isNotFound, mapBounded, type FleetConnection } from '../connection.ts';

/** A worker that is attached, or was: what its record says, and what it last said of itself. */
export interface FleetWorker extends Omit<WorkerRecord, 'state'> {
  /** `holding`: it takes no new work, and no person said so. `silent`: not heard of for a while, and not yet `lost`. */
  state: WorkerRecord['state'] | 'paused' | 'draining' | 'stopped' | 'holding' | 'silent';
  /** ISO, by the server's clock: `since` is by the worker's own, which may go wrong. */
  attachedAt: string;
  /** ISO, by the server's clock: its last sign; null where it has given none. */
  heardAt: string | null;
  /** Null where it is not attached, or has said nothing yet. */
  view: WorkerView | null;
}

const WIDTH = 16;
/** Beats come every two seconds; clocks differ, and a beat may be late. */
const LATE_MS = 5_000;

/** Whether its process is there, as far as anybody knows. */
export const isAttached = ({ state }: Pick<FleetWorker, 'state'>): boolean =>
  !['detached', 'lost', 'silent'].includes(state);

/** All workers that have a record, by name: also those that were lost, or left a few days ago. No worker needs to answer. */
export async function listWorkers(wire: FleetConnection): Promise<FleetWorker[]> {
  const ids: string[] = [];
  const query = `WorkflowType = '${RECORD_TYPE}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of wire.client.workflow.list({ query })) ids.push(workflowId);
  const found = await mapBounded([...new Set(ids)].sort(), WIDTH, (id) => describeWorker(wire, id));
  return found.flatMap((worker) => worker ?? []);
}

/** The names of their coders, by their records and by what they last said, which is sooner. */
export async function codersOf(wire: FleetConnection): Promise<Set<string>> {
  const workers = await listWorkers(wire);
  return new Set(workers.flatMap(({ coders, view }) => [...coders, ...(view?.coders ?? [])].map(({ name }) => name)));
}

/** The names of all workers that the server remembers. */
export async function workerNames({ client }: FleetConnection): Promise<string[]> {
  const names = new Set<string>();
  for await (const { memo } of client.workflow.list({ query: `WorkflowType = '${RECORD_TYPE}'` }))
    if (memo?.['record']) names.add((memo['record'] as WorkerRecord).name);
  return [...names].sort();
}

async function describeWorker(wire: FleetConnection, id: string): Promise<FleetWorker | undefined> {
  try {
    const described = await wire.client.workflow.getHandle(id).describe();
    const record = described.memo?.['record'] as WorkerRecord | undefined;
    if (!record) return undefined;
    const beat = record.state === 'attached' ? await lastBeat(wire, described, record.since) : undefined;
    const state = stateOf(record, beat);
    return {
      ...record,
      // Coders come and go while a worker is attached.
      coders: (beat?.view ?? record).coders,
      state,
      attachedAt: beat ? onServersClock(record.since, { saidAt: beat.view.at, heardMs: beat.atMs }) : record.since,
      heardAt: heardAt(record, beat),
      view: beat?.view ?? null,
    };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

interface Beat {
  view: WorkerView;
  /** When the server had it, by its clock. */
  atMs: number;
}

/** Beside the newest `attend` there may be one of an earlier process, until its time is up. */
async function lastBeat(
  { client }: FleetConnection,
  { raw }: WorkflowExecutionDescription,
  since: string,
): Promise<Beat | undefined> {
  const beats = await Promise.all(
    (raw.pendingActivities ?? []).map(async ({ heartbeatDetails, lastHeartbeatTime }) => {
      const view = (await decoded(client, heartbeatDetails?.payloads ?? [])) as WorkerView | undefined;
      if (view?.since !== since) return [];
      return { view, atMs: Number(lastHeartbeatTime?.seconds ?? 0) * 1_000 };
    }),
  );
  return beats.flat().sort((one, other) => other.atMs - one.atMs)[0];
}

function heardAt({ state, changedAt, lease }: WorkerRecord, beat: Beat | undefined): string | null {
  if (beat) return new Date(beat.atMs).toISOString();
  if (state !== 'lost') return null;
  // It was noted as lost when its lease had passed without a sign.
  return new Date(Date.parse(changedAt) - lease.heartbeatMs - lease.graceMs).toISOString();
}

function stateOf(record: WorkerRecord, beat: Beat | undefined): FleetWorker['state'] {
  const { state, lease, since, changedAt } = record;
  if (state !== 'attached') return state;
  const ageMs = Date.now() - (beat?.atMs ?? Math.max(Date.parse(since), Date.parse(changedAt)));
  // Where no worker carries the record on, nobody notes that this one was lost.
  if (ageMs > lease.heartbeatMs + lease.graceMs + LATE_MS) return 'lost';
  if (ageMs > lease.heartbeatMs + LATE_MS) return 'silent';
  if (!beat) return state;
  const { view } = beat;
  if (view.order?.mode === 'stop') return 'stopped';
  if (view.leaving || view.order?.mode === 'drain') return 'draining';
  if (view.order) return 'paused';
  return view.holds.length > 0 ? 'holding' : state;
}
