import type { RunLine } from '../view/run-summary.ts';
import type { TaskState } from '../task/state.ts';

/** What a list of tasks says of one of them. */
export interface TaskFigures {
  id: string;
  state: TaskState;
  type: string | null;
  repo: string | null;
  coder: string | null;
  model: string | null;
  /** ISO */
  createdAt: string;
  /** ISO: closed, or of a parked one the end of its last run. */
  endedAt: string;
  runs: RunLine[];
}

export const GROUPINGS = ['type', 'coder', 'model', 'repo', 'day'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface StatsRow {
  /** `all` for the sum of all. */
  group: string;
  tasks: number;
  accepted: number;
  parked: number;
  failed: number;
  cancelled: number;
  /** Runs that were not accepted, by reason. */
  rejected: Record<string, number>;
  /** Seconds of accepted tasks, from their start to their end; null where there are none. */
  medianSeconds: number | null;
  tokens: number;
  /** As far as it is known: see `unpricedRuns`. */
  costUsd: number;
  /** Runs with tokens whose cost nobody knows. */
  unpricedRuns: number;
  /** All that was spent, by accepted tasks; null where none was accepted, or not all of the cost is known. */
  costPerAcceptedUsd: number | null;
}

/** A row for each group, most tasks first, or oldest day first; without a grouping none. */
export function statsBy(tasks: readonly TaskFigures[], by: Grouping): StatsRow[] {
  const groups = new Map<string, TaskFigures[]>();
  for (const task of tasks)
    for (const [group, part] of partsOf(task, by)) groups.set(group, [...(groups.get(group) ?? []), part]);
  const rows = [...groups].map(([group, parts]) => rowOf(group, parts));
  return rows.sort((one, other) =>
    by === 'day' ? compare(one.group, other.group) : other.tasks - one.tasks || compare(one.group, other.group),
  );
}

export const statsOf = (tasks: readonly TaskFigures[]): StatsRow => rowOf('all', tasks);

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
const UNKNOWN = 'unknown';

/** A task's runs may be of several coders: each has the runs that it made, and the one that ended it has the task's end. */
function partsOf(task: TaskFigures, by: Grouping): [string, TaskFigures][] {
  if (by === 'type') return [[task.type ?? UNKNOWN, task]];
  if (by === 'repo') return [[task.repo ?? 'none', task]];
  if (by === 'day') return [[localDay(task.endedAt), task]];
  const of = (run: RunLine): string => (by === 'coder' ? run.coder : [run.coder, run.model].filter(Boolean).join('/'));
  const last = task.runs.findLast(({ outcome }) => outcome === 'accepted') ?? task.runs.at(-1);
  if (!last) return [[task[by] ?? UNKNOWN, task]];
  return [...new Set(task.runs.map(of))].map((group) => {
    const runs = task.runs.filter((run) => of(run) === group);
    // To the others it is a task that somebody else ended.
    return [group, { ...task, runs, state: of(last) === group ? task.state : 'queued' }];
  });
}

function rowOf(group: string, tasks: readonly TaskFigures[]): StatsRow {
  const of = (state: TaskState) => tasks.filter((task) => task.state === state);
  const runs = tasks.flatMap((task) => task.runs);
  const rejected: Record<string, number> = {};
  for (const { outcome } of runs) if (outcome !== 'accepted') rejected[outcome] = (rejected[outcome] ?? 0) + 1;
  const accepted = of('done');
  const costUsd = Number(runs.reduce((sum, run) => sum + run.costUsd, 0).toPrecision(9));
  const unpricedRuns = runs.filter(({ unpriced }) => unpriced).length;
  return {
    ...{ group, tasks: tasks.length, accepted: accepted.length, parked: of('parked').length },
    ...{ failed: of('failed').length, cancelled: of('cancelled').length, rejected },
    medianSeconds: median(
      accepted.map((task) => Math.round((Date.parse(task.endedAt) - Date.parse(task.createdAt)) / 100) / 10),
    ),
    tokens: runs.reduce((sum, run) => sum + run.tokens, 0),
    ...{ costUsd, unpricedRuns },
    costPerAcceptedUsd: accepted.length > 0 && unpricedRuns === 0 ? costUsd / accepted.length : null,
  };
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return null;
  const value = sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return Math.round(value * 100) / 100;
}

function localDay(iso: string): string {
  const at = new Date(iso);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
