/**
 * The closed list of reasons why a run did not end in an accepted result, and what each means for the task.
 *
 * - `attempt`: uses up one of the task's attempts. Only what the agent caused does: infrastructure never.
 * - `next`: `retry` after the task's backoff, `reclaim` at once on any worker, `wait` until the reset time that came
 *   with the reason (or a default pause), `park` for a person, `ask` one and wait for the answer, or `mend` what was
 *   delivered, so often as the task allows.
 * - `feedback`: whether the next run's prompt says what went wrong.
 * - `local`: it may be one worker's own trouble: before it counts or parks, another worker is tried that has not met it.
 * - `resume`: whether the next run starts from the work that this one left, where the task does not say. Where it does not, the
 *   work is not to be trusted, or there is none.
 */
export interface FailurePolicy {
  attempt: boolean;
  next: 'retry' | 'reclaim' | 'wait' | 'park' | 'ask' | 'mend';
  feedback: boolean;
  local?: true;
  resume?: true;
  meaning: string;
}

export const FAILURES = {
  'agent-error': {
    attempt: true,
    next: 'retry',
    feedback: true,
    resume: true,
    meaning: 'the agent ended with an error',
  },
  'receipts-rejected': {
    attempt: true,
    next: 'retry',
    feedback: true,
    resume: true,
    meaning: 'the receipts do not show the work done',
  },
  'scope-violation': {
    attempt: true,
    next: 'retry',
    feedback: true,
    resume: true,
    meaning: 'the agent changed what it may not change',
  },
  fabricated: {
    attempt: true,
    next: 'retry',
    feedback: true,
    resume: true,
    meaning: 'the agent claimed what the evidence contradicts',
  },
  stalled: {
    attempt: true,
    next: 'retry',
    feedback: true,
    resume: true,
    meaning: 'nothing new was printed, no tool called, no file changed and no work to be seen',
  },
  'waiting-for-permission': {
    attempt: false,
    next: 'park',
    feedback: true,
    resume: true,
    meaning: 'the agent waited for a person',
  },
  'permission-refused': {
    attempt: true,
    next: 'retry',
    feedback: true,
    resume: true,
    meaning: 'the agent went on without what it may not do, or has no login for',
  },
  'timed-out': { attempt: true, next: 'retry', feedback: true, resume: true, meaning: 'the total time was used up' },
  crashed: {
    attempt: true,
    next: 'retry',
    feedback: true,
    resume: true,
    meaning: 'the agent ended by a signal or without a result',
  },
  'out-of-memory': {
    attempt: true,
    next: 'retry',
    feedback: true,
    resume: true,
    meaning: 'the agent ran out of memory',
  },
  'context-overflow': {
    attempt: true,
    next: 'retry',
    feedback: false,
    resume: true,
    meaning: 'the conversation outgrew the model',
  },
  'over-budget': {
    attempt: true,
    next: 'park',
    feedback: false,
    resume: true,
    meaning: 'a budget was used up: tokens, cost or disk space',
  },
  'setup-failed': {
    attempt: true,
    next: 'retry',
    feedback: false,
    local: true,
    resume: true,
    meaning: "the repository's setup commands failed",
  },
  'check-cannot-start': {
    attempt: false,
    next: 'park',
    feedback: false,
    local: true,
    resume: true,
    meaning: 'a command of setup or verification cannot start, also without a change',
  },
  tampered: { attempt: true, next: 'retry', feedback: true, meaning: 'the agent damaged its repository' },
  'blocked-by-agent': {
    attempt: false,
    next: 'park',
    feedback: true,
    resume: true,
    meaning: 'the agent says that it cannot do this',
  },
  asked: { attempt: false, next: 'ask', feedback: false, resume: true, meaning: 'the agent asks a person' },
  'not-approved': {
    attempt: true,
    next: 'retry',
    feedback: true,
    resume: true,
    meaning: 'a person did not approve the result',
  },
  'checks-failed': {
    attempt: false,
    next: 'mend',
    feedback: true,
    resume: true,
    meaning: 'checks of the pull request failed',
  },
  'changes-requested': {
    attempt: false,
    next: 'mend',
    feedback: true,
    resume: true,
    meaning: 'a reviewer of the pull request asked for changes',
  },
  'merge-failed': {
    attempt: false,
    next: 'mend',
    feedback: true,
    resume: true,
    meaning: 'the result could not be merged',
  },
  'pull-closed': {
    attempt: false,
    next: 'park',
    feedback: false,
    resume: true,
    meaning: 'a person closed the pull request without merging it',
  },
  'rate-limited': {
    attempt: false,
    next: 'wait',
    feedback: false,
    resume: true,
    meaning: "the model's rate limit was reached",
  },
  overloaded: {
    attempt: false,
    next: 'wait',
    feedback: false,
    resume: true,
    meaning: "the model's servers are overloaded",
  },
  auth: {
    attempt: false,
    next: 'park',
    feedback: false,
    resume: true,
    meaning: "the coder's login or key was refused",
  },
  'model-unknown': {
    attempt: false,
    next: 'park',
    feedback: false,
    resume: true,
    meaning: 'the coder or its vendor does not know the model',
  },
  'coder-missing': { attempt: false, next: 'park', feedback: false, local: true, meaning: 'its program is missing' },
  unreviewed: { attempt: false, next: 'park', feedback: false, resume: true, meaning: 'the reviewer gave no answer' },
  'repo-unavailable': {
    attempt: false,
    next: 'park',
    feedback: false,
    local: true,
    meaning: 'the repository cannot be read',
  },
  'base-missing': { attempt: false, next: 'park', feedback: false, meaning: 'the base commit does not exist' },
  conflict: { attempt: false, next: 'park', feedback: false, meaning: 'the branch exists with other content' },
  disk: { attempt: false, next: 'wait', feedback: false, resume: true, meaning: 'the worker ran out of disk space' },
  'machine-fault': {
    attempt: false,
    next: 'reclaim',
    feedback: false,
    local: true,
    resume: true,
    meaning: "a program of the worker's machine, or its home, does not work",
  },
  'host-lost': { attempt: false, next: 'reclaim', feedback: false, resume: true, meaning: 'the worker was lost' },
  poison: { attempt: false, next: 'park', feedback: false, meaning: 'workers were lost under this task' },
  killed: { attempt: false, next: 'reclaim', feedback: false, resume: true, meaning: 'a person stopped the agents' },
  'unclean-kill': {
    attempt: false,
    next: 'reclaim',
    feedback: false,
    meaning: 'a process of the run could not be killed',
  },
  superseded: { attempt: false, next: 'park', feedback: false, meaning: 'a newer run was accepted first' },
  'dependency-failed': { attempt: false, next: 'park', feedback: false, meaning: 'a task that this one needs failed' },
  cancelled: { attempt: false, next: 'park', feedback: false, meaning: 'the task was cancelled' },
  'secret-found': { attempt: true, next: 'park', feedback: true, meaning: 'its result would deliver a secret' },
  'env-refused': {
    attempt: false,
    next: 'park',
    feedback: false,
    meaning: 'it asks for a variable that its worker gives to no task',
  },
  'invalid-task': { attempt: false, next: 'park', feedback: false, meaning: 'the task is not valid' },
} as const satisfies Record<string, FailurePolicy>;

export type Reason = keyof typeof FAILURES;

/** A reason with its one sentence for people. */
export interface Failure {
  reason: Reason;
  message: string;
  /** ISO time before which a retry is pointless. */
  until?: string;
  /** It was the run's credential that met it, and keeps off for itself: another one may do. */
  moves?: true;
  /** No try mends it, whatever its reason is: the task is for a person. */
  lasting?: true;
  /** It may be its worker's own, and another one is attached that has not met it: it counts for nothing yet. */
  local?: true;
}
