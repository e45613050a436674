import { ID_SHAPE } from '../names.ts';
import { splitSpec } from '../routing/route.ts';
import type { TaskView } from '../view/task-view.ts';

/** The same task on several coders, side by side: each is a task of its own. */

/** Room for the coder's name behind it in a task id. */
const ID_MAX = 36;
const NAME_MAX = 24;

export const isCompareId = (id: string): boolean => id.length <= ID_MAX && ID_SHAPE.test(id);
/** What the tasks of one comparison are listed by. */
export const compareLabel = (id: string): string => `compare:${id}`;

/** Task ids by `coder` or `coder:model`: the same list gives the same ids. */
export function candidateIds(id: string, specs: readonly string[]): Map<string, string> {
  const ids = new Map<string, string>();
  for (const spec of specs) {
    const name = spec
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, NAME_MAX)
      .replace(/^-+|-+$/g, '');
    const taken = [...ids.values()];
    const other = `${id}-${name}`;
    ids.set(spec, taken.includes(other) ? `${other}-${ids.size + 1}` : other);
  }
  return ids;
}

/** One coder's end of it. */
export interface Candidate {
  id: string;
  /** As asked for, e.g. `codex:o3`. */
  spec: string;
  coder: string;
  /** As it said; null where nobody knows. */
  model: string | null;
  state: TaskView['state'];
  reason: TaskView['reason'];
  message: string | null;
  accepted: boolean;
  attempts: number;
  seconds: number;
  tokens: number;
  costUsd: number;
  /** Tokens whose cost is unknown. */
  unpricedTokens: number;
  /** Files that differ from the base; null where there is no result. */
  files: number | null;
  /** Changed lines; null where the worker that has the diff did not answer. */
  lines: { added: number; removed: number } | null;
  /** What a reviewer said; null where none was asked. */
  review: boolean | null;
  branch: string | null;
  commit: string | null;
}

export function candidateOf(spec: string, view: TaskView, lines: Candidate['lines']): Candidate {
  const { usage, receipts, runs } = view;
  const asked = splitSpec(spec);
  const run = runs.at(-1);
  const git = receipts.find(({ kind }) => kind === 'git')?.evidence['files'] as Record<string, number> | undefined;
  const review = receipts.find(({ kind }) => kind === 'review');
  const end = view.endedAt ?? run?.endedAt ?? view.createdAt;
  return {
    ...{ id: view.id, spec, coder: view.coder ?? asked.coder, model: view.model ?? asked.model ?? null },
    ...{ state: view.state, reason: view.reason, message: view.message },
    accepted: view.state === 'done' && view.verdict?.accepted === true,
    attempts: runs.length,
    seconds: Math.round((Date.parse(end) - Date.parse(view.createdAt)) / 1_000),
    tokens: usage.inputTokens + usage.outputTokens,
    ...{ costUsd: usage.costUsd, unpricedTokens: usage.unpricedTokens ?? 0 },
    files: git ? Object.values(git).reduce((sum, count) => sum + count, 0) : null,
    lines,
    review: review ? review.ok : null,
    ...{ branch: view.branch, commit: view.commit },
  };
}

/** The best first: accepted by its receipts, then by a reviewer, then the cheaper, the one of fewer tokens, the faster. */
export function ranked(candidates: readonly Candidate[]): Candidate[] {
  const keys = (one: Candidate): number[] => [
    one.accepted ? 0 : 1,
    one.review === true ? 0 : one.review === null ? 1 : 2,
    // What nobody can price is not taken for cheap.
    one.unpricedTokens > 0 || (one.tokens === 0 && one.costUsd === 0) ? Infinity : one.costUsd,
    one.tokens || Infinity,
    one.seconds,
  ];
  return candidates.toSorted((one, other) => {
    const [mine, theirs] = [keys(one), keys(other)];
    const at = mine.findIndex((key, index) => key !== theirs[index]);
    return at < 0 ? 0 : (mine[at] ?? 0) < (theirs[at] ?? 0) ? -1 : 1;
  });
}

export const winnerOf = (candidates: readonly Candidate[]): Candidate | undefined =>
  ranked(candidates).find(({ accepted }) => accepted);

/** Lines that a patch adds and takes away. */
export function countLines(patch: string): { added: number; removed: number } {
  let [added, removed, inside] = [0, 0, false];
  for (const line of patch.split('\n')) {
    if (line.startsWith('diff --git ')) inside = false;
    else if (line.startsWith('@@')) inside = true;
    else if (inside && line.startsWith('+')) added += 1;
    else if (inside && line.startsWith('-')) removed += 1;
  }
  return { added, removed };
}
