import type { Choice } from '../routing/route.ts';
import type { TaskFacts } from '../task/task-facts.ts';
import type { Triaged } from '../routing/triage.ts';

/** What a worker is asked to claim. */
export interface ClaimInput {
  taskId: string;
  /** Number of the run, from 1. */
  n: number;
  /** Pinned coder. */
  coder?: string;
  /** Pinned model. */
  model?: string;
  /** Pinned credential. */
  credential?: string;
  /** What the worker's rules go by; workflows of older versions do not say. */
  facts?: TaskFacts;
  /** What another worker's rules chose, which has not got it. */
  chosen?: Choice;
  /** Its workers leave it to others for a while, where there are any. */
  met?: Met;
}

/** What a worker answers to a claim. `lease` is that worker's own: the workflow waits by it. */
export interface Claim {
  runId: string;
  n: number;
  worker: string;
  machine: string;
  hostQueue: string;
  coder: string;
  /** What the run was told to use; missing: its coder's default. */
  model?: string;
  /** That it has a seat of; missing where it runs as its worker does. */
  credential?: string;
  /** Which rule of the worker's chose coder, model, credential or limits. */
  rule?: string;
  /** The task's class, where the worker's rules were the first to ask for it. */
  triaged?: Triaged;
  /** Milliseconds: an activity without a heartbeat for `heartbeatMs` is lost; its worker then has `graceMs` to answer. */
  lease: { heartbeatMs: number; graceMs: number };
}

/** What the runs of a task met, one after the other, that may be their workers' own. */
export interface Met {
  /** Names: others are to have the next run. */
  workers: string[];
  runs: number;
  /** ISO: the end of the last one, by the server's clock. */
  at: string;
}

/** Who could have a run of a task: decided at its claim, and the same for all that is asked about it later. */
export interface Wanting extends Pick<TaskFacts, 'queue' | 'repo'> {
  /** Missing: its worker's default. */
  coder?: string;
  /** That the task pins. */
  credential?: string;
  met?: Met;
}

/** What a claim comes to: a run, or what has to be done before there can be one. Neither of the others holds a slot. */
export type ClaimAnswer = Claim | { redirect: Choice; triaged?: Triaged } | { triage: TriageAsk };

/** A worker whose triage command is to say of what class a task is; where it does not, it is the default. */
export interface TriageAsk {
  worker: string;
  hostQueue: string;
  timeoutMs: number;
  default: string;
}
