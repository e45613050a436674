import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { git, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

/** Results that were kept until a person has said yes. */

let fleet: TestFleet;
const coders = {
  own: { command: ['sh', '-c', 'echo "$FLEET_RUN" > "$FLEET_TASK.txt"'], protocol: 'none' as const },
};

beforeAll(async () => {
  fleet = await TestFleet.start();
  await fleet.worker('one', { worker: { slots: 4 }, coders });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const enqueue = (input: Partial<TaskInput>) => fleet.fleet.enqueue({ objective: 'x', coder: 'own', ...input });
const awaitsApproval = (id: string) => until(async () => (await fleet.fleet.view(id)).state === 'awaiting-approval');

test.concurrent.each([
  ['done', 'none'],
  ['done', 'branch'],
  ['cancelled', 'branch'],
] as const)('%s (deliver: %s), the remote keeps nothing of its work', async (end, deliver) => {
  const own = await fleet.repo(`approved-${end}-${deliver}`);
  const id = await enqueue({ repo: `file://${own}`, approval: 'before-deliver', deliver });
  await awaitsApproval(id);
  const kept = () => git(own, 'for-each-ref', '--format=%(refname)', 'refs/fleet');
  expect(await kept()).toBe(`refs/fleet/${id}/wip`);
  await (end === 'done' ? fleet.fleet.approve(id, { by: 'jo', why: '' }) : fleet.fleet.cancel(id));
  expect(await fleet.settled(id)).toMatchObject({ state: end });
  await until(async () => (await kept()) === '');
});

test.concurrent('people are told once of a worker that does not deliver; it is when that returns', async () => {
  const told = `${fleet.root}/told-of-gone`;
  const config = {
    ...{ worker: { queues: ['gone'] }, alerts: { command: ['sh', '-c', `cat >> ${told}; echo >> ${told}`] } },
    coders,
  };
  const gone = await fleet.worker('gone', config);
  const id = await enqueue({ repo: await fleet.repo('gone'), queue: 'gone', approval: 'before-deliver' });
  await awaitsApproval(id);
  await gone.stop('SIGKILL');
  await using _other = await fleet.worker('there', config);
  await fleet.fleet.approve(id, { by: 'jo', why: '' });
  const alerts = async () =>
    (await readFile(told, 'utf8').catch(() => '')).split('\n').filter((line) => line.includes('"delivering"'));
  await until(async () => (await alerts()).length > 0);
  expect(JSON.parse((await alerts())[0]!)).toMatchObject({
    ...{ id, state: 'delivering' },
    message: `worker ${gone.name}, which keeps the result, does not answer: it is waited for`,
  });
  await using _back = await fleet.worker('gone', config);
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', branch: `fleet/${id}` });
  expect(await alerts()).toHaveLength(1);
});
