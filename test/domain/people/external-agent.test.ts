import { expect, test } from '@jest/globals';
import { handInFault, heldLongEnough, leastLeaseMs } from '../../../src/domain/people/external-agent.ts';

const EVENTS_OF_A_RENEWAL = 8;
const SERVER_TAKES = 51_200;

test('whoever renews as short a lease as often as it can for two months does not fill the history', () => {
  let events = 0;
  let nowMs = 0;
  let until = new Date(0).toISOString();
  const leaseMs = 1_000;
  for (const end = 60 * 86_400_000; nowMs < end; nowMs = Math.max(nowMs, Date.parse(until) - leaseMs / 2)) {
    expect(heldLongEnough(until, { leaseMs, nowMs })).toBe(false);
    until = new Date(nowMs + Math.max(leaseMs, leastLeaseMs(events))).toISOString();
    expect(heldLongEnough(until, { leaseMs, nowMs })).toBe(true);
    events += EVENTS_OF_A_RENEWAL;
  }
  expect(events).toBeLessThan(SERVER_TAKES);
});

test('a longer lease can be had at any time', () => {
  const until = new Date(1_800_000).toISOString();
  expect(heldLongEnough(until, { leaseMs: 1_800_000, nowMs: 600_000 })).toBe(true);
  expect(heldLongEnough(until, { leaseMs: 7_200_000, nowMs: 600_000 })).toBe(false);
});

test('a word alone does not do for a task with checks of its own', () => {
  const repo = 'https://example.com/shop.git';
  const word = { result: 'looked' };
  const of = (verify?: Parameters<typeof handInFault>[0]['verify']) => ({ repo, type: 'research' as const, verify });
  expect(handInFault(of(), word)).toBeUndefined();
  for (const verify of [{ commands: ['npm test'] }, { heldOut: [{ path: 'own.sh' }] }]) {
    expect(handInFault(of(verify), word)).toMatch(/^it has checks of its own: name the commit/);
    expect(handInFault(of(verify), { ...word, commit: 'main' })).toBeUndefined();
  }
  expect(handInFault({ ...of(), type: 'code' }, word)).toMatch(/^it is of type code/);
});
