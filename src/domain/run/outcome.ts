import type { CoderFailure, Usage } from '../agent/event.ts';
import type { Reason } from '../agent/failure.ts';
import type { FollowUp } from '../people/outbox.ts';
import type { ExternalSource } from '../people/external-agent.ts';
import type { Quota } from '../agent/quota.ts';
import type { Asked } from '../people/waiting.ts';

/** How a run's agent ended. */

/** Why an agent was stopped by its worker or keeper. The first one wins. */
export type StopReason = Extract<
  Reason,
  | 'stalled'
  | 'overloaded'
  | 'timed-out'
  | 'over-budget'
  | 'waiting-for-permission'
  | 'asked'
  | 'cancelled'
  | 'host-lost'
  | 'killed'
  | 'superseded'
  | 'disk'
>;

/** How one output stream ended: all bytes that the agent wrote, also those no longer kept. */
export interface StreamRecord {
  bytes: number;
  sha256: string;
}

/** Written by the keeper, once, when nothing of the run's process tree is left. */
export interface ExitRecord {
  exitCode: number | null;
  /** E.g. `SIGKILL`. From a shell's status: an agent that exits with 128 + n looks the same. */
  signal: string | null;
  stopped: StopReason | null;
  /** Processes still alive when the agent's own process had ended; they were killed with the tree. */
  leftover: number;
  /** Set where the kernel killed something of it for want of memory. */
  outOfMemory?: true;
  /** Set where the run's limit of processes refused one. */
  outOfProcesses?: true;
  /** Set where only each process is held to limits, and not all together, as control groups cannot be written. */
  unlimited?: true;
  /** Set where something of the tree was still alive 15 s after SIGKILL; the keeper goes on trying. */
  unclean?: true;
  /** How often a secret was left out of its logs; missing: never. */
  redacted?: number;
  /** How the tree was held: `namespace`, or `process-group` where namespaces are missing. */
  isolation: Isolation;
  startedAt: string;
  endedAt: string;
  stdout: StreamRecord;
  stderr: StreamRecord;
  /** What came out of the hooks' pipe; missing where there was none. */
  hooks?: StreamRecord;
}

/** What a shell, and the loader of a program, ends with where the program cannot be run. */
export const CANNOT_RUN: readonly (number | null)[] = [126, 127];
/** Milliseconds: a program that ran longer could be run, and may print nothing before its end. */
const START_MS = 60_000;

/** Why a program that died, or could not be run, before it said a word was never at work; undefined where it may have been. */
export function neverWorked(exit: ExitRecord): string | undefined {
  const { exitCode, signal, stopped, stdout, outOfMemory, outOfProcesses } = exit;
  if (stopped || stdout.bytes > 0 || outOfMemory || outOfProcesses) return undefined;
  if (Date.parse(exit.endedAt) - Date.parse(exit.startedAt) > START_MS) return undefined;
  if (signal) return `was ended by ${signal} before it said anything`;
  return CANNOT_RUN.includes(exitCode) ? `cannot be run here (exit code ${exitCode})` : undefined;
}

export type Isolation = 'namespace' | 'process-group';

/** The end of a run's agent, with what its output said. */
export interface AgentOutcome extends ExitRecord {
  /** One sentence on why it was stopped, where there is more to say than the reason. */
  why?: string;
  session: string | null;
  /** The model that the agent says it used. */
  model: string | null;
  /** The coder's own terminal event, null where there was none. */
  ended: { ok: boolean; failure: CoderFailure | null } | null;
  /** The agent's last words, 2,000 characters at most. It changes nothing. */
  claim: string;
  /** Why the agent says that it cannot do it, where it does. */
  blocked?: string;
  /** What it asks a person, where it does: it ended to wait for the answer. */
  asked?: Asked;
  /** It was no agent of a worker's: nobody saw it run. */
  outside?: ExternalSource;
  /** Why its question was not taken, where it left one that cannot be asked. */
  misasked?: string;
  /** Tasks that it proposes. */
  followUps?: FollowUp[];
  /** A sentence for each that was not taken. */
  misproposed?: string[];
  /** What was refused to it, newest last, where something was: it went on without. */
  refused?: string[];
  /** ISO time that the coder named for its rate limit's reset. */
  until: string | null;
  /** Its account's quota, as the coder or the wire last said. */
  quota?: Quota;
  /** Its credential rests, or was refused: the task need not wait for that. */
  moves?: true;
  usage: Usage;
}
