import { expect, test } from '@jest/globals';
import { neverWorked, type ExitRecord } from '../../../src/domain/run/outcome.ts';

const stream = { bytes: 0 } as ExitRecord['stdout'];
const START = '2026-01-01T00:00:00.000Z';
const ended = (afterMs: number, how: Partial<ExitRecord>): ExitRecord => ({
  ...{
    exitCode: null,
    signal: null,
    stopped: null,
    leftover: 0,
    isolation: 'namespace',
    stdout: stream,
    stderr: stream,
  },
  ...{ startedAt: START, endedAt: new Date(Date.parse(START) + afterMs).toISOString() },
  ...how,
});

test('a program that dies at its start before it says a word was never at work', () => {
  expect(neverWorked(ended(1_000, { signal: 'SIGSEGV' }))).toContain('SIGSEGV');
  expect(neverWorked(ended(1_000, { exitCode: 127 }))).toContain('127');
  expect(neverWorked(ended(1_000, { exitCode: 1 }))).toBeUndefined();
  expect(neverWorked(ended(1_000, { signal: 'SIGSEGV', stdout: { ...stream, bytes: 1 } }))).toBeUndefined();
});

test('one that dies after an hour may have worked: it may print at its end alone', () => {
  expect(neverWorked(ended(3_600_000, { signal: 'SIGSEGV' }))).toBeUndefined();
  expect(neverWorked(ended(3_600_000, { exitCode: 127 }))).toBeUndefined();
});
