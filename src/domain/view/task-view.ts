import type { DoneBy } from '../evidence/done-by.ts';
import type { Usage } from '../agent/event.ts';
import type { Failure, Reason } from '../agent/failure.ts';
import type { Brief, Submission } from '../people/external-agent.ts';
import type { AgentOutcome } from '../run/outcome.ts';
import type { Finding, Receipt, ReceiptKind, Verdict } from '../evidence/receipt.ts';
import type { Choice } from '../routing/route.ts';
import type { SavedWork } from '../agent/saved-work.ts';
import type { TaskType } from '../task/schema.ts';
import type { TaskState } from '../task/state.ts';
import type {
  AgentsWord,
  Answered,
  Approval,
  Dependency,
  HandedOff,
  OpenApproval,
  OpenQuestion,
  OutsideHold,
  PullRequest,
} from '../people/waiting.ts';
import type { Triaged } from '../routing/triage.ts';

/** The epoch: every activity of a run carries it and is refused for any other. */
export interface RunRef {
  taskId: string;
  runId: string;
}

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
      /** What the task is done by, now that its repository's own rules are known. */
      doneBy?: DoneBy[];
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
  /** Rejected, and none of the agent's doing. */
  failure?: Failure;
  /** Accepted here; a second worker has yet to come to the same verdict. */
  elsewhere?: true;
  /** What the worker's configuration calls irreversible of it: a person has to say yes before it is delivered. */
  irreversible?: string;
  /** What nobody said yes to for so long is a no. */
  approveWithinMs?: number;
  /** Accepted, and no receipt shows that the work was done: a person has to say yes. */
  word?: AgentsWord;
}

export type Delivered = { ok: true; branch: string | null; commit: string } | { ok: false; failure: Failure };

/** Progress of a live agent: heartbeat details, read by `fleet tasks`. Never in the history. */
export interface Progress {
  runId: string;
  state: 'running' | 'setting-up' | 'verifying' | 'delivering';
  pid?: number;
  /** ISO: when it was said, by the worker's clock, as is `lastEventAt`. Clients bring both to the server's. */
  at?: string;
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
  /** See `Failure`: its worker leaves the next run to others. */
  local?: true;
  exitCode: number | null;
  commit: string | null;
  /** What it left, where that was not delivered. */
  saved: SavedWork | null;
  /** ISO: since when its worker has nothing of that any more, as a person had it removed. */
  savedGone?: string;
  /** The earlier run whose saved work it was to go on with, and which was not there: it started without. */
  startedWithout?: string;
  /** Its agent proposed tasks, and the run did not count: they were dropped. */
  dropped?: true;
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
  /** What it will be done by; not set before that is known, with a repository once its worker has read that. */
  doneBy?: DoneBy[];
  state: TaskState;
  /** ISO: since when it is in that state. Views of older versions have none, and neither has what only the server knows. */
  since?: string;
  reason: Reason | null;
  /** One sentence: why it is where it is. */
  message: string | null;
  objective: string;
  repo: string | null;
  base: string | null;
  /** Unfinished work that it goes on from. */
  continueFrom?: string;
  queue: string;
  /** The queue that a claim of it waits in. */
  claimQueue: string;
  priority: number;
  coder: string | null;
  model: string | null;
  /** Its class, once some worker's rules have asked. */
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
  /** The rest: views of older versions have none of it. */
  dependsOn?: Dependency[];
  question?: OpenQuestion | null;
  /** Newest last. */
  answers?: Answered[];
  approval?: OpenApproval | null;
  approvals?: Approval[];
  for?: string;
  /** What an agent outside the fleet has to know beside the objective. */
  brief?: Brief;
  outside?: OutsideHold | null;
  /** What an agent outside the fleet last handed in, until it is rejected. */
  handedIn?: Submission | null;
  parent?: string;
  proposed?: true;
  producer?: string;
  /** What its agents proposed. */
  followUps?: HandedOff[];
  pull?: PullRequest | null;
  /** Its place in the merge queue, from 1. */
  merge?: { into: string; place: number } | null;
  /** The target's commit that has its result. */
  merged?: { into: string; commit: string };
  createdAt: string;
  endedAt: string | null;
  /** ISO: when a waiting retry will be queued again. */
  retryAt: string | null;
  /** Who accepted or gave up a parked task, and why. */
  decision: { action: 'accept' | 'give-up' | 'retry'; why: string; by?: string } | null;
}

/** The host queue of the worker that alone has the accepted result of a task; undefined where nothing waits to be delivered. */
export function keeperOf({ state, approval, commit, runs }: TaskView): string | undefined {
  const released = runs.every(({ endedAt }) => endedAt !== null);
  const waits = approval?.stage === 'before-deliver' || (state === 'delivering' && released);
  return waits && commit ? runs.findLast((run) => run.commit === commit)?.hostQueue : undefined;
}
