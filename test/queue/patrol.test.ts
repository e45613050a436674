import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createProposed } from '../../src/client/start/hand-off.ts';
import { lookAround } from '../../src/client/overview/survey.ts';
import { loadConfig } from '../../src/config.ts';
import { taskInput } from '../../src/domain/task/schema.ts';
import { TestFleet } from '../helpers/fleet.ts';
import { message, patrolRound, TALKER } from '../helpers/patrol.ts';
import { until } from '../helpers/until.ts';

/** The patrol on a real server: what it tells of, and what it says yes to. */

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.start();
});
afterAll(() => fleet?.[Symbol.asyncDispose]());

test('without a worker there is no round', async () => {
  const { stderr, code } = await fleet.cli(['patrol']);
  expect([stderr.split('\n')[0], code]).toEqual([
    ...['fleet: no attached worker serves queue fleet, and the patrol is done by one', 1],
  ]);
});

test('it tells once of what waits for people, and of what nobody can claim', async () => {
  const told = `${fleet.root}/told`;
  await using _ = await fleet.worker('watch', {
    coders: { mine: TALKER },
    worker: { coder: 'mine' },
    patrol: { awaiting: '1s', unclaimed: '1s', stale: '1s', parked: '1s' },
    alerts: { command: ['sh', '-c', `cat >> ${told}; echo >> ${told}`] },
  });
  await fleet.fleet.enqueue(message('ask', { approval: 'before-run' }), { id: 'ask' });
  await fleet.fleet.enqueue(message('nobody', { machine: 'elsewhere', repo: '/no/such', type: 'research' }), {
    id: 'nobody',
  });
  await until(async () => (await fleet.fleet.view('ask')).state === 'awaiting-approval');
  await until(
    () =>
      Date.now() > Date.parse('2020-01-01') && fleet.fleet.standing(['nobody']).then((found) => found.has('nobody')),
  );
  const first = await until(async () => {
    const one = await patrolRound(fleet, 'fleet');
    return one.findings.length === 2 && one;
  });
  expect(first.findings.map(({ id, kind }) => `${id} ${kind}`).toSorted()).toEqual([
    'ask awaiting',
    'nobody unclaimed',
  ]);
  expect(first).toMatchObject({ states: { 'awaiting-approval': 1, queued: 1 }, taken: [], troubles: [] });
  expect(await patrolRound(fleet, 'fleet')).toMatchObject({ told: [], findings: [{ id: 'nobody' }, { id: 'ask' }] });
  const alerts = (await readFile(told, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; key: string });
  expect(
    alerts
      .filter(({ key }) => key.includes('/patrol/'))
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(['ask', 'nobody']);
  const { stdout } = await fleet.cli(['patrol', 'status']);
  expect(stdout).toMatch(/^the patrol is off\nlast round at /);
  expect(stdout).toContain('(told before)');
  for (const id of ['ask', 'nobody']) {
    await fleet.fleet.cancel(id);
    await fleet.settled(id);
  }
});

test('it counts from when a task was parked, each time anew, and not from its last run or its making', async () => {
  await using _ = await fleet.worker('since', { coders: { mine: TALKER }, worker: { coder: 'mine' } });
  const wire = { client: fleet.client, config: loadConfig({ home: `${fleet.root}/client`, env: {} }) };
  const parkedSince = async () => {
    await until(async () => (await fleet.fleet.view('no')).state === 'awaiting-approval');
    const before = Date.now();
    await fleet.fleet.reject('no', { by: 'ada', why: 'not now' });
    await until(async () => (await fleet.fleet.view('no')).state === 'parked');
    const { since } = await until(async () => (await lookAround(wire)).seen.find(({ id }) => id === 'no'));
    expect(Date.parse(since)).toBeGreaterThanOrEqual(before);
    const item = await until(async () => (await fleet.fleet.inbox()).find(({ id }) => id === 'no'));
    expect(item.since).toBe(since);
    return since;
  };
  await fleet.fleet.enqueue(message('no', { approval: 'before-run' }), { id: 'no' });
  const first = await parkedSince();
  expect((await fleet.fleet.explain('no')).sentence).toMatch(/^it is parked, for \d/);
  const waited = await fleet.cli(['task', 'no', 'wait']);
  expect(waited).toMatchObject({ code: 1, stderr: expect.stringContaining('it waits for a person: not-approved: ') });
  await fleet.fleet.retry('no');
  const still = await fleet.cli(['task', 'no', 'wait', '--timeout', '5s']);
  expect(still.stderr).toContain('it waits for a person: approval before-run: ');
  expect(still.stderr).toContain('fleet task no approve --approval a2');
  expect(await parkedSince()).not.toBe(first);
  await fleet.fleet.cancel('no');
  await fleet.settled('no');
});

test('it tells a task to look again when it was not told that what it waits for is gone', async () => {
  await using _ = await fleet.worker('nudge', { coders: { mine: TALKER }, worker: { coder: 'mine' } });
  await fleet.fleet.enqueue(message('gone', { machine: 'elsewhere', repo: '/no/such', type: 'research' }), {
    id: 'gone',
  });
  await fleet.fleet.enqueue(message('waits', { dependsOn: ['gone'] }), { id: 'waits' });
  // It was told that somebody waits for it.
  await until(async () => (await fleet.fleet.view('waits')).dependsOn?.[0]?.state);
  await fleet.client.workflow.getHandle('gone').terminate();
  const seen = await until(async () => {
    const { nudged } = await patrolRound(fleet, 'fleet');
    return nudged.length > 0 && nudged;
  });
  expect(seen).toEqual(['waits']);
  await until(async () => (await fleet.fleet.view('waits')).dependsOn?.[0]?.state === 'cancelled');
  await fleet.fleet.cancel('waits');
  await fleet.settled('waits');
});

test('when idle it says yes to what agents proposed, where the configuration lets it', async () => {
  await using _ = await fleet.worker('yes', {
    coders: { mine: TALKER },
    worker: { coder: 'mine', queues: ['yes'] },
    backlog: [{ proposals: true }],
  });
  const wants = { queue: 'yes', approval: 'before-run' as const };
  await fleet.fleet.enqueue(message('parent', { queue: 'yes' }), { id: 'parent' });
  await fleet.settled('parent');
  await fleet.fleet.enqueue(message('own', wants), { id: 'own' });
  await expect(fleet.fleet.enqueue(message('forged', { proposed: true }))).rejects.toThrow('proposed must be left out');
  const wire = { client: fleet.client, config: loadConfig({ home: `${fleet.root}/client`, env: {} }) };
  // The second one's parent waited for a person itself: what follows waits for one, too.
  const of = (n: number, task: object) => ({ id: 'parent', task: taskInput.parse(task), from: 'mine', n, children: 0 });
  const proposed = [of(1, message('parent', { queue: 'yes' })), of(2, message('parent', wants))].map(async (one) =>
    createProposed(wire, { ...one, followUps: [{ task: { objective: 'Next' } }] }),
  );
  const [child, gated] = (await Promise.all(proposed)).map(([made]) => made!.id!) as [string, string];
  for (const id of ['own', gated, child])
    await until(async () => (await fleet.fleet.view(id)).state === 'awaiting-approval');
  const one = await until(async () => {
    const { taken } = await patrolRound(fleet, 'yes');
    return taken.length > 0 && taken;
  });
  expect(one).toEqual([{ id: child, from: 'proposals' }]);
  // It let the task run; that nothing shows it done is for a person.
  await until(async () => (await fleet.fleet.view(child)).approval?.stage === 'before-deliver');
  await fleet.fleet.approve(child, { by: 'jean', why: '' });
  expect(await fleet.settled(child)).toMatchObject({ state: 'done', approvals: [{ by: 'patrol' }, { by: 'jean' }] });
  for (const id of ['own', gated]) {
    expect((await fleet.fleet.view(id)).state).toBe('awaiting-approval');
    await fleet.fleet.cancel(id);
    await fleet.settled(id);
  }
});

test('it goes by itself, never twice at a time, until it is off', async () => {
  await using _ = await fleet.worker('goes', {
    coders: { mine: TALKER },
    worker: { coder: 'mine', queues: ['goes'] },
  });
  const on = await fleet.cli(['patrol', '--every', '10s', '--queue', 'goes']);
  expect(on).toMatchObject({ stdout: 'the patrol goes every 10s, on queue goes', code: 0 });
  await fleet.fleet.patrol.on({ everyMs: 1_000, queue: 'goes' });
  const before = await fleet.fleet.patrol.status();
  const ended = async () => {
    const query = `WorkflowType = 'patrol' AND TaskQueue = 'goes' AND ExecutionStatus = 'Completed'`;
    return (await fleet.client.workflow.count(query)).count >= 2;
  };
  await until(ended);
  expect(before!.everyMs).toBe(1_000);
  expect((await fleet.cli(['patrol', '--off'])).stdout).toBe('the patrol is off');
  const rounds: [number, number][] = [];
  for await (const { startTime, closeTime } of fleet.client.workflow.list({ query: `WorkflowType = 'patrol'` }))
    rounds.push([startTime.getTime(), closeTime?.getTime() ?? Infinity]);
  rounds.sort(([a], [b]) => a - b);
  for (const [index, [from]] of rounds.entries()) if (index) expect(from).toBeGreaterThanOrEqual(rounds[index - 1]![1]);
});

test.each([
  [['patrol', 'frobnicate'], /^fleet: frobnicate is nothing to do with the patrol/],
  [['patrol', '--every', '1s'], /^fleet: --every must be 10s at least$/],
  [['patrol', '--every', '1m', '--off'], /^fleet: --every and --off cannot be used together$/],
])('%j is refused', async (args, said) => {
  const { stderr, code } = await fleet.cli(args);
  expect([stderr, code]).toEqual([expect.stringMatching(said), 2]);
});
