import type { Reason } from '../agent/failure.ts';
import type { TaskState } from '../task/state.ts';

/** What a task may wait for besides a slot: other tasks, people, agents outside the fleet, a pull request. */

/** What a task waits for that another one does. */
export interface Dependency {
  id: string;
  /** Null: it has not said yet. */
  state: TaskState | null;
  reason: Reason | null;
  message: string | null;
  /** The repository of its result, where there is one. */
  repo: string | null;
  commit: string | null;
}

/** The result of a task that another one starts from. */
export interface Result {
  id: string;
  commit: string;
}

/** What an agent asks a person: `ask_human`, or a file in its outbox. */
export interface Asked {
  text: string;
  options: string[];
  /** What counts when nobody has answered by the deadline. */
  default: string | null;
  /** Milliseconds from when it was asked; null: it waits for ever. */
  deadlineMs: number | null;
}
export interface OpenQuestion extends Asked {
  /** `q<n>`: an answer names it, so that a late one is not taken for the next question's. */
  id: string;
  /** ISO */
  askedAt: string;
  /** ISO */
  deadline: string | null;
}
export interface Answered {
  question: string;
  text: string;
  answer: string;
  /** Who; `default` where the deadline was over. */
  by: string;
  /** ISO */
  at: string;
}

export type ApprovalStage = 'before-run' | 'before-deliver';
/** A person's yes or no. `approval`: the id of what it is said to, where that is known. */
export interface PersonsWord {
  by: string;
  why: string;
  approval?: string;
}
/** A person's yes that is waited for. */
export interface OpenApproval {
  /** `a<n>`: a word that names it is not taken for a later one's. */
  id: string;
  stage: ApprovalStage;
  why: string;
  /** ISO */
  since: string;
  /** ISO: then it counts as a no. */
  deadline?: string;
  /** Set where no receipt shows that the work was done: what there is instead. */
  word?: AgentsWord;
}
/** What is known of a run that no receipt shows to have done its work: the agent's own words are its claim, and no evidence. */
export interface AgentsWord {
  /** Its last message. */
  said: string;
  /** The last of its tool calls, by its own output; null: its coder reports none. */
  calls: string[] | null;
  callCount: number;
  /** Outputs that are there, and files that it changed. */
  outputs: string[];
  changed: string[];
  /** What its artifacts' checks could not tell, a sentence each. */
  unknown: string[];
}
export interface Approval {
  stage: ApprovalStage;
  approved: boolean;
  by: string;
  why: string;
  /** ISO */
  at: string;
}

/** A person's yes to a result, as the task's workflow had it. */
export interface ApprovalSaid {
  by: string;
  why: string;
  /** What it was said to, as it was asked. */
  what: string;
  /** ISO: when it was said; `at` of the statement is when it was signed. */
  said: string;
}

/** An agent outside the fleet that works on the task. */
export interface OutsideHold {
  as: string;
  /** ISO: then the task waits again, unless it was renewed. */
  until: string;
  /** Why what it handed in before was not accepted. */
  notAccepted?: string;
}

/** A task that an agent proposed. */
export interface HandedOff {
  /** Null: it was not even a task. */
  id: string | null;
  title: string;
  /** Why it was not created, where it was not. */
  refused?: string;
}

export interface PullRequest {
  url: string;
  number: number;
  /** Checks of the head commit; `pending` also where none has begun yet. */
  checks: 'pending' | 'green' | 'red';
  state: 'open' | 'merged' | 'closed';
  /** Reviews that went back to the agent. */
  heard?: number[];
}

const REFUSED_KEPT = 50;

/** What the parent shows of them: all that were created, and of those that were refused the newest. */
export function followUpsKept(all: readonly HandedOff[]): HandedOff[] {
  const refused = all.filter((one) => one.refused !== undefined);
  const gone = new Set(refused.slice(0, -REFUSED_KEPT));
  return all.filter((one) => !gone.has(one));
}
