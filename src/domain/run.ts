import type { CoderFailure, Usage } from './event.ts';
import type { Failure, Reason } from './failure.ts';
import type { Quota } from './quota.ts';
import type { Finding, Receipt, ReceiptKind, Verdict } from './receipt.ts';
import type { Choice } from './route.ts';
import type { SavedWork } from './saved-work.ts';
import type { TaskType } from './task.ts';
import type { Triaged } from './triage.ts';

export type { Claim, ClaimAnswer, TriageAsk } from './claim.ts';

export const OPEN_STATES = ['queued', 'setting-up', 'running', 'verifying', 'delivering', 'parked'] as const;
export const CLOSED_STATES = ['done', 'failed', 'cancelled'] as const;
export type TaskState = (typeof OPEN_STATES)[number] | (typeof CLOSED_STATES)[number];

/** The epoch: every activity of a run carries it and is refused for any other. */
export interface RunRef {
  taskId: string;
  runId: string;
}

export type { ResumeFrom, SavedWork } from './saved-work.ts';

/** What a run's end means for its task: with it a worker can say what became of all that it took in. */
export type RunEnding = 'done' | 'cancelled' | 'parked' | 'queued-again';

/** What `releaseRun` answers. */
export interface Released {
  saved: SavedWork | null;
}

/** What a worker that returns tells the task of a run that it had lost. */
export interface LateResult {
  runId: string;
  saved: SavedWork | null;
  /** The agent had ended by itself: its tree can be verified. */
  finished: boolean;
}

/** Why an agent was stopped by its worker or keeper. The first one wins. */
export type StopReason = Extract<
  Reason,
  | 'stalled'
  | 'overloaded'
  | 'timed-out'
  | 'over-budget'
  | 'waiting-for-permission'
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
  /** Set where no limit could be set, as control groups cannot be written. */
  unlimited?: true;
  /** Set where something of the tree was still alive 15 s after SIGKILL; the keeper goes on trying. */
  unclean?: true;
  /** How the tree was held: `namespace`, or `process-group` where namespaces are missing. */
  isolation: Isolation;
  startedAt: string;
  endedAt: string;
  stdout: StreamRecord;
  stderr: StreamRecord;
  /** What came out of the hooks' pipe; missing where there was none. */
  hooks?: StreamRecord;
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
  /** What was refused to it, newest last, where something was: it went on without. */
  refused?: string[];
  /** ISO time that the coder named for its rate limit's reset. */
  until: string | null;
  /** Of its account, as the coder or the wire last said. */
  quota?: Quota;
  /** Its credential rests, or was refused: the task need not wait for that. */
  moves?: true;
  usage: Usage;
}

export type Launched = { ok: true; outcome: AgentOutcome } | { ok: false; failure: Failure };

/** `createWorktree`'s answer: the base as resolved, kept by the workflow for later runs. */
export type Prepared =
  | {
      ok: true;
      base: string;
      /** The run whose saved work was found and laid out. */
      resumed?: string | null;
      /** Its conversation goes on. */
      session?: boolean;
      /** A reviewer is to be asked before the agent starts. */
      gate?: true;
    }
  | { ok: false; failure: Failure };

/** What a reviewer said of a task before an agent started: like a receipt. */
export interface Gated extends Finding {
  /** ISO */
  at: string;
}

export interface Verified {
  verdict: Verdict;
  receipts: Receipt[];
  /** The commit that would be delivered; null where nothing changed. */
  commit: string | null;
  /** Accepted here; a second worker has yet to come to the same verdict. */
  elsewhere?: true;
}

export type Delivered = { ok: true; branch: string | null; commit: string } | { ok: false; failure: Failure };

/** Progress of a live agent: heartbeat details, read by `fleet tasks`. Never in the history. */
export interface Progress {
  runId: string;
  state: 'running' | 'setting-up' | 'verifying' | 'delivering';
  pid?: number;
  /** ISO */
  lastEventAt?: string;
  lastEvent?: string;
  /** What it waits for. */
  doing?: string;
  usage?: Usage;
}

/** One run as people and programs see it. Receipts in full for the last run, else without evidence. */
export interface RunView {
  runId: string;
  n: number;
  worker: string;
  machine: string;
  hostQueue: string;
  coder: string;
  model: string | null;
  /** Which rule of its worker's chose what it used; missing where none did. */
  rule?: string;
  credential?: string;
  startedAt: string;
  endedAt: string | null;
  reason: Reason | null;
  message: string | null;
  /** Uses up one of the task's attempts. */
  counts: boolean;
  exitCode: number | null;
  commit: string | null;
  /** What it left, where that was not delivered. */
  saved: SavedWork | null;
  /** Its worker was lost and came back with a finished tree, which waits for its receipts, or came too late. */
  late: 'candidate' | 'rejected' | 'superseded' | null;
  /** The run whose saved work it started from. */
  resumedFrom: string | null;
  /** It went on in that run's conversation. Views of older versions do not say. */
  sameSession?: boolean;
  usage: Usage;
  receipts: { kind: ReceiptKind; ok: boolean; summary: string; digest: string }[];
}

/** Everything about a task: the workflow's `view` query and its result. */
export interface TaskView {
  id: string;
  title: string;
  type: TaskType;
  state: TaskState;
  reason: Reason | null;
  /** One sentence: why it is where it is. */
  message: string | null;
  objective: string;
  repo: string | null;
  base: string | null;
  queue: string;
  /** The queue that a claim of it waits in. */
  claimQueue: string;
  priority: number;
  coder: string | null;
  model: string | null;
  /** Of what class it is, once some worker's rules have asked. */
  triaged?: Triaged;
  /** It waits for a worker that has what a rule chose. */
  redirect?: Choice;
  worker: string | null;
  attempts: { used: number; max: number };
  runs: RunView[];
  receipts: Receipt[];
  verdict: Verdict | null;
  /** What a reviewer said of the task itself; null where none was asked. Views of older versions have none. */
  gate?: Gated | null;
  branch: string | null;
  commit: string | null;
  usage: Usage;
  labels: string[];
  createdAt: string;
  endedAt: string | null;
  /** ISO: when a waiting retry will be queued again. */
  retryAt: string | null;
  /** Who accepted or gave up a parked task, and why. */
  decision: { action: 'accept' | 'give-up' | 'retry'; why: string } | null;
}
