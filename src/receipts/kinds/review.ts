import { readFile } from 'node:fs/promises';
import { reviewPrompt } from '../../domain/prompt/review-prompt.ts';
import { findingOf } from '../../domain/evidence/review.ts';
import type { ReceiptCollector } from '../../ports.ts';

/**
 * Another agent's opinion of the result, where the policy names a reviewer. It is asked last, and only where nothing else
 * says no: its yes suffices for nothing, its no is the next run's to mend. Without an opinion the result is not accepted,
 * and the agent is not to blame.
 */
export const review: ReceiptCollector = {
  kind: 'review',
  async collect({ task, policy, outcome, result, found, patch, askReviewer }) {
    if (!policy.review) return undefined;
    const diff = await readFile(patch, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    const { claim } = outcome;
    const { changes } = result;
    const reviewed = await askReviewer((place) =>
      reviewPrompt({ ...place, task, policy, diff, changes, claim, receipts: found }),
    );
    return findingOf(reviewed, { commit: result.commit });
  },
};
