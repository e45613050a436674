import type { Failure } from '../../domain/agent/failure.ts';
import type { StopReason } from '../../domain/run/outcome.ts';
import type { Reach, SeatReport } from '../../domain/scheduling/seats.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { WorkerFacts, WorkerView } from '../../domain/worker/worker.ts';
import type { Presence } from './presence.ts';

/** What a worker process does for its activities. `src/workers` has the implementations. */

/** A worker as its record has it. */
export type Attached = Pick<
  WorkerFacts,
  'name' | 'machine' | 'hostQueue' | 'queues' | 'coders' | 'publicKey' | 'lease' | 'env'
> & {
  view?: Pick<WorkerView, 'failedInARow' | 'provedAt' | 'closed' | 'credentials' | 'budgets'> | null;
};

/** Whether the server's database is still the one that this worker worked with. */
export interface RollbackCheck {
  /** Some worker has noticed that it is an older copy: what the server says of a run is no reason to end it. */
  readonly noticed: boolean;
  /** Asks the server, after this was called: `noticed` and the worker's holds are of now. @throws where it does not answer */
  look(): Promise<void>;
  /** The same for a run that the server wants to be claimed. @throws also while other workers have yet to look */
  lookBeforeClaim(run: { workflowRunId: string; n: number }): Promise<void>;
}

/** The disk of a worker's home as its activities need it; the disk guard of the worker keeps it. */
export interface Disk {
  /** Gives the reserve to the next write. False where it is gone already. */
  giveUpReserve(): boolean;
  /** Resolves when a write that failed may be tried again; rejects when the signal aborts. */
  room(signal?: AbortSignal): Promise<void>;
  /** Whether writes may have failed since then, in milliseconds of `performance.now()`. */
  wasFullSince(at: number): Promise<boolean>;
  /** What a run's work folder takes beyond its limit, as a sentence; undefined where it keeps it. */
  excess(ref: RunRef, limitBytes: number): Promise<string | undefined>;
  /** Why the guard stopped a run, as a sentence. */
  why(runId: string, stopped: StopReason): string | undefined;
}

/** Whether this worker is fit for runs. */
export interface Fitness {
  /** Uses what every run needs, now. One sentence on what does not work: the worker takes no new work until that works again. */
  fault(): Promise<string | undefined>;
  /** A run ended by what may be this worker's own, although the machine works; `others` could have had it. */
  met(failure: Failure, of: { taskId: string; repo: string | null }, others: readonly Attached[]): void;
  /** A run has got as far as only a sound worker gets it. */
  proved(): void;
  /** Runs in a row that ended by what may be its own. */
  readonly inARow: number;
  /** ISO: when a run last got so far. */
  readonly provedAt: string | undefined;
}

/** What a worker knows of its credentials, and how it takes their seats: see the workflow `fleetCredential`. */
export interface SeatServices {
  /** Names of the credentials of a coder here, in the order of the configuration. */
  of(coder: string): string[];
  /** Why no run of the coder can have a seat, as far as is known without asking; undefined where one may. */
  closed(coder: string): Closed | undefined;
  /** Asks for a seat of one credential. A string says why there is none. */
  take(credential: string, ref: RunRef): Promise<true | string>;
  giveBack(credential: string, back: RunRef & { tokens: number }): Promise<void>;
  /** Tells of a limit or a refusal; goes on trying where the server does not answer. */
  report(credential: string, report: SeatReport): Promise<void>;
  /** Whether another credential of that coder that was not refused is left, here or on another worker. */
  others(given: Reach & { credential: string; coder: string }): Promise<boolean>;
  /** The first that neither rests nor was refused, without a seat: for a reviewer. */
  first(coder: string): string | null;
  /** Whether the credential's state attends to this worker. */
  presence(credential: string): Presence;
}

/** A coder that gets no run here for now. */
export interface Closed {
  coder: string;
  /** One sentence. */
  why: string;
  /** ISO, where it passes by itself. */
  until?: string;
  /** All that is wrong is that its seats are taken. */
  full?: true;
}
