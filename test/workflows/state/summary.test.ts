import { expect, test } from '@jest/globals';
import { NO_USAGE } from '../../../src/domain/agent/event.ts';
import type { TaskView } from '../../../src/domain/view/task-view.ts';
import { renderSummary } from '../../../src/workflows/state/summary.ts';

test('what agents wrote is no markup: a browser fetches nothing of theirs', () => {
  const picture = '![x](http://evil/x.png) [here](http://evil)';
  const question = { id: 'q1', text: picture, options: ['a`b'], default: null, deadline: null, deadlineMs: null };
  const view = {
    ...{ id: 't', title: picture, state: 'awaiting-answer', reason: null, message: picture, model: picture },
    ...{ question: { ...question, askedAt: '2026-01-01T00:00:00Z' }, coder: 'claude', attempts: { used: 0, max: 1 } },
    ...{ usage: NO_USAGE, runs: [], worker: null, repo: null, base: null, branch: null, retryAt: null },
    receipts: [{ kind: 'exit', ok: true, summary: picture }],
  } as unknown as TaskView;
  const summary = renderSummary(view);
  expect(summary).not.toMatch(/(?<!\\)[![]x|(?<!\\)\[here/);
  expect(summary).toContain("- `` fleet task t answer --question q1 'a`b' ``");
});
