import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { git, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let repo: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  repo = await fleet.repo('shop', { 'note.txt': 'hi\n' });
  await fleet.worker('one', {
    worker: { slots: 1 },
    outside: { trusted: ['ada'] },
    coders: { own: { command: ['sh', '-c', 'echo made > own.txt'], protocol: 'none' } },
  });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const enqueue = (input: Partial<TaskInput>): Promise<string> =>
  fleet.fleet.enqueue({ objective: 'Ask the team', for: 'jean', ...input });
const stateIs = (id: string, state: string) => until(async () => (await fleet.fleet.view(id)).state === state);
const offered = (id: string) => until(async () => (await fleet.fleet.view(id)).message?.startsWith('waits for '));
const hold = async (id: string, as = 'jean') => {
  await offered(id);
  return fleet.fleet.claimFor(id, { as });
};

test('what it depends on can be changed until it is claimed: then it waits for that', async () => {
  const id = await enqueue({ repo });
  await offered(id);
  const first = await fleet.fleet.enqueue({ objective: 'x', repo, coder: 'own', approval: 'before-run' });
  await fleet.fleet.changeNeeds(id, { add: [first] });
  await stateIs(id, 'blocked');
  await expect(fleet.fleet.claimFor(id, { as: 'jean' })).rejects.toThrow('it is blocked and waits for something');
  await stateIs(first, 'awaiting-approval');
  await fleet.fleet.approve(first, { by: 'kim', why: '' });
  const { commit } = await fleet.settled(first);
  expect((await hold(id)).base).toBe(commit);
  await fleet.fleet.cancel(id);
});

test('without a commit a person lets the word do, or not; a trusted name needs none', async () => {
  const ask = { type: 'message' as const };
  const id = await enqueue(ask);
  await hold(id);
  await fleet.fleet.completeFor(id, { as: 'jean', result: 'they agree' });
  await stateIs(id, 'awaiting-approval');
  const { approval } = await fleet.fleet.view(id);
  expect(approval?.why).toBe('nothing but the word of jean shows that it is done: they agree');
  await fleet.fleet.reject(id, { by: 'kim', why: 'ask bob too' });
  await until(async () => (await fleet.fleet.view(id)).message === 'waits for jean (not accepted: ask bob too)');
  await hold(id);
  await fleet.fleet.completeFor(id, { as: 'jean', result: 'bob too' });
  await stateIs(id, 'awaiting-approval');
  await fleet.fleet.approve(id, { by: 'kim', why: '' });
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', runs: [], handedIn: { result: 'bob too' } });
  expect((await fleet.fleet.explain(id)).sentence).toBe('it is done: jean said so, and kim approved it');

  const trusted = await enqueue({ ...ask, for: 'ada' });
  await hold(trusted, 'ada');
  await fleet.fleet.completeFor(trusted, { as: 'ada', result: 'asked' });
  expect(await fleet.settled(trusted)).toMatchObject({
    ...{ state: 'done', runs: [] },
    approvals: [{ stage: 'before-deliver', approved: true, by: 'outside.trusted' }],
  });
  expect((await fleet.fleet.explain(trusted)).sentence).toBe('it is done: ada said so, whom the configuration trusts');
  const asked = await enqueue({ ...ask, for: 'ada', approval: 'before-deliver' });
  await hold(asked, 'ada');
  await fleet.fleet.completeFor(asked, { as: 'ada', result: 'asked' });
  await stateIs(asked, 'awaiting-approval');
  await fleet.fleet.cancel(asked);
});

test('what is in the target by now is not jean’s, and is judged as no change of jean’s', async () => {
  const files = {
    'src/a.js': 'a',
    'test/a.txt': 'old',
    '.fleet.yaml': 'verify: [test -f made.txt && grep -q new test/a.txt]',
  };
  const from = await fleet.repo('moving-from', files);
  const bare = `${fleet.root}/moving.git`;
  await git(fleet.root, 'clone', '-q', '--bare', from, bare);
  const enqueued = await Promise.all(
    [{}, { scope: { allow: ['made.txt'] } }].map((more) =>
      fleet.fleet.enqueue({ objective: 'Add it', repo: `file://${bare}`, for: 'jean', base: 'main', ...more }),
    ),
  );
  for (const id of enqueued) await hold(id);
  const clone = `${fleet.root}/clone-moving`;
  await git(fleet.root, 'clone', '-q', bare, clone);
  const commit = async (message: string) => {
    await git(clone, 'add', '-A');
    await git(clone, '-c', 'user.name=J', '-c', 'user.email=j@x', 'commit', '-q', '-m', message);
  };
  const base = await git(clone, 'rev-parse', 'HEAD');
  await writeFile(`${clone}/test/a.txt`, 'new');
  await commit('Of others');
  await git(clone, 'push', '-q', 'origin', 'main');
  await git(clone, 'switch', '-q', '-c', 'jean/moving', base);
  await writeFile(`${clone}/made.txt`, 'jean');
  await commit('Add it');
  await git(clone, '-c', 'user.name=J', '-c', 'user.email=j@x', 'merge', '-q', '-m', 'Main', 'origin/main');
  await git(clone, 'push', '-q', 'origin', 'jean/moving');
  for (const id of enqueued) {
    await fleet.fleet.completeFor(id, { as: 'jean', result: 'ok', commit: 'jean/moving' });
    const done = await fleet.settled(id);
    expect(done).toMatchObject({ state: 'done', base });
    expect(done.receipts.find(({ kind }) => kind === 'git')?.summary).toBe('2 commits, 1 file (1 added)');
  }
});
