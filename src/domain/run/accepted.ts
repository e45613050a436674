import type { AgentOutcome } from './outcome.ts';
import type { AgentsWord } from '../people/waiting.ts';

/** An accepted result that waits, without a slot, for what is still to be done with it. */
export interface Accepted {
  runId: string;
  hostQueue: string;
  worker: string;
  /** Why a person has to say yes first; null where nobody has to, or somebody did. */
  approve: string | null;
  /** How long a yes is waited for; unset: for ever. */
  approveWithinMs?: number;
  /** That person is asked as no receipt shows that the work was done. */
  word?: AgentsWord;
  /** As a branch. */
  delivered: boolean;
  /** What its agent proposed meanwhile, which rests on the same yes. */
  proposed: ProposedFollowUps | null;
}

/** A run's proposals, before they are tasks. */
export interface ProposedFollowUps {
  n: number;
  coder: string;
  outcome: Pick<AgentOutcome, 'followUps' | 'misproposed'>;
}
