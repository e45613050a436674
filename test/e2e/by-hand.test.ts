import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WorkflowFailedError } from '@temporalio/client';
import { execa } from 'execa';
import { makeSample } from '../../src/cli/demo/sample.ts';
import { demoCoders } from '../../src/cli/demo/tasks.ts';
import { answered } from '../../src/client/connection.ts';
import { loadConfig } from '../../src/config.ts';
import { viewQuery } from '../../src/workflows/messages.ts';
import { agent, git, TestFleet } from '../helpers/fleet.ts';

let fleet: TestFleet;
let temporal: string;

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const sh = (script: string) => ({ command: ['sh', '-c', script], protocol: 'none' as const });

beforeAll(async () => {
  fleet = await TestFleet.start();
  temporal = (await execa(at('temporal-dev.sh'), ['--install-only'], { env: fleet.server.env })).stdout.trim();
  await fleet.worker('desk', {
    worker: { slots: 4, coder: 'ok' },
    coders: {
      ...demoCoders(),
      ok: agent('ok.sh'),
      chatty:
        sh(`echo said; echo moaned >&2; echo planned > ../notes/PLAN_AND_STATUS.md; echo learnt > ../notes/KNOWLEDGE.md
                  echo made > made.txt; git add made.txt; git commit -qm made`),
    },
  });
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

/** As docs/tasks.md says it. */
const start = (id: string, input: object) =>
  execa(
    temporal,
    [
      'workflow',
      'start',
      '--type',
      'agentTask',
      '--task-queue',
      'fleet',
      '--workflow-id',
      id,
      '--input',
      JSON.stringify(input),
    ],
    { env: fleet.server.env },
  );
const failure = async (id: string) => {
  const error: unknown = await fleet.client.workflow
    .getHandle(id)
    .result()
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WorkflowFailedError);
  return (error as WorkflowFailedError).cause;
};

describe("a task started by Temporal's own program", () => {
  test.concurrent('goes the same way to done', async () => {
    const repo = await fleet.repo('by-hand');
    await start('my-task', { objective: 'Add made.txt', repo, verify: ['test -s made.txt'], labels: ['hand'] });
    expect(await fleet.settled('my-task')).toMatchObject({ state: 'done', coder: 'ok', branch: 'fleet/my-task' });
    expect(await git(repo, 'log', '--format=%s', 'main..fleet/my-task')).toBe('Add made.txt');
    const listed = await fleet.fleet.list({ all: true });
    expect(listed.find(({ id }) => id === 'my-task')).toMatchObject({ state: 'done', worker: null });
  });

  test.concurrent.each([
    ['no-objective', { repo: '/x' }, 'invalid task: objective is required: say what the agent should do'],
    [
      'bad-limit',
      { objective: 'x', repo: '/x', limits: { idle: 'soon' } },
      'invalid task: limits.idle must be a duration such as 90s, 10m or 2h',
    ],
    ['bad-priority', { objective: 'x', repo: '/x', priority: 101 }, 'invalid task: priority'],
    ['no-repo', { objective: 'x' }, 'invalid task: repo is required for a task of type code'],
    [
      'unknown-field',
      { objective: 'x', repo: '/x', repository: '/y' },
      'invalid task: repository is not a known field',
    ],
    ['Not-An-Id', { objective: 'x', repo: '/x' }, 'invalid task: id Not-An-Id must be lower-case words'],
    ['a..b', { objective: 'x', repo: '/x' }, 'invalid task: id a..b must be lower-case words'],
    ['x.lock', { objective: 'x', repo: '/x' }, 'invalid task: id x.lock must be lower-case words'],
  ])('bad input fails at once: %s', async (id, input, message) => {
    await start(id, input);
    expect(await failure(id)).toMatchObject({
      type: 'InvalidTask',
      nonRetryable: true,
      message: expect.stringContaining(message),
    });
    const { code, stdout } = await fleet.cli(['task', id, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'failed', reason: 'invalid-task', runs: [] });
  });

  test.concurrent('one that has just ended as invalid is no fault of whoever lists it', async () => {
    await start('looked-at', { objective: 'x' });
    await failure('looked-at');
    const handle = fleet.client.workflow.getHandle('looked-at');
    const wire = { client: fleet.client, config: loadConfig({ home: fleet.root, env: {} }) };
    expect(await answered(wire, () => handle.query(viewQuery))).toBeUndefined();
  });

  test.concurrent('a repository that is not there parks it with a sentence', async () => {
    await start('nowhere', { objective: 'x', repo: `${fleet.root}/nowhere` });
    expect(await fleet.settled('nowhere')).toMatchObject({
      state: 'parked',
      reason: 'repo-unavailable',
      message: expect.stringContaining(`${fleet.root}/nowhere`),
      attempts: { used: 0 },
    });
  });
});

test.concurrent('examples/start-task.ts starts a task and waits for it', async () => {
  const scripts = { test: 'test -s made.txt' };
  const repo = await fleet.repo('example', { 'package.json': JSON.stringify({ name: 'example', scripts }) });
  const { stdout } = await execa(
    process.execPath,
    ['--import', 'tsx', at('examples/start-task.ts'), repo, 'Add made.txt'],
    {
      cwd: at('.'),
      env: { ...fleet.server.env, FLEET_HOME: `${fleet.root}/example-home` },
    },
  );
  expect(stdout).toMatch(/^add-made-txt-\w+ (queued|setting-up|running|verifying|delivering|done)/);
  expect(stdout.split('\n').at(-1)).toMatch(/^done fleet\/add-made-txt-\w+$/);
});

test.concurrent('a worker with --until-idle drains its queue and exits 0, not before', async () => {
  const repo = await fleet.repo('night-shop');
  const ids = ['night-1', 'night-2'];
  // Without a queue in its input, a task waits in the one that it was started in.
  for (const [workflowId, said] of [
    ['night-1', { queue: 'night' }],
    ['night-2', {}],
  ] as const) {
    const input = { objective: 'x', repo, coder: 'slow', ...said };
    await fleet.client.workflow.start('agentTask', { workflowId, taskQueue: 'night', args: [input] });
  }
  await using worker = await fleet.worker(
    'night',
    // Each task takes longer than the worker may be idle; with one slot, the second waits.
    {
      worker: { slots: 1, queues: ['night'] },
      coders: { slow: sh('sleep 3; echo made > made.txt; git add -A; git commit -qm made') },
    },
    { flags: ['--until-idle', '2s'] },
  );
  expect(await worker.exited).toBe(0);
  for (const id of ids) expect(await fleet.result(id)).toMatchObject({ state: 'done', runs: { length: 1 } });
});

test.concurrent('a task that was changed after a client had parsed it is parsed again', async () => {
  const repo = await fleet.repo('changed');
  await using _worker = await fleet.worker('changed', {
    worker: { slots: 1, queues: ['changed'], coder: 'hold' },
    coders: { hold: sh('exec sleep 86400') },
  });
  const id = await fleet.fleet.enqueue({ objective: 'x', repo, queue: 'changed' });
  const { events } = await fleet.client.workflow.getHandle(id).fetchHistory();
  const { payloads } = events![0]!.workflowExecutionStartedEventAttributes!.input!;
  const [input, digest] = payloads!.map(({ data }) => JSON.parse(Buffer.from(data!).toString('utf8')) as unknown);
  const task = input as Record<string, unknown>;
  const begin = (workflowId: string, args: unknown[]) =>
    fleet.client.workflow.start('agentTask', { workflowId, taskQueue: 'changed', args });
  await begin('changed-same', [task, digest]);
  const changed = await begin('changed-since', [{ ...task, priority: 101 }, digest]);
  await expect(changed.result()).rejects.toMatchObject({ cause: { message: expect.stringContaining('priority') } });
  expect(await fleet.fleet.view('changed-same')).toMatchObject({ objective: 'x', priority: 50 });
  await fleet.fleet.cancel(id);
  await fleet.fleet.cancel('changed-same');
});

test.concurrent('what a run left is read through its worker, from any FLEET_HOME', async () => {
  const repo = await fleet.repo('read');
  const sample = `${fleet.root}/read-sample`;
  await makeSample(sample);
  const [id, fixed] = await Promise.all([
    fleet.fleet.enqueue({ objective: 'x', repo, coder: 'chatty' }),
    fleet.fleet.enqueue({ objective: 'x', repo: sample, coder: 'fix' }),
  ]);
  expect(await fleet.settled(id)).toMatchObject({ state: 'done' });
  expect(await fleet.settled(fixed)).toMatchObject({ state: 'done' });
  const env = { FLEET_HOME: `${fleet.root}/elsewhere` };
  const read = async (task: string, ...what: string[]) => {
    const { stdout, stderr, code } = await fleet.cli(['task', task, ...what], { env });
    expect({ what, code, stderr }).toEqual({ what, code: 0, stderr: '' });
    return stdout;
  };
  const [log, stderr, plan, knowledge, diff, receipts, events] = await Promise.all([
    read(id, 'log'),
    read(id, 'stderr'),
    read(id, 'plan'),
    read(id, 'knowledge'),
    read(id, 'diff'),
    read(id, 'receipts'),
    read(fixed, 'events', '--json'),
  ]);
  expect(log).toBe('said');
  expect(stderr).toBe('moaned');
  expect(plan).toBe('planned');
  expect(knowledge).toBe('learnt');
  expect(diff).toMatch(/^\+\+\+ b\/made\.txt\n@@ .*\n\+made$/m);
  for (const kind of ['exit', 'git', 'scope']) expect(receipts).toMatch(new RegExp(kind));
  expect(receipts).toMatch(/accepted \(no acceptance command\)$/);
  const types = events.split('\n').map((line) => (JSON.parse(line) as { type: string }).type);
  expect(types).toEqual(expect.arrayContaining(['started', 'text', 'tool-call', 'tool-result', 'usage', 'ended']));
});

test.concurrent('the same id twice is refused with a pointer to the first', async () => {
  const repo = await fleet.repo('same');
  const enqueue = () => fleet.cli(['enqueue', 'Add made.txt', '--id', 'same', '--repo', repo]);
  expect(await enqueue()).toMatchObject({ code: 0, stdout: 'same' });
  const refused = {
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('there is a task same already: see fleet task same'),
  };
  expect(await enqueue()).toMatchObject(refused);
  expect(await fleet.settled('same')).toMatchObject({ state: 'done' });
  expect(await enqueue()).toMatchObject(refused);
});
