import { expect, test } from '@jest/globals';
import { NO_USAGE } from '../../../src/domain/agent/event.ts';
import { readResultLine, readRunLine, runLine, taskLines } from '../../../src/domain/view/run-summary.ts';
import type { RunView, TaskView } from '../../../src/domain/view/task-view.ts';

const run: RunView = {
  ...{ runId: '2-a', n: 2, worker: 'ada', machine: 'm', hostQueue: 'host/ada-1', coder: 'codex', model: 'o|3\n x' },
  ...{ startedAt: '2026-01-01T00:08:00.500Z', endedAt: '2026-01-01T00:09:01.700Z', reason: 'stalled', message: null },
  ...{ counts: true, exitCode: null, commit: null, receipts: [], saved: null, late: null, resumedFrom: null },
  usage: { ...NO_USAGE, inputTokens: 1_000, outputTokens: 20, costUsd: 0.1234567, unpricedTokens: 5 },
};

test('a run that has ended is one line, which reads back', () => {
  const line = runLine(run);
  expect(line).toBe('2|2026-01-01T00:09:01.700Z|codex|o 3 x|stalled|1020|0.123457+?|61.2');
  expect(readRunLine(line)).toEqual({
    ...{ n: 2, startedAt: run.startedAt, endedAt: run.endedAt, coder: 'codex', model: 'o 3 x', outcome: 'stalled' },
    ...{ tokens: 1_020, costUsd: 0.123457, unpriced: true, seconds: 61.2 },
  });
  expect(readRunLine(runLine({ ...run, model: null, reason: null, usage: NO_USAGE }))).toMatchObject({
    ...{ model: '', outcome: 'accepted', tokens: 0, costUsd: 0, unpriced: false },
  });
  expect(readRunLine('something else')).toBeUndefined();
});

test('live runs are left out, and of many the newest are kept, within what a server takes', () => {
  const many = Array.from({ length: 40 }, (_, n) => ({ ...run, n, model: 'x'.repeat(500) }));
  const open = { state: 'queued', branch: null, commit: null, verdict: null, attempts: { used: 0, max: 3 } } as const;
  const lines = taskLines({ ...open, runs: [...many, { ...run, n: 99, endedAt: null }] });
  expect(lines.at(-1)).toMatch(/^39\|/);
  expect(Buffer.byteLength(JSON.stringify(lines))).toBeLessThan(2_048);
  const wide = many.map((one) => ({ ...one, coder: 'ö'.repeat(60) }));
  const done = taskLines({ ...open, state: 'done', commit: 'c'.repeat(40), runs: wide });
  expect(Buffer.byteLength(JSON.stringify(done))).toBeLessThan(2_048);
  expect(done.length).toBeGreaterThan(4);
  expect(done.at(-2)).toMatch(/^39\|/);
});

test('what a done task came to is one more line, and no run', () => {
  const verdict = { acceptance: true, doneBy: ['git', 'acceptance'] } as TaskView['verdict'];
  const done = { state: 'done', commit: 'c0ffee', attempts: { used: 2, max: 3 } } as const;
  const lineOf = (given: Pick<TaskView, 'verdict' | 'branch'>) => taskLines({ ...done, ...given, runs: [] })[0]!;
  expect(lineOf({ branch: 'fleet/x', verdict })).toBe('result|fleet/x|c0ffee|git,acceptance|2');
  expect(readRunLine(lineOf({ branch: 'fleet/x', verdict }))).toBeUndefined();
  expect(readResultLine(lineOf({ branch: 'fleet/x', verdict }))).toEqual({
    ...{ branch: 'fleet/x', commit: 'c0ffee', shownBy: ['git', 'acceptance'], attempts: 2 },
  });
  expect(readResultLine(lineOf({ branch: null, verdict: null }))).toMatchObject({ branch: null, shownBy: null });
  const nobody = { acceptance: false, doneBy: [] as string[] } as TaskView['verdict'];
  expect(readResultLine(lineOf({ branch: null, verdict: nobody }))).toMatchObject({ shownBy: [] });
  expect(readResultLine(runLine(run))).toBeUndefined();
});
