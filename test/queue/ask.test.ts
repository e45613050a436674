import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

/** Asks, does not wait for anybody, and proposes a task each time. */
const ALONE = `cat >/dev/null; mkdir -p "$FLEET_OUTBOX/follow-ups"
echo '{"question":"Go on?","default":"yes","deadline":"1s"}' >"$FLEET_OUTBOX/question.json"
echo '{"task":{"objective":"Again"}}' >"$FLEET_OUTBOX/follow-ups/1.json"`;

let fleet: TestFleet;
let repo: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  repo = await fleet.repo('repo');
  await fleet.worker('one', {
    worker: { slots: 1 },
    limits: { idle: '2s' },
    coders: {
      ask: agent('ask-human.sh'),
      wait: agent('ask-and-wait.sh'),
      wrong: agent('ask-wrongly.sh'),
      ok: agent('ok.sh'),
      alone: { command: ['sh', '-c', ALONE], protocol: 'none' },
    },
  });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const enqueue = (coder: string, input: Partial<TaskInput> = {}) =>
  fleet.fleet.enqueue({ objective: 'Choose a port', repo, coder, retry: { backoff: '1s' }, ...input });
const asks = (id: string) => until(async () => (await fleet.fleet.view(id)).question);
const file = (commit: string | null, path: string) => git(repo, 'show', `${commit}:${path}`);

test('an agent asks by a file; meanwhile its slot is free; its next run has the answer and its work', async () => {
  const id = await enqueue('ask');
  expect(await asks(id)).toMatchObject({
    text: 'Which port?',
    options: ['8080', '9090'],
    default: null,
    deadline: null,
  });
  expect(await fleet.settled(await enqueue('ok'))).toMatchObject({ state: 'done' });
  await fleet.fleet.answer(id, { answer: '9090', by: 'ada' });
  const done = await fleet.settled(id);
  expect(done).toMatchObject({ state: 'done', attempts: { used: 1 } });
  expect(done.runs.map(({ reason }) => reason)).toEqual(['asked', null]);
  expect(await file(done.commit, 'port.txt')).toBe('9090');
  expect(await file(done.commit, 'draft.txt')).toBe('draft');
});

test('an agent that asks and goes on waiting is stopped with its work saved', async () => {
  const id = await enqueue('wait');
  expect(await asks(id)).toMatchObject({ text: 'Which port?' });
  await fleet.fleet.answer(id, { answer: 'any', by: 'ada' });
  const done = await fleet.settled(id);
  expect(done.state).toBe('done');
  expect(await file(done.commit, 'draft.txt')).toBe('draft');
});

test('a question that cannot be asked is told to the next run', async () => {
  const done = await fleet.settled(await enqueue('wrong'));
  expect(done.runs[0]).toMatchObject({ reason: 'receipts-rejected' });
  expect(done.runs[0]?.message).toContain('default is required with a deadline');
  expect(done).toMatchObject({ state: 'done' });
  expect(await file(done.commit, 'told.txt')).toContain('it left a question that cannot be asked');
});

test('an agent whose task does not allow it asks nobody', async () => {
  const parked = await fleet.settled(await enqueue('ask', { agentTools: ['propose'], retry: { maxAttempts: 1 } }));
  expect(parked.runs[0]?.reason).not.toBe('asked');
  expect(parked.question ?? null).toBeNull();
});

test('a run whose questions nobody answers goes by its default a few times, hands on nothing, and then waits for a person', async () => {
  const id = await enqueue('alone', { retry: { maxAttempts: 1 } });
  const parked = await fleet.settled(id);
  expect(parked).toMatchObject({ state: 'parked', reason: 'asked' });
  expect(parked.followUps).toBeUndefined();
  expect(parked.message).toBe('nobody answered the last 3 times that it asked: Go on?');
  expect(parked.answers?.map(({ by }) => by)).toEqual(['default', 'default', 'default']);
  await fleet.fleet.giveUp(id);
});
