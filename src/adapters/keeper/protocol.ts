import type { RunRef } from '../../domain/view/task-view.ts';
import type { ExitRecord, Isolation, StopReason } from '../../domain/run/outcome.ts';
import type { Secrets } from '../../domain/secrets/redaction.ts';
import type { ResourceLimits } from '../sandbox/cgroup.ts';
import type { IsolationPlan } from '../sandbox/plan.ts';
import type { ProcessIdentity } from '../program/process.ts';

/** What goes over the keeper's socket: one JSON text a line, `{ id, op, args }` there, `Response` back, in any order. */

export const PROTOCOL = 2;

export interface Operations {
  /** First on each connection. What the last one says holds for all runs. */
  hello: { asks: Hello; answers: { protocol: number; pid: number } };
  launch: { asks: LaunchInput; answers: LaunchAnswer };
  /** Does not wait for the end. Only the first reason of a run counts; false: there is nothing to stop. */
  stop: { asks: RunRef & { reason: StopReason }; answers: { stopping: boolean } };
  status: { asks: RunRef; answers: RunStatus };
  list: { asks: object; answers: HeldRun[] };
  /** Answers when the run is no longer live. */
  wait: { asks: RunRef; answers: RunEnd };
  /** `sentAtBootSeconds`: when the last message that the Temporal server has answered was sent, see `bootSeconds`. */
  contact: { asks: { sentAtBootSeconds: number }; answers: object };
  /** Drops an ended run from `list`; its files stay. */
  forget: { asks: RunRef; answers: object };
}
export type Operation = keyof Operations;

export interface Hello {
  protocol: number;
  /** Milliseconds without contact after which every run is stopped as `host-lost`. */
  selfKillMs: number;
  ladder: Ladder;
}

/** Milliseconds between the signals of a stop: INT, `intMs`, TERM, `termMs`, KILL; for a fenced run TERM, `fenceMs`, KILL. */
export interface Ladder {
  intMs: number;
  termMs: number;
  fenceMs: number;
}
export const DEFAULT_LADDER: Ladder = { intMs: 10_000, termMs: 10_000, fenceMs: 3_000 };

/** The run's folder must exist; it follows from the home and the ids. All paths are absolute. */
export interface LaunchInput extends RunRef, Omit<IsolationPlan, 'home'> {
  argv: string[];
  limits: ResourceLimits;
  /** Complete. */
  env: Record<string, string>;
  /** Values that its logs are kept without, by their names. */
  secrets?: Secrets;
  cwd: string;
  /** Followed by the end of the stream. */
  stdin: string;
  /** Made if missing; gets `stdout.<offset>` and `stderr.<offset>`. */
  logsDir: string;
  /** Where the tree finds a named pipe whose content becomes `hooks.<offset>`. An older keeper makes none. */
  hooks?: string;
  /** When the server was last asked whether this launch is still wanted, by `bootSeconds`; it counts as contact. */
  askedAtBootSeconds: number;
  /** Milliseconds from the launch after which the run is stopped as `timed-out`, worker or no worker. */
  deadlineMs: number;
}

/**
 * `fresh: false`: this keeper held the run already. `already-launched`: an agent of this run was started, or may have been,
 * by a keeper that is gone; there is never a second one. `cannot-start`: none was started. `too-late`: none was, as the
 * task may have been claimed elsewhere since the server was asked.
 */
export type LaunchAnswer =
  | { ok: true; fresh: boolean; pid: number }
  | { ok: false; why: 'already-launched' | 'cannot-start' | 'too-late'; message: string };

/** `crashed`: launched, and its keeper died before its end; nothing of it is left. `unknown`: never launched. */
export type RunEnd = { state: 'ended'; exit: ExitRecord } | { state: 'crashed' } | { state: 'unknown' };

export interface LiveStatus {
  state: 'live';
  /** The tree's init: stays the same for the whole run. */
  pid: number;
  /** ISO */
  startedAt: string;
  /** ISO, null before the first byte. */
  lastOutputAt: string | null;
  stdoutBytes: number;
  stderrBytes: number;
  /** User and system milliseconds of the whole tree. */
  cpuMs: number;
  stopped: StopReason | null;
}
export type RunStatus = LiveStatus | RunEnd;
export type HeldRun = RunRef & {
  pid: number;
  startedAt: string;
  live: boolean;
  /** Processes that SIGKILL did not end within 15 s and that still live. */
  unkillable?: number[];
};

/** `launched.json`: made before anything is started, with the identity before the agent is. */
export interface LaunchedRecord extends RunRef {
  identity: ProcessIdentity | null;
  isolation: Isolation;
  /** ISO */
  startedAt: string;
}
