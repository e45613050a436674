import { expect, test } from '@jest/globals';
import { NO_USAGE } from '../../src/domain/event.ts';
import { readRunLine, runLine, runLines } from '../../src/domain/run-line.ts';
import type { RunView } from '../../src/domain/run.ts';

const run: RunView = {
  ...{ runId: '2-a', n: 2, worker: 'ada', machine: 'm', hostQueue: 'host/ada-1', coder: 'codex', model: 'o|3\n x' },
  ...{ startedAt: '2026-01-01T00:08:00.500Z', endedAt: '2026-01-01T00:09:01.700Z', reason: 'stalled', message: null },
  ...{ counts: true, exitCode: null, commit: null, receipts: [], saved: null, late: null, resumedFrom: null },
  usage: { ...NO_USAGE, inputTokens: 1_000, outputTokens: 20, costUsd: 0.1234567, unpricedTokens: 5 },
};

test('a run that has ended is one line, which reads back', () => {
  const line = runLine(run);
  expect(line).toBe('2|2026-01-01T00:09:01Z|codex|o 3 x|stalled|1020|0.123457+?|61');
  expect(readRunLine(line)).toEqual({
    ...{ n: 2, endedAt: '2026-01-01T00:09:01Z', coder: 'codex', model: 'o 3 x', outcome: 'stalled' },
    ...{ tokens: 1_020, costUsd: 0.123457, unpriced: true, seconds: 61 },
  });
  expect(readRunLine(runLine({ ...run, model: null, reason: null, usage: NO_USAGE }))).toMatchObject({
    ...{ model: '', outcome: 'accepted', tokens: 0, costUsd: 0, unpriced: false },
  });
  expect(readRunLine('something else')).toBeUndefined();
});

test('live runs are left out, and of many the newest are kept, within what a server takes', () => {
  const many = Array.from({ length: 40 }, (_, n) => ({ ...run, n, model: 'x'.repeat(500) }));
  const lines = runLines([...many, { ...run, n: 99, endedAt: null }]);
  expect(lines.at(-1)).toMatch(/^39\|/);
  expect(Buffer.byteLength(JSON.stringify(lines))).toBeLessThan(2_048);
});
