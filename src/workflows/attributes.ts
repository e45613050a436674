import { defineSearchAttributeKey } from '@temporalio/common';

/** The search attributes of `agentTask`: client, workflow and registration share this file. */
export const ATTRIBUTES = {
  /** A `TaskState`. */
  state: defineSearchAttributeKey('FleetState', 'KEYWORD'),
  /** A `Reason`; unset where there is none. */
  reason: defineSearchAttributeKey('FleetReason', 'KEYWORD'),
  coder: defineSearchAttributeKey('FleetCoder', 'KEYWORD'),
  worker: defineSearchAttributeKey('FleetWorker', 'KEYWORD'),
  repo: defineSearchAttributeKey('FleetRepo', 'KEYWORD'),
  queue: defineSearchAttributeKey('FleetQueue', 'KEYWORD'),
  labels: defineSearchAttributeKey('FleetLabels', 'KEYWORD_LIST'),
  /** 0 (critical) to 100. */
  priority: defineSearchAttributeKey('FleetPriority', 'INT'),
};
