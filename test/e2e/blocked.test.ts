import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { rescueRef } from '../../src/domain/names.ts';
import { agent, git, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let repo: string;
let home: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  repo = await fleet.repo('shop', { 'note.txt': 'hi\n' });
  const coders = { blocked: agent('blocked.mjs'), plain: agent('blocked.sh'), ok: agent('ok.sh') };
  ({ home } = await fleet.worker('desk', { coders }));
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

test('an agent that says it is blocked parks its task with its reason: no retry, no attempt, nothing delivered', async () => {
  // Its receipts would all be ok.
  const id = await fleet.fleet.enqueue({
    objective: 'Add made.txt',
    repo,
    coder: 'blocked',
    verify: ['test -s made.txt'],
  });
  const parked = await fleet.settled(id, 150_000);
  const message = 'result: the agent says that it cannot do this: there is no key to sign with';
  expect(parked).toMatchObject({
    ...{ state: 'parked', reason: 'blocked-by-agent', message, branch: null, attempts: { used: 0 } },
    runs: [{ reason: 'blocked-by-agent', counts: false, saved: { commit: expect.any(String) } }],
    verdict: { accepted: false, reason: 'blocked-by-agent', acceptance: true },
  });
  expect(parked.receipts.map(({ kind, ok }) => `${kind} ${ok ? 'ok' : 'no'}`)).toEqual([
    ...['exit ok', 'result no', 'tools ok', 'git ok', 'scope ok', 'acceptance ok'],
  ]);
  expect(await git(repo, 'branch', '--list', 'fleet/*')).toBe('');

  // Its work is there.
  const [vault = ''] = await readdir(`${home}/vault`);
  expect(await git(`${home}/vault/${vault}`, 'show', `${rescueRef(id, parked.runs[0]!.runId)}:made.txt`)).toBe('half');

  // What a person sees.
  const { stdout: list } = await fleet.cli(['tasks']);
  expect(list).toMatch(/parked.*blocked-by-agent/);
  const { stdout: shown } = await fleet.cli(['task', id]);
  expect(shown).toContain('there is no key to sign with');
  const { stdout: why } = await fleet.cli(['explain', id]);
  expect(why).toMatch(/it is parked, for \d+(ms|s)/);
  expect(why).toContain(`(blocked-by-agent: ${message}): type fleet task ${id} retry`);

  // The person's answer reaches the next run, which goes on from the work.
  expect((await fleet.cli(['task', id, 'retry', '--why', 'the key is 42'])).code).toBe(0);
  const done = await until(
    async () => {
      const report = await fleet.fleet.view(id);
      return report.state === 'done' ? report : undefined;
    },
    { timeoutMs: 120_000 },
  );
  expect(done).toMatchObject({ runs: [{}, { resumedFrom: parked.runs[0]!.runId, reason: null }] });
  expect(await git(repo, 'show', `fleet/${id}:made.txt`)).toBe('42');
}, 180_000);

test('so does a program without a protocol, by the last line of its output', async () => {
  const id = await fleet.fleet.enqueue({ objective: 'Add made.txt', repo, coder: 'plain' });
  expect(await fleet.settled(id, 150_000)).toMatchObject({
    ...{ state: 'parked', reason: 'blocked-by-agent', attempts: { used: 0 }, runs: [{ exitCode: 3 }] },
    message: 'result: the agent says that it cannot do this: no network here',
  });
}, 180_000);

test('what a person accepts of it is delivered', async () => {
  const id = await fleet.fleet.enqueue({ objective: 'Add made.txt', repo, coder: 'blocked' });
  expect(await fleet.settled(id, 150_000)).toMatchObject({ state: 'parked', reason: 'blocked-by-agent' });
  expect((await fleet.cli(['task', id, 'accept', '--why', 'half is enough'])).code).toBe(0);
  await until(async () => (await fleet.fleet.view(id)).state === 'done', { timeoutMs: 120_000 });
  expect(await git(repo, 'show', `fleet/${id}:made.txt`)).toBe('half');
}, 180_000);
