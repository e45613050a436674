import { formatDuration } from '../values/duration.ts';
import type { Finding } from '../evidence/receipt.ts';
import { inWords } from '../artifact/artifact.ts';
import type { Task } from '../task/schema.ts';
import type { Asked } from './waiting.ts';

/** What the prompt of a run would tell beside the objective, as far as the task says it: never what is held out. */
export interface Brief {
  context?: string;
  /** Commands that must succeed. */
  verify?: string[];
  scope?: Task['scope'];
  artifacts?: string[];
}

/** Agents outside the fleet: programs or people that take tasks by name, and whose results workers verify. */

const PREFIX = 'outside:';

/** What stands in the place of a coder in a run that only verifies what such an agent handed in: no coder can have this name. */
export const outsideCoder = (as: string): string => `${PREFIX}${as}`;
export const isOutside = (coder: string): boolean => coder.startsWith(PREFIX);

export function briefOf({ context, verify, scope, artifacts }: Task): Brief {
  return {
    ...(context === undefined ? {} : { context }),
    ...(verify?.commands?.length ? { verify: verify.commands } : {}),
    ...((scope.allow ?? scope.protect) ? { scope } : {}),
    ...(artifacts.length ? { artifacts: artifacts.map(inWords) } : {}),
  };
}

/** A label of its search attributes finds what waits for a name. */
export const labelOf = (as: string): string => `for:${as}`;

export const DEFAULT_LEASE = '30m';
const SHORTEST_LEASE_MS = 1_000;
const LONGEST_LEASE_MS = 20 * 86_400_000;

/** What is wrong with a lease that nobody could mean. */
export const leaseFault = (leaseMs: number): string | undefined =>
  leaseMs >= SHORTEST_LEASE_MS && leaseMs <= LONGEST_LEASE_MS
    ? undefined
    : `a lease must be ${formatDuration(SHORTEST_LEASE_MS)} at least and ${formatDuration(LONGEST_LEASE_MS)} at most`;

/** A lease is some 7 events of the task's history, which the server ends at 51,200: the longer that is, the longer leases are. */
export const leastLeaseMs = (events: number): number =>
  events < 2_000 ? SHORTEST_LEASE_MS : events < 20_000 ? 60_000 : 3_600_000;

/** More than half of what is asked for is left: to write that down again is not worth it. */
export const heldLongEnough = (until: string, { leaseMs, nowMs }: { leaseMs: number; nowMs: number }): boolean =>
  Date.parse(until) - nowMs > leaseMs / 2;

/** Type of the failure by which the workflow says so: to the one who holds the task it is good news. */
export const STILL_HELD = 'StillHeld';

/** Who approved it in `approvals`, where the configuration lets a word do: its key. */
export const TRUSTED = 'outside.trusted';

export const TEXT_MAX = 20_000;

/** The next two: what is wrong with a question or a result, as a sentence that follows the task's id. */
export function askFault({ text, options, deadlineMs }: Asked): string | undefined {
  if (typeof text !== 'string' || !text.trim() || text.length > TEXT_MAX || !Array.isArray(options))
    return `a question must have some words, and ${TEXT_MAX} characters at most`;
  return deadlineMs === null || (deadlineMs > 0 && deadlineMs <= LONGEST_LEASE_MS)
    ? undefined
    : `a deadline must be ${formatDuration(LONGEST_LEASE_MS)} at most`;
}

export function handInFault(
  { repo, type, verify }: Pick<Task, 'repo' | 'type' | 'verify'>,
  { result, commit }: Pick<Submission, 'result' | 'commit'>,
): string | undefined {
  if (typeof result !== 'string' || !result.trim() || result.length > TEXT_MAX)
    return `a result must have some words, and ${TEXT_MAX} characters at most`;
  if (commit === undefined && type === 'code')
    return `it is of type ${type}: name the commit, or the branch, that has the work`;
  if (commit === undefined && repo && (verify?.commands?.length || verify?.heldOut?.length))
    return 'it has checks of its own: name the commit, or the branch, that they are to try, its base where nothing had to change';
  if (commit !== undefined && !repo) return 'it has no repository that a commit could be in';
  return commit === undefined || /^(?!-)[^\s\0~^:?*[\\]{1,200}$/.test(commit)
    ? undefined
    : 'its commit must be the name of a branch or tag, or a commit id';
}

/** What such an agent asks for. */
export interface LeaseRequest {
  as: string;
  leaseMs: number;
}

/** What it handed in. */
export interface Submission {
  as: string;
  /** Its own words, 20,000 characters at most. */
  result: string;
  /** A branch, tag or commit of the task's repository; missing: it has nothing but its words. */
  commit?: string;
}

/** Where a run's agent was none of the worker's: who it was, and the commit that was found. */
export interface ExternalSource {
  as: string;
  /** As it was handed in. */
  ref: string;
  commit: string;
}

/** The receipt of an end that nobody saw: it says so, and says no to nothing. */
export const unseen = ({ as, ref, commit }: ExternalSource): Finding => ({
  ok: true,
  summary: `not seen: ${as} works outside the fleet and handed in ${commit.slice(0, 12)}${ref.startsWith(commit) ? '' : ` (${ref})`}`,
  evidence: { seen: false, as, ref, commit },
});
