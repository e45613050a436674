export const OPEN_STATES = [
  'blocked',
  'queued',
  'setting-up',
  'running',
  'verifying',
  'delivering',
  'awaiting-approval',
  'awaiting-answer',
  'awaiting-quota',
  'awaiting-checks',
  'parked',
] as const;
export const CLOSED_STATES = ['done', 'failed', 'cancelled'] as const;
export type TaskState = (typeof OPEN_STATES)[number] | (typeof CLOSED_STATES)[number];
