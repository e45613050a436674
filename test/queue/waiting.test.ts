import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let repo: string;
/** Adds a line to a file of its own, and so shows what it started from. */
const OWN = [
  'sh',
  '-c',
  'ls > "seen-$FLEET_TASK.txt"; echo "$FLEET_RUN" >> "runs-$FLEET_TASK.txt"; git add -A; git -c user.name=a -c user.email=a@b commit -qm "$FLEET_TASK"',
];

beforeAll(async () => {
  fleet = await TestFleet.start();
  repo = await fleet.repo('repo');
  await fleet.worker('one', {
    worker: { slots: 4 },
    coders: {
      own: { command: OWN, protocol: 'none' },
      same: { command: ['sh', '-c', 'echo "$FLEET_TASK" > same.txt'], protocol: 'none' },
      fail: { command: ['sh', '-c', 'exit 1'], protocol: 'none' },
      wait: agent('wait-for-file.sh'),
    },
  });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const enqueue = (input: Partial<TaskInput>, more: { id?: string; key?: string } = {}) =>
  fleet.fleet.enqueue({ objective: 'x', repo, coder: 'own', ...input }, more);
const stateIs = (id: string, state: string) => until(async () => (await fleet.fleet.view(id)).state === state);

describe('tasks that come first', () => {
  test.concurrent('a task waits for another one, and starts from its result', async () => {
    const first = await enqueue({ coder: 'wait' });
    const second = await enqueue({ dependsOn: [first] });
    await stateIs(second, 'blocked');
    await until(async () => (await fleet.fleet.view(second)).dependsOn?.[0]?.state);
    expect((await fleet.fleet.explain(second)).sentence).toContain(`it waits for ${first}`);
    const { runs } = await fleet.fleet.view(second);
    expect(runs).toEqual([]);
    await writeFile(`${(await fleet.running(first, 1)).work}/go`, '');
    const done = await fleet.settled(second);
    const before = await fleet.fleet.view(first);
    expect(done).toMatchObject({ state: 'done', base: before.commit });
    const seen = await git(repo, 'show', `${done.commit}:seen-${second}.txt`);
    expect(seen).toContain('made.txt');
  });

  test.concurrent.each(['path', 'url'] as const)('of several it starts from all their results, by %s', async (by) => {
    const own = await fleet.repo(`several-${by}`);
    const at = by === 'path' ? own : `file://${own}`;
    const [a, b] = [await enqueue({ repo: at }), await enqueue({ repo: at })];
    const join = await enqueue({ repo: at, dependsOn: [a, b] });
    const done = await fleet.settled(join);
    expect(done).toMatchObject({ state: 'done', runs: [expect.anything()] });
    const seen = await git(own, 'show', `${done.commit}:seen-${join}.txt`);
    expect(seen).toContain(`seen-${a}.txt`);
    expect(seen).toContain(`seen-${b}.txt`);
    expect(await git(own, 'for-each-ref', '--format=%(refname)', 'refs/fleet')).toBe('');
    // A second task that depends on a result and on what was made of it starts from the newer one alone.
    const last = await enqueue({ repo: at, dependsOn: [a, join] });
    expect(await fleet.settled(last)).toMatchObject({ state: 'done', base: done.commit });
  });

  test.concurrent('of a URL also where a branch was removed meanwhile, as with its pull request', async () => {
    const own = await fleet.repo('removed');
    const at = `file://${own}`;
    const [a, b] = [await enqueue({ repo: at }), await enqueue({ repo: at })];
    for (const id of [a, b]) await fleet.settled(id);
    for (const [i, id] of [a, b].entries()) {
      await git(own, 'update-ref', `refs/pull/${i}/head`, `fleet/${id}`);
      await git(own, 'branch', '-D', `fleet/${id}`);
    }
    const join = await enqueue({ repo: at, dependsOn: [a, b] });
    const done = await fleet.settled(join);
    expect(done).toMatchObject({ state: 'done' });
    const seen = await git(own, 'show', `${done.commit}:seen-${join}.txt`);
    for (const id of [a, b]) expect(seen).toContain(`seen-${id}.txt`);
  });

  test.concurrent('results that conflict park it with where they do', async () => {
    const own = await fleet.repo('conflict');
    const [a, b] = [await enqueue({ repo: own, coder: 'same' }), await enqueue({ repo: own, coder: 'same' })];
    const join = await fleet.settled(await enqueue({ repo: own, dependsOn: [a, b] }));
    expect(join).toMatchObject({ state: 'parked', reason: 'conflict' });
    expect(join.message).toContain('conflict: fleet/');
    expect(join.message).toContain('same.txt');
  });

  test.concurrent('one that was done before is found at once; what has no repository changes no base', async () => {
    const first = await enqueue({});
    await fleet.settled(first);
    const second = await enqueue({ dependsOn: [first] });
    expect(await fleet.settled(second)).toMatchObject({ state: 'done', base: (await fleet.fleet.view(first)).commit });
  });

  test.concurrent.each([
    ['wait', 'parked'],
    ['cancel', 'cancelled'],
    ['run', 'done'],
  ] as const)('where one fails, %s leads to %s', async (onDependencyFailure, state) => {
    const first = await enqueue({ coder: 'fail', retry: { maxAttempts: 1 } });
    await fleet.settled(first);
    const second = await enqueue({ dependsOn: [first], onDependencyFailure });
    if (onDependencyFailure === 'wait') {
      await stateIs(second, 'blocked');
      await until(async () => (await fleet.fleet.explain(second)).sentence.includes('parked'));
      await fleet.fleet.giveUp(first, 'no use');
    }
    const settled = await fleet.settled(second);
    expect(settled).toMatchObject({ state, reason: state === 'done' ? null : 'dependency-failed' });
    if (state !== 'parked') return;
    expect(settled.message).toContain(`task ${first}, which this one depends on, was failed`);
    await fleet.fleet.changeNeeds(second, { drop: [first] });
    await fleet.fleet.retry(second);
    expect(await fleet.settled(second)).toMatchObject({ state: 'done' });
  });

  test.concurrent('a parked one that is sent on again ends well for those that wait', async () => {
    const flag = `${fleet.root}/flag-${Date.now()}`;
    const first = await enqueue({ verify: [`test -e ${flag}`], retry: { maxAttempts: 1 } });
    const second = await enqueue({ dependsOn: [first] });
    await stateIs(first, 'parked');
    await writeFile(flag, '');
    await fleet.fleet.retry(first);
    expect(await fleet.settled(second)).toMatchObject({ state: 'done' });
  });

  test.concurrent('one that is terminated tells nobody, and explain shows it', async () => {
    const first = await enqueue({ approval: 'before-run' });
    const second = await enqueue({ dependsOn: [first] });
    await stateIs(second, 'blocked');
    await until(async () => (await fleet.fleet.view(second)).dependsOn?.[0]?.state);
    await fleet.client.workflow.getHandle(first).terminate('by hand');
    const { sentence } = await fleet.fleet.explain(second);
    expect(sentence).toContain(
      `it waits for ${first}, which was terminated: fleet task ${second} needs --drop ${first}`,
    );
    await fleet.fleet.cancel(second);
  });

  test.concurrent('they are added to a task that waits, which is then not claimed; a circle is refused', async () => {
    const first = await enqueue({ coder: 'wait' });
    const second = await enqueue({ dependsOn: [first] });
    const third = await enqueue({ dependsOn: [second] });
    await stateIs(third, 'blocked');
    await expect(fleet.fleet.changeNeeds(second, { add: [third] })).rejects.toThrow(
      `dependsOn would lead in a circle: ${second} → ${third} → ${second}`,
    );
    await expect(fleet.fleet.changeNeeds(second, { add: ['no-such-task'] })).rejects.toThrow(
      'there is no task no-such-task',
    );
    await expect(fleet.fleet.changeNeeds(second, { drop: [third] })).rejects.toThrow(`it does not depend on ${third}`);
    await expect(fleet.fleet.changeNeeds(first, { add: [third] })).rejects.toThrow(/circle|running/);
    await fleet.fleet.changeNeeds(third, { drop: [second] });
    expect(await fleet.settled(third)).toMatchObject({ state: 'done' });
    await fleet.fleet.cancel(second);
    await fleet.fleet.cancel(first);
  });

  test.concurrent('unknown ones and circles are refused before anything is created', async () => {
    await expect(enqueue({ dependsOn: ['no-such-task'] })).rejects.toThrow(
      'dependsOn[0] no-such-task is unknown: there is no such task',
    );
    const a = { input: { objective: 'a', repo, coder: 'own', dependsOn: ['circle-b'] }, id: 'circle-a' };
    const b = { input: { objective: 'b', repo, coder: 'own', dependsOn: ['circle-a'] }, id: 'circle-b' };
    await expect(fleet.fleet.enqueueAll([a, b])).rejects.toThrow(
      'dependsOn leads in a circle: circle-a → circle-b → circle-a',
    );
    await expect(fleet.fleet.view('circle-a')).rejects.toThrow('there is no task circle-a');
  });
});

describe('the same task told twice', () => {
  test.concurrent('is one task by its key', async () => {
    const key = `invoice 12 of ${process.pid}`;
    const [one, other] = await Promise.all([enqueue({}, { key }), enqueue({}, { key })]);
    expect(other).toBe(one);
    expect(await fleet.settled(one)).toMatchObject({ state: 'done', runs: [expect.anything()] });
    expect(await enqueue({}, { key })).toBe(one);
    const refused = `key ${key} is that of task ${one}, which has another objective: use another key, or see fleet task ${one}`;
    await expect(enqueue({ objective: 'Another one' }, { key })).rejects.toThrow(refused);
  });
});

describe("a person's yes", () => {
  test.concurrent('before it runs: no slot, no run, until somebody approves; the second word is refused', async () => {
    const id = await enqueue({ approval: 'before-run' });
    await stateIs(id, 'awaiting-approval');
    await expect(fleet.fleet.answer(id, { answer: 'yes', by: 'jo' })).rejects.toThrow('it asks nothing');
    await expect(fleet.fleet.approve(id, { by: 'al', why: '', approval: 'a2' })).rejects.toThrow(
      'it waits for a1, not a2',
    );
    await fleet.fleet.approve(id, { by: 'jo', why: '', approval: 'a1' });
    await expect(fleet.fleet.approve(id, { by: 'al', why: '' })).rejects.toThrow('it was approved by jo already');
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', approvals: [{ stage: 'before-run', by: 'jo' }] });
  });

  test.concurrent('a no before it runs parks it, and retry asks again', async () => {
    const id = await enqueue({ approval: 'before-run' });
    await stateIs(id, 'awaiting-approval');
    await fleet.fleet.reject(id, { by: 'jo', why: 'too early' });
    await stateIs(id, 'parked');
    expect(await fleet.fleet.view(id)).toMatchObject({ reason: 'not-approved', message: 'too early', runs: [] });
    await fleet.fleet.retry(id);
    await stateIs(id, 'awaiting-approval');
    await fleet.fleet.cancel(id);
  });

  test.concurrent('before delivery: the result is kept, no branch is there, and what was approved is delivered', async () => {
    const id = await enqueue({ approval: 'before-deliver' });
    await stateIs(id, 'awaiting-approval');
    const { commit, worker } = await fleet.fleet.view(id);
    expect(worker).toBeNull();
    expect(await git(repo, 'branch', '--list', `fleet/${id}`)).toBe('');
    await fleet.fleet.approve(id, { by: 'jo', why: 'looks good' });
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', branch: `fleet/${id}`, commit });
    expect((await git(repo, 'rev-parse', `fleet/${id}`)).trim()).toBe(commit);
  });

  test.concurrent('a late yes to the first stage is none to the second', async () => {
    const id = await enqueue({ approval: 'both' });
    await stateIs(id, 'awaiting-approval');
    await fleet.fleet.approve(id, { by: 'ada', why: '', approval: 'a1' });
    await until(async () => (await fleet.fleet.view(id)).approval?.id === 'a2');
    const late = fleet.fleet.approve(id, { by: 'bob', why: '', approval: 'a1' });
    await expect(late).rejects.toThrow('it was approved by ada already');
    expect(await fleet.fleet.view(id)).toMatchObject({ state: 'awaiting-approval', branch: null });
    await fleet.fleet.cancel(id);
  });

  test.concurrent('a no to the result goes back to the agent with the reason', async () => {
    const id = await enqueue({ approval: 'before-deliver', retry: { backoff: '1s' } });
    await stateIs(id, 'awaiting-approval');
    await fleet.fleet.reject(id, { by: 'jo', why: 'use tabs' });
    await until(async () => (await fleet.fleet.view(id)).runs.length === 2);
    await stateIs(id, 'awaiting-approval');
    expect((await fleet.fleet.view(id)).runs[0]).toMatchObject({
      reason: 'not-approved',
      message: 'use tabs',
      counts: true,
    });
    await fleet.fleet.approve(id, { by: 'jo', why: '' });
    expect(await fleet.settled(id)).toMatchObject({ state: 'done' });
  });
});
