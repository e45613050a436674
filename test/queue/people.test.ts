import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PartialConfig } from '../../src/config.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet } from '../helpers/fleet.ts';
import { startHook } from '../helpers/hook.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.start();
});
afterAll(() => fleet[Symbol.asyncDispose]());

const coders = {
  claude: { command: agent('asks.mjs').command },
  own: {
    command: ['sh', '-c', 'mkdir -p migrations && echo 1 > migrations/1.sql; echo x > own.txt'],
    protocol: 'none' as const,
  },
  fine: { command: ['sh', '-c', 'echo x > own.txt'], protocol: 'none' as const },
  more: { command: ['sh', '-c', 'echo x > more.txt'], protocol: 'none' as const },
};

/** Each test has a queue, workers with one slot, and a repository of its own. */
async function lab(queue: string) {
  const repo = await fleet.repo(`repo-${queue}`);
  return {
    repo,
    worker: (name: string, config: PartialConfig = {}) =>
      fleet.worker(name, { coders, ...config, worker: { slots: 1, queues: [queue], ...config.worker } }),
    enqueue: (input: Partial<TaskInput>) =>
      fleet.fleet.enqueue({ objective: 'x', repo, coder: 'claude', queue, ...input }),
  };
}
const stateIs = (id: string, state: string) => until(async () => (await fleet.fleet.view(id)).state === state);
interface Found {
  half: string;
  kept: string | null;
  prompt: string;
}
const found = async (repo: string, id: string) =>
  JSON.parse(await git(repo, 'show', `fleet/${id}:found.json`)) as Found;

test.concurrent('a worker that is there and answers late is not said to be absent', async () => {
  const { worker, enqueue } = await lab('late');
  const late = await worker('late');
  const id = await enqueue({ approval: 'before-run' });
  await until(async () => !(await fleet.fleet.view(id)).partial);
  late.kill('SIGSTOP');
  expect(await fleet.fleet.view(id)).toMatchObject({
    ...{ partial: true, state: 'awaiting-approval' },
    message: `worker ${late.name} is attached and did not answer in time, as happens under load: this is what the server knows`,
  });
  late.kill('SIGCONT');
  await until(async () => !(await fleet.fleet.view(id)).partial);
  await fleet.fleet.cancel(id);
});

test.concurrent('a question outlives its worker: answered, the task goes on elsewhere with its files and its session', async () => {
  const { repo, worker, enqueue } = await lab('away');
  const bare = `${fleet.root}/away.git`;
  await git(fleet.root, 'clone', '-q', '--bare', repo, bare);
  const asked = await worker('away-a');
  const id = await enqueue({ repo: `file://${bare}` });
  await stateIs(id, 'awaiting-answer');
  // Its only slot is free meanwhile.
  expect(await fleet.settled(await enqueue({ coder: 'fine' }))).toMatchObject({ state: 'done' });
  expect(await fleet.fleet.view(id)).toMatchObject({ state: 'awaiting-answer', worker: null, attempts: { used: 0 } });
  await asked.stop('SIGKILL');

  const inbox = await until(async () => {
    const { stdout } = await fleet.cli(['inbox', '--json']);
    return (JSON.parse(stdout) as { id: string; commands: string[] }[]).find((item) => item.id === id);
  });
  // Nobody is there, and all is told.
  expect(inbox.commands).toEqual([
    `fleet task ${id} answer --question q1 80`,
    `fleet task ${id} answer --question q1 8080`,
  ]);

  const other = await worker('away-b', { machine: 'another-machine' });
  expect((await fleet.cli(['task', id, 'answer', '--question', 'q1', '8080'])).stdout).toBe(`task ${id} is answered`);

  const done = await fleet.settled(id, 150_000);
  expect(done).toMatchObject({
    ...{ state: 'done', attempts: { used: 1 } },
    runs: [
      { reason: 'asked', counts: false, saved: { pushed: true } },
      { worker: other.name, sameSession: true },
    ],
    answers: [{ question: 'q1', answer: '8080', by: expect.stringContaining('@') }],
  });
  expect(done.runs[1]!.resumedFrom).toBe(done.runs[0]!.runId);
  const { half, kept, prompt } = await found(bare, id);
  expect(half).toBe(`half by ${done.runs[0]!.runId}`);
  expect(kept).toBe('{"said":"first"}\n');
  expect(prompt).toContain('Which port?');
  expect(prompt).toContain('8080');
}, 240_000);

test.concurrent('of a path repository the next worker of that home goes on', async () => {
  const { repo, worker, enqueue } = await lab('back');
  const asked = await worker('back');
  const id = await enqueue({});
  await stateIs(id, 'awaiting-answer');
  await asked.stop('SIGKILL');
  await worker('back');
  await fleet.fleet.answer(id, { answer: 'neither', by: 'kim' });
  const done = await fleet.settled(id, 120_000);
  expect(done).toMatchObject({ state: 'done', runs: [{ reason: 'asked' }, { sameSession: true }] });
  const { half, kept, prompt } = await found(repo, id);
  expect(half).toBe(`half by ${done.runs[0]!.runId}`);
  expect(kept).toBe('{"said":"first"}\n');
  expect(prompt).toContain('neither');
});

test.concurrent('approvals wait through restarts of the worker, before the run and before the delivery', async () => {
  const { repo, worker, enqueue } = await lab('approved');
  const first = await worker('approved');
  const id = await enqueue({ coder: 'fine', approval: 'both' });
  await stateIs(id, 'awaiting-approval');
  await first.stop('SIGKILL');
  const second = await worker('approved');
  expect((await fleet.cli(['task', id, 'approve', '--why', 'go'])).stdout).toBe(`task ${id} is approved`);
  await until(async () => (await fleet.fleet.view(id)).approval?.stage === 'before-deliver');
  expect(await git(repo, 'branch', '--list', `fleet/${id}`)).toBe('');
  await second.stop('SIGKILL');
  await worker('approved');
  const { code } = await fleet.cli(['task', id, 'approve']);
  expect(code).toBe(0);
  const done = await fleet.settled(id);
  expect(done).toMatchObject({
    ...{ state: 'done', branch: `fleet/${id}` },
    approvals: [
      { stage: 'before-run', approved: true, why: 'go' },
      { stage: 'before-deliver', approved: true },
    ],
  });
  expect((await fleet.cli(['task', id])).stdout).toMatch(/Approved +before-run by \S+@\S+: go/);
});

test.concurrent('what the configuration calls irreversible waits for a yes, and is told once with what to type', async () => {
  const { repo, worker, enqueue } = await lab('held');
  const hook = await startHook();
  try {
    await worker('held', {
      alerts: { webhook: hook.webhook },
      irreversible: { paths: ['migrations/**'], labels: ['production'], deliver: [] },
    });
    const id = await enqueue({ coder: 'own' });
    await stateIs(id, 'awaiting-approval');
    expect((await fleet.fleet.explain(id)).sentence).toMatch(
      /^its result waits for a person to approve it before it is delivered, for .*it changes migrations\/1\.sql \(irreversible\.paths: migrations\/\*\*\)/,
    );
    await until(() => hook.told.length > 0);
    expect(hook.told).toMatchObject([
      {
        ...{ id, state: 'awaiting-approval', approval: { stage: 'before-deliver' } },
        commands: [
          `fleet task ${id} diff`,
          `fleet task ${id} approve --approval a1`,
          `fleet task ${id} reject --approval a1 --why '…'`,
        ],
      },
    ]);
    const { stdout } = await fleet.cli(['inbox']);
    expect(stdout).toMatch(
      /it changes migrations\/1\.sql \(irreversible\.paths: migrations\/\*\*\)\n  without a yes in 2\dh.* it is a no\n/,
    );
    expect(stdout).toContain(`\n    fleet task ${id} diff\n    fleet task ${id} approve --approval a1\n`);
    const both = ['yes', 'fine'].map((why) => fleet.cli(['task', id, 'approve', '--why', why]));
    const said = (await Promise.all(both)).map(({ code, stderr }) => ({ code, stderr: stderr.split('\n')[0] }));
    expect(said).toContainEqual({ code: 0, stderr: '' });
    expect(said.find(({ code }) => code === 2)?.stderr).toMatch(
      /^fleet: task \S+(: it was approved by \S+@\S+ already| is done already)$/,
    );
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', branch: `fleet/${id}` });
    expect(await git(repo, 'show', `fleet/${id}:migrations/1.sql`)).toBe('1');

    const labelled = await enqueue({ coder: 'fine', labels: ['production'] });
    await stateIs(labelled, 'awaiting-approval');
    await fleet.fleet.reject(labelled, { by: 'kim', why: 'not on a Friday' });
    await until(async () => (await fleet.fleet.view(labelled)).runs[0]?.reason === 'not-approved');
    await fleet.fleet.cancel(labelled);
    const plain = await fleet.settled(await enqueue({ coder: 'fine' }));
    expect(plain.state).toBe('done');
    expect(plain.approvals ?? []).toEqual([]);

    // What a person has to say yes to comes in by the base as well.
    await git(repo, 'branch', 'trunk');
    await git(repo, 'branch', 'ahead', `fleet/${id}`);
    const behind = await enqueue({ coder: 'more', base: 'ahead', deliver: 'merge', into: 'trunk' });
    await stateIs(behind, 'awaiting-approval');
    expect((await fleet.fleet.view(behind)).approval?.why).toBe(
      'with its base it would bring along migrations/1.sql (irreversible.paths: migrations/**)',
    );
    await fleet.fleet.reject(behind, { by: 'kim', why: 'not this way' });
    await fleet.fleet.cancel(behind);
    const level = await fleet.settled(await enqueue({ coder: 'fine', deliver: 'merge', into: 'trunk' }));
    expect(level).toMatchObject({ state: 'done', merged: { into: 'trunk' } });
  } finally {
    hook.close();
  }
});

test.concurrent('what people say at the wrong time, or wrongly, is refused with one sentence', async () => {
  const { worker, enqueue } = await lab('words');
  await worker('words');
  const id = await enqueue({});
  await stateIs(id, 'awaiting-answer');
  const said = async (...args: string[]) => {
    const { code, stderr } = await fleet.cli(['task', id, ...args]);
    return { code, said: stderr.replaceAll(id, 'ID').split('\n')[0] };
  };
  const wrong = (text: string) => ({ code: 2, said: `fleet: ${text}` });
  expect(await said('approve')).toEqual(
    wrong('task ID: the task is awaiting-answer: nothing of it waits for an approval'),
  );
  expect(await said('answer', '--question', 'q7', '80')).toEqual(wrong('task ID: it asks q1, not q7: Which port?'));
  expect(await said('answer', ' ')).toEqual(wrong('answer must not be empty'));
  expect((await said('answer', 'port', '80')).said).toContain('too many arguments');
  expect(await said('reject')).toEqual(wrong('--why is required: it is what the agent is told'));
  expect(await said('priority', '101')).toEqual(wrong('priority must be a whole number from 0 to 100, not "101"'));
  expect(await said('priority', 'high')).toEqual(wrong('priority must be a whole number from 0 to 100, not "high"'));
  expect(await said('needs', '--add', id)).toMatchObject({ code: 2 });
  expect(await said('needs', '--drop', 'nothing-x')).toEqual(wrong('task ID: it does not depend on nothing-x'));
  expect(await said('needs', '--add', 'a,b', '--drop', 'b')).toEqual(wrong('b stands in both --add and --drop'));
  expect((await fleet.cli(['task', id, 'needs'])).stdout).toBe(`task ${id} waits for no other task`);
  expect((await fleet.cli(['task', id, 'priority', '10'])).stdout).toBe(`task ${id} has priority 10`);
  expect((await fleet.fleet.view(id)).priority).toBe(10);

  // An answer that was not offered is passed on, and one is told so.
  expect(await said('answer', 'the one of the main server')).toEqual({
    code: 0,
    said: 'it is none of the options (80, 8080), and was passed on as it is',
  });
  expect(await said('answer', '--question', 'q1', '80')).toMatchObject({
    code: 2,
    said: expect.stringMatching(/question q1 was answered by \S+@\S+: the one of the main server|is done already/),
  });
  await fleet.settled(id);
  expect(await said('answer', '80')).toEqual(wrong('task ID is done already'));
});
