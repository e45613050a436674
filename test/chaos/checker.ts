import type { TaskState } from '../../src/domain/task/state.ts';
import { overlaps, type Life } from '../helpers/journal.ts';
import type { Entry } from './history.ts';

export interface Verdict {
  /** Tasks that the server had confirmed. */
  acknowledged: number;
  /** Tasks whose enqueueing got no answer; `there`: the server had taken them all the same. */
  indeterminate: { there: number; missing: number };
  ended: Partial<Record<TaskState, number>>;
  runs: number;
  /** Runs that ended as lost, for no fault of their agents. */
  lostRuns: number;
  /** Agents that had slept beyond their lease, and were ended after they woke up. */
  lateSleepers: number;
  /** Nothing of it may happen; each one sentence. */
  violations: string[];
}

/** After a sleep: one tick, then the fence ladder, and a second for a busy machine. */
const AWAKE_SECONDS = 1 + 5 + 1;
const CLOSED: readonly TaskState[] = ['done', 'failed', 'cancelled'];
const SETTLED: readonly TaskState[] = [...CLOSED, 'parked'];

/** What a history says about the fleet's promises. Pure. */
export function check(history: readonly Entry[]): Verdict {
  const facts = gather(history);
  const ended = [...facts.final.values()].map(({ state }) => state);
  const runs = [...facts.final.values()].flatMap((task) => task.runs);
  const { sleepers, violations: doubledAgents } = agents(facts);
  return {
    acknowledged: facts.acknowledged.size,
    indeterminate: {
      there: [...facts.unknown].filter((id) => facts.final.has(id)).length,
      missing: [...facts.unknown].filter((id) => !facts.final.has(id)).length,
    },
    ended: Object.fromEntries([...new Set(ended)].map((state) => [state, ended.filter((it) => it === state).length])),
    runs: runs.length,
    lostRuns: runs.filter(({ reason }) => reason === 'host-lost').length,
    lateSleepers: sleepers,
    violations: [
      ...lost(facts),
      ...reopened(history),
      ...doubledAgents,
      ...deliveries(facts),
      ...attempts(facts),
      ...of(history, 'stray').map(({ what }) => `stray: ${what}`),
    ],
  };
}

type Of<K extends Entry['kind']> = Extract<Entry, { kind: K }>;
const of = <K extends Entry['kind']>(history: readonly Entry[], kind: K): Of<K>[] =>
  history.filter((entry): entry is Of<K> => entry.kind === kind);

interface Facts {
  acknowledged: Set<string>;
  unknown: Set<string>;
  final: Map<string, Of<'final'>>;
  lives: Life[];
  wakes: number[];
  together: Of<'together'>[];
  delivered: Map<string, Of<'delivered'>[]>;
}

function gather(history: readonly Entry[]): Facts {
  const enqueued = of(history, 'operation').filter(({ what }) => what === 'enqueue');
  const delivered = new Map<string, Of<'delivered'>[]>();
  for (const each of of(history, 'delivered')) delivered.set(each.id, [...(delivered.get(each.id) ?? []), each]);
  return {
    acknowledged: new Set(enqueued.filter(({ answer }) => answer === 'ok').map(({ id }) => id)),
    unknown: new Set(enqueued.filter(({ answer }) => answer === 'unknown').map(({ id }) => id)),
    final: new Map(of(history, 'final').map((entry) => [entry.id, entry])),
    lives: of(history, 'life').map(({ life }) => life),
    wakes: of(history, 'wake').map(({ at }) => at),
    together: of(history, 'together'),
    delivered,
  };
}

/** Acknowledged and not there, or never ended. */
function lost({ acknowledged, final }: Facts): string[] {
  const missing = [...acknowledged].filter((id) => !final.has(id)).map((id) => `lost: ${id} was acknowledged`);
  const open = [...final.values()].filter(({ state }) => !CLOSED.includes(state));
  return [...missing, ...open.map(({ id, state }) => `stuck: ${id} is ${state} after everything was healed`)];
}

/** A task ends once. */
function reopened(history: readonly Entry[]): string[] {
  const states = new Map<string, TaskState>();
  return history.flatMap((entry) => {
    if (entry.kind !== 'seen' && entry.kind !== 'final') return [];
    const before = states.get(entry.id);
    states.set(entry.id, entry.state);
    return before && before !== entry.state && CLOSED.includes(before)
      ? [`ended twice: ${entry.id} was ${before}, then ${entry.state}`]
      : [];
  });
}

function agents({ lives, wakes, together }: Facts): { sleepers: number; violations: string[] } {
  const asleep = (life: Life, other: Life) =>
    wakes.some((at) => at > life.from && at > other.from && life.to >= at && life.to - at <= AWAKE_SECONDS);
  const pairs = overlaps(lives);
  const bad = pairs.filter(([one, two]) => !asleep(one, two) && !asleep(two, one));
  const awake = together.filter(({ at }) => !wakes.some((wake) => Math.abs(at - wake) <= AWAKE_SECONDS));
  return {
    sleepers: pairs.length - bad.length,
    violations: [
      ...bad.map(([one, two]) => `two live agents of ${one.taskId}: ${one.runId} and ${two.runId}`),
      ...awake.map(({ id, runIds }) => `two live agents of ${id} seen at once: ${runIds.join(' and ')}`),
      ...lives
        .filter(({ starts }) => starts > 1)
        .map(({ taskId, runId, starts }) => `launched ${starts} times: run ${runId} of ${taskId}`),
    ],
  };
}

/**
 * Done: delivered once, by the run that was accepted. Failed, cancelled or parked: not delivered. One that goes on may deliver after
 * it was looked at, and is told as stuck.
 */
function deliveries({ final, delivered }: Facts): string[] {
  const unknown = [...delivered.keys()].filter((id) => !final.has(id)).map((id) => `delivered, and unknown: ${id}`);
  const wrong = [...final.values()].flatMap(({ id, state, runs }) => {
    if (!SETTLED.includes(state)) return [];
    const found = delivered.get(id) ?? [];
    const accepted = runs.filter(({ reason }) => reason === null).map(({ runId }) => runId);
    if (state !== 'done') return found.length ? [`delivered, and ${state}: ${id}`] : [];
    if (accepted.length !== 1) return [`accepted ${accepted.length} times: ${id}`];
    if (new Set(found.map(({ commit }) => commit)).size !== 1 || found.length !== 1)
      return [`delivered ${found.length} times: ${id}`];
    return found[0]!.by === accepted[0] ? [] : [`delivered by ${found[0]!.by}, accepted was ${accepted[0]}: ${id}`];
  });
  return [...unknown, ...wrong];
}

/** What the infrastructure broke is not on the agent's account. */
function attempts({ final }: Facts): string[] {
  return [...final.values()].flatMap(({ id, runs }) =>
    runs
      .filter(({ reason, counts }) => reason === 'host-lost' && counts)
      .map(({ runId }) => `an attempt for a lost worker: run ${runId} of ${id}`),
  );
}
