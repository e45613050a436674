import type { TaskView } from '../view/task-view.ts';
import type { TaskState } from '../task/state.ts';
import { repositoryName } from '../repository/repository-name.ts';
import type { Task } from '../task/schema.ts';
import type { Dependency, Result } from '../people/waiting.ts';

/** As one begins that has not said how it stands. */
export const unheard = (id: string): Dependency => ({
  ...{ id, state: null, reason: null, message: null, repo: null, commit: null },
});

/** How a task begins: a client says so before any worker has looked at it. */
export const stateAtStart = ({ dependsOn }: Pick<Task, 'dependsOn'>): 'blocked' | 'queued' =>
  dependsOn.length > 0 ? 'blocked' : 'queued';

/** What follows for a task from how those stand that it depends on. */
export type Standing =
  | { next: 'go' }
  | { next: 'wait'; message: string }
  /** `cancel`: it is closed; `park`: a person decides. */
  | { next: 'cancel' | 'park'; message: string };

export const isClosed = (state: TaskState | null): boolean =>
  state === 'done' || state === 'failed' || state === 'cancelled';

/** Pure. A parked one may still end well; one that failed or was cancelled will not. */
export function standing(dependencies: readonly Dependency[], onFailure: Task['onDependencyFailure']): Standing {
  const open = dependencies.filter(({ state }) => state !== 'done');
  const bad = open.filter(({ state }) => state === 'parked' || isClosed(state));
  const gone = bad.filter(({ state }) => isClosed(state));
  if (onFailure === 'cancel' && bad.length > 0) return { next: 'cancel', message: bad.map(sentenceOf).join('; ') };
  if (onFailure === 'wait' && gone.length > 0) return { next: 'park', message: gone.map(sentenceOf).join('; ') };
  const waiting = onFailure === 'run' ? open.filter((one) => !bad.includes(one)) : open;
  if (waiting.length === 0) return { next: 'go' };
  return { next: 'wait', message: `it waits for ${waiting.map(named).join(', ')}` };
}

/** What a task says to those that depend on it: where it was merged, they start from there; from what nobody was given, nowhere. */
export const standingFor = (
  view: Pick<TaskView, 'id' | 'state' | 'reason' | 'message' | 'repo' | 'branch' | 'commit' | 'merged'>,
): Dependency => {
  const { id, state, reason, message, repo, branch, commit, merged } = view;
  return { id, state, reason, message, repo, commit: merged?.commit ?? (branch ? commit : null) };
};

/** The results that a task of that repository starts from: none, where no dependency left one there. */
export const resultsIn = (repo: string | undefined, dependencies: readonly Dependency[]): Result[] =>
  dependencies.flatMap(({ id, state, commit, ...of }) =>
    repo && of.repo && repositoryName(of.repo) === repositoryName(repo) && state === 'done' && commit
      ? { id, commit }
      : [],
  );

/** Task ids by what they depend on: a path that leads back to where it began, or undefined. */
export function cycleIn(edges: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const over = new Set<string>();
  const visit = (id: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(id)) return [...path.slice(path.indexOf(id)), id];
    if (over.has(id)) return undefined;
    for (const next of edges.get(id) ?? []) {
      const found = visit(next, [...path, id]);
      if (found) return found;
    }
    over.add(id);
    return undefined;
  };
  for (const id of edges.keys()) {
    const found = visit(id, []);
    if (found) return found;
  }
  return undefined;
}

/** Those that depend on nothing of the others first, then level by level. There must be no cycle. */
export function levelsOf<T extends { id: string; dependsOn: readonly string[] }>(items: readonly T[]): T[][] {
  const left = new Map(items.map((item) => [item.id, item]));
  const levels: T[][] = [];
  while (left.size > 0) {
    const level = [...left.values()].filter(({ dependsOn }) => !dependsOn.some((id) => left.has(id)));
    if (level.length === 0) throw new Error('a cycle');
    for (const { id } of level) left.delete(id);
    levels.push(level);
  }
  return levels;
}

function sentenceOf({ id, state, reason, message }: Dependency): string {
  const why = [reason, message].filter(Boolean).join(': ');
  return `task ${id}, which this one depends on, ${state === 'parked' ? 'is' : 'was'} ${state}${why ? ` (${why})` : ''}`;
}

const named = ({ id, state, reason }: Dependency): string =>
  `task ${id}${state ? ` (${state}${reason ? `: ${reason}` : ''})` : ''}`;
