import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Row } from '../../bench/measure.ts';
import { coders } from '../../bench/tasks.ts';
import { EVENTS, PROGRAMS, sum, weigh } from '../../bench/weigh.ts';
import { TestFleet } from '../helpers/fleet.ts';

/** A task weighs what bench/results.json says, and no more than a tenth above it: what costs more makes that file anew, for all to see. */

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

test('a task starts no more programs and has no more history events than the bench found', async () => {
  const { rows } = JSON.parse(await readFile('bench/results.json', 'utf8')) as { rows: Row[] };
  const most = (name: string) => rows.find(({ what }) => what === name)!.value * 1.1;
  const repo = await fleet.repo('weighed');
  const worker = await fleet.worker('weighed', { worker: { slots: 1 }, coders });
  // The first task of a repository brings it in.
  await fleet.result(await fleet.fleet.enqueue({ objective: 'x', repo, coder: 'commit' }));
  const { events, programs } = await weigh(fleet, { worker, repo });
  if (!programs) throw new Error('strace is missing: install the package strace');
  expect(events).toBeLessThanOrEqual(most(EVENTS));
  // What they were, where it fails.
  const total = sum(programs.values());
  expect({ total, programs: total <= most(PROGRAMS) ? {} : Object.fromEntries(programs) }).toEqual({
    total,
    programs: {},
  });
  // It sees them.
  expect(programs.get('git')).toBeGreaterThan(0);
});
