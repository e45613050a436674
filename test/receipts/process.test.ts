import { describe, expect, test } from '@jest/globals';
import type { Finding } from '../../src/domain/evidence/receipt.ts';
import { exit } from '../../src/receipts/kinds/exit.ts';
import { result } from '../../src/receipts/kinds/result.ts';
import { evidenceOf, type Given } from './evidence.ts';

/** Receipts `exit` and `result`: how the agent's process ended, and what it said at its end. */

describe('exit', () => {
  const cases: [string, Given['outcome'], Partial<Finding>][] = [
    ['by itself with 0', {}, { ok: true, summary: 'exited with 0 after 1m 5s' }],
    ['with another code', { exitCode: 3 }, { ok: false, reason: 'agent-error', summary: 'exited with 3 after 1m 5s' }],
    [
      'by a signal',
      { exitCode: null, signal: 'SIGSEGV' },
      { ok: false, reason: 'crashed', summary: 'killed by SIGSEGV after 1m 5s' },
    ],
    [
      'without a code',
      { exitCode: null },
      { ok: false, reason: 'crashed', summary: 'ended without an exit code after 1m 5s' },
    ],
    ['by a signal, code 0 as well', { exitCode: 0, signal: 'SIGINT' }, { ok: false, reason: 'crashed' }],
    [
      'one process left',
      { leftover: 1 },
      { ok: true, summary: 'exited with 0 after 1m 5s; 1 process left behind was ended' },
    ],
    [
      'two processes left',
      { leftover: 2 },
      { ok: true, summary: expect.stringContaining('2 processes left behind were ended') as never },
    ],
    [
      'by a signal, out of memory',
      { exitCode: null, signal: 'SIGKILL', outOfMemory: true },
      { ok: false, reason: 'out-of-memory', summary: expect.stringContaining('want of memory') as never },
    ],
    [
      'with another code, at its limit of processes',
      { exitCode: 2, outOfProcesses: true },
      { ok: false, reason: 'agent-error', summary: expect.stringContaining('its limit of 4096 processes') as never },
    ],
    [
      'well, though something of it ran out of memory',
      { outOfMemory: true },
      { ok: true, summary: expect.stringContaining('want of memory') as never },
    ],
    [
      'without limits',
      { unlimited: true },
      { ok: true, summary: expect.stringContaining('process by process only') as never },
    ],
    [
      'without namespaces',
      { isolation: 'process-group' },
      { ok: true, summary: expect.stringContaining('process group only') as never },
    ],
  ];
  test.each(cases)('%s', async (_name, outcome, expected) => {
    expect(await exit.collect(evidenceOf({ outcome: outcome ?? {} }))).toMatchObject(expected);
  });

  test('stopped by the worker, even where the agent then exits with 0', async () => {
    const finding = await exit.collect(evidenceOf({ outcome: { stopped: 'timed-out' } }));
    expect(finding).toMatchObject({
      ok: false,
      summary: 'stopped (timed-out: the total time was used up) after 1m 5s',
    });
    expect(finding).not.toHaveProperty('reason');
  });
});

describe('result', () => {
  const cases: [string, Given['outcome'], Partial<Finding>][] = [
    ['a good end', {}, { ok: true }],
    ['no end', { ended: null }, { ok: false, reason: 'crashed', summary: 'the agent never reported its end' }],
    [
      'a failed end',
      { ended: { ok: false, failure: 'context-overflow' }, claim: 'Prompt is too long' },
      { ok: false, reason: 'agent-error', summary: 'the conversation outgrew the model: Prompt is too long' },
    ],
    [
      'a failed end without a name',
      { ended: { ok: false, failure: null }, claim: '' },
      { ok: false, summary: 'the agent ended with an error' },
    ],
  ];
  test.each(cases)('%s', async (_name, outcome, expected) => {
    expect(await result.collect(evidenceOf({ outcome: outcome ?? {} }))).toMatchObject(expected);
  });

  test('a coder without a terminal event has no such receipt', async () => {
    expect(await result.collect(evidenceOf({ rest: { structured: false } }))).toBeUndefined();
  });
});
