import { z } from 'zod';
import { formatDuration, toMs } from '../values/duration.ts';
import { CLOSED_STATES, type TaskState } from '../task/state.ts';
import { duration } from '../task/schema.ts';

/** What the patrol looks for, and what it makes of what it sees. */

/** Times after which it tells of a task. */
export const patrol = z
  .strictObject({
    /** Waits for a person's yes or answer. */
    awaiting: duration.default('4h'),
    parked: duration.default('1d'),
    /** Runs without a sign of it. */
    stale: duration.default('30m'),
    /** Is set up, verified or delivered without a sign of it. */
    slow: duration.default('6h'),
    /** Waits for its pull request, a merge queue, or a limit of its coder. */
    checks: duration.default('1d'),
    /** Waits where no worker can claim it. */
    unclaimed: duration.default('30m'),
    /** How many items of the backlog one round takes at most, where the fleet is idle. */
    take: z.int().min(0).max(100).default(1),
  })
  .prefault({});
export type PatrolConfig = z.output<typeof patrol>;

const text = z.string().trim().min(1, { error: 'must not be empty' }).max(1_000);
/** Where work comes from when there is none: one of `files`, `github` and `proposals`. */
export const backlog = z
  .array(
    z
      .strictObject({
        /** A folder of task files on the worker's machine. */
        files: text.optional(),
        /** `owner/name`: its open issues with the label. */
        github: z
          .string()
          .regex(/^[\w.-]+\/[\w.-]+$/, { error: 'must be <owner>/<name>' })
          .optional(),
        label: text.default('fleet-ready'),
        /** Follow-ups that wait for approval: this says yes to them. */
        proposals: z.literal(true).optional(),
        /** Fields of every task of the source. */
        task: z.record(z.string(), z.unknown()).default({}),
      })
      .refine(({ files, github, proposals }) => [files, github, proposals].filter(Boolean).length === 1, {
        error: 'must have one of files, github and proposals',
      }),
  )
  .max(50)
  .default([]);
export type BacklogSource = z.output<typeof backlog>[number];

/** An open task, as far as a patrol needs to know it. Times are ISO. */
export interface Seen {
  id: string;
  title: string;
  state: TaskState;
  reason: string | null;
  message: string | null;
  /** Since when it is as it is; for a run: its last sign. */
  since: string;
  /** Whether some attached worker could claim it. */
  claimable: boolean;
  /** What it was told of those that it waits for, and how they stand. */
  waitsFor: readonly { id: string; told: TaskState | null; state: TaskState | null }[];
}

export type FindingKind = 'awaiting' | 'parked' | 'stale' | 'unclaimed' | 'stuck';
export interface Finding {
  /** The same as long as nothing has changed. */
  key: string;
  kind: FindingKind;
  id: string;
  sentence: string;
}

const closed = (state: TaskState | null): boolean => CLOSED_STATES.some((end) => end === state);

/** Blocked tasks that were not told of an end: they are told to look again. */
export const missedEnds = (seen: readonly Seen[]): string[] =>
  seen.flatMap(({ id, state, waitsFor }) =>
    state === 'blocked' && waitsFor.some((other) => !closed(other.told) && (closed(other.state) || !other.state))
      ? id
      : [],
  );

/** What a person should know. */
export function findingsOf(seen: readonly Seen[], config: PatrolConfig, nowMs: number): Finding[] {
  return seen.flatMap((task) => {
    const { id, since } = task;
    const age = nowMs - Date.parse(since);
    const found = (kind: FindingKind, sentence: string): Finding[] => [
      { key: `${id}/patrol/${kind}/${since}`, kind, id, sentence },
    ];
    const over = (limit: string): boolean => age >= toMs(limit);
    const long = formatDuration(age);
    switch (task.state) {
      case 'awaiting-approval':
        return over(config.awaiting) ? found('awaiting', `has waited ${long} for approval${why(task)}`) : [];
      case 'awaiting-answer':
        return over(config.awaiting) ? found('awaiting', `has waited ${long} for an answer${why(task)}`) : [];
      case 'parked':
        return over(config.parked) ? found('parked', `has been parked for ${long}${why(task)}`) : [];
      case 'running':
        return over(config.stale) ? found('stale', `has given no sign of its run for ${long}`) : [];
      case 'queued':
        if (task.claimable || !over(config.unclaimed)) return [];
        return found('unclaimed', `has waited ${long}, and no attached worker can claim it`);
      case 'blocked': {
        const bad = task.waitsFor.filter(({ state }) => state === 'failed' || state === 'cancelled');
        if (bad.length === 0) return [];
        const ends = bad.map((other) => `${other.id} (${other.state})`).join(', ');
        return [{ key: `${id}/patrol/stuck/${ends}`, kind: 'stuck', id, sentence: `waits for ${ends}` }];
      }
      case 'setting-up':
      case 'verifying':
      case 'delivering':
        return over(config.slow) ? found('stale', `is ${task.state}, without a sign for ${long}${why(task)}`) : [];
      case 'awaiting-quota':
      case 'awaiting-checks':
        return over(config.checks) ? found('stale', `is ${task.state} for ${long}${why(task)}`) : [];
      case 'done':
      case 'failed':
      case 'cancelled':
        return [];
    }
  });
}

const why = ({ reason, message }: Seen): string => {
  const said = [reason, message].filter(Boolean).join(': ');
  return said ? ` (${said})` : '';
};

/** An item of the backlog whose task was made, and that could not be set aside. */
export interface Unsettled {
  id: string;
  /** The file, or the page. */
  from: string;
  /** As the configuration names it. */
  source: string;
}

/** What one round saw and did: its workflow's result. */
export interface PatrolRound {
  /** ISO */
  at: string;
  worker: string;
  /** How many tasks are in each open state. */
  states: Partial<Record<TaskState, number>>;
  /** Runs that the attached workers still have room for. */
  free: number;
  findings: Finding[];
  /** Keys of those that were told in this round. */
  told: string[];
  /** Tasks that were told to look again. */
  nudged: string[];
  /** Taken from the backlog. */
  taken: { id: string; from: string }[];
  /** Taken in this round or an earlier one: not taken again. */
  unsettled: Unsettled[];
  /** What could not be done, a sentence each. */
  troubles: string[];
}

/** What stays of the round before. */
export type PatrolMemory = Pick<PatrolRound, 'findings' | 'unsettled'>;
