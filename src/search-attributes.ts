import { defineSearchAttributeKey } from '@temporalio/common';

/** The search attributes of `agentTask`: client, workflow and registration share this file. */
export const ATTRIBUTES = {
  /** A `TaskState`. */
  state: defineSearchAttributeKey('FleetState', 'KEYWORD'),
  /** Since when it is in that state. */
  since: defineSearchAttributeKey('FleetSince', 'DATETIME'),
  /** A `Reason`; unset where there is none. */
  reason: defineSearchAttributeKey('FleetReason', 'KEYWORD'),
  coder: defineSearchAttributeKey('FleetCoder', 'KEYWORD'),
  model: defineSearchAttributeKey('FleetModel', 'KEYWORD'),
  worker: defineSearchAttributeKey('FleetWorker', 'KEYWORD'),
  repo: defineSearchAttributeKey('FleetRepo', 'KEYWORD'),
  queue: defineSearchAttributeKey('FleetQueue', 'KEYWORD'),
  labels: defineSearchAttributeKey('FleetLabels', 'KEYWORD_LIST'),
  /** 0 (critical) to 100. */
  priority: defineSearchAttributeKey('FleetPriority', 'INT'),
  /** A `TaskType`. */
  type: defineSearchAttributeKey('FleetType', 'KEYWORD'),
  /** Input and output of all runs that have ended. */
  tokens: defineSearchAttributeKey('FleetTokens', 'INT'),
  /** Of these, as far as it is known. */
  costUsd: defineSearchAttributeKey('FleetCostUsd', 'DOUBLE'),
  /** Ids of the tasks that it waits for. The third and last list that SQLite's visibility has room for. */
  dependsOn: defineSearchAttributeKey('FleetDependsOn', 'KEYWORD_LIST'),
  /** One line for each run that has ended, the newest 15, and one for what came of it: see `domain/view/run-summary.ts`. */
  runs: defineSearchAttributeKey('FleetRuns', 'KEYWORD_LIST'),
};

/** The entries of its memo: `MadeOf`, from the start, and `SaidOf`. */
export const MEMO = { made: 'task', said: 'now' } as const;
