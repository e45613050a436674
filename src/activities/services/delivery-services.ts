import type { Answer } from '../../adapters/github/client.ts';
import type { MergeEntry, MergeQueueRecord } from '../../domain/deliver/merge.ts';
import type { PullText } from '../../domain/deliver/pull-body.ts';
import type { PullLook } from '../../domain/deliver/pull-request.ts';
import type { Task } from '../../domain/task/schema.ts';

/** The part of the desk for what follows a delivered branch. */
export interface DeliveryServices {
  /** The pull request of a task's branch, made or brought up to date. */
  openPull(order: PullInput): Promise<Answer<{ number: number; url: string }>>;
  /** How it stands now. `pollMs`, `settleMs`: as this worker is configured. */
  lookAtPull(order: { repo: string; number: number }): Promise<Answer<PullLook & { pollMs: number; settleMs: number }>>;
  /** Closes what is open for a task's branch, as long as that is at the commit. */
  closePull(order: { repo: string; branch: string; commit: string }): Promise<Answer<null>>;
  /** Starts the target's `mergeQueue` where there is none, and has the result wait in it. */
  joinMergeQueue(order: { queue: Omit<MergeQueueRecord, 'waiting'>; entry: MergeEntry }): Promise<void>;
  /** Whether there is a queue, which answers; older workers do not say. */
  leaveMergeQueue(order: { queue: Omit<MergeQueueRecord, 'waiting'>; id: string }): Promise<boolean | void>;
  /** A worker that is there and can merge: one of those, or any other where that may be; null: there is none now. */
  findMerger(order: FindMerger): Promise<Merger | null>;
}

export interface PullInput {
  repo: string;
  branch: string;
  text: PullText;
  into: string | null;
  wish: Pick<Task['pr'], 'draft' | 'labels'>;
}
export interface FindMerger extends Pick<MergeQueueRecord, 'queue' | 'machine'> {
  /** Host queues, best first. */
  prefer: string[];
  /** The one that was just lost: only where there is no other. */
  avoid: string | null;
}
export interface Merger {
  name: string;
  hostQueue: string;
  lease: { heartbeatMs: number; graceMs: number };
}
