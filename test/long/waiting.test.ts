import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { agent, TestFleet } from '../helpers/fleet.ts';

let fleet: TestFleet;
let repo: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  repo = await fleet.repo('shop', { 'note.txt': 'hi\n' });
  const coders = { ask: agent('ask.sh'), refused: agent('refused.mjs') };
  await fleet.worker('desk', { coders });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const ONCE = { objective: 'Add made.txt', retry: { maxAttempts: 1 } };

test.concurrent('an agent that asks at a terminal is stopped long before it would count as stalled, with its question', async () => {
  const startedAt = performance.now();
  const id = await fleet.fleet.enqueue({ ...ONCE, repo, coder: 'ask', limits: { idle: '5m' } });
  const report = await fleet.settled(id, 150_000);
  expect(report).toMatchObject({ state: 'parked', reason: 'waiting-for-permission' });
  expect(report.message).toContain('Username for https://git.example.com:');
  expect(performance.now() - startedAt).toBeLessThan(150_000);
});

test.concurrent('an agent that was refused its tools did not make things up: what it lacked is named', async () => {
  const id = await fleet.fleet.enqueue({ ...ONCE, repo, coder: 'refused' });
  const report = await fleet.settled(id);
  expect(report).toMatchObject({ state: 'parked', reason: 'waiting-for-permission' });
  expect(report.message).toMatch(
    /^it went on without a login for MCP server wiki, a permission for Write: not granted yet\./,
  );
  expect((await fleet.cli(['task', id, 'events'])).stdout).toMatch(/refused +a login for MCP server wiki/);
});
