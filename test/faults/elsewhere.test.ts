import { existsSync } from 'node:fs';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TaskReport } from '../../src/client.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let repo: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  repo = await fleet.repo('shop');
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

/** Two workers of one queue; the second one is told apart by its `LOGNAME`, which commands see, and has no coder for the task. */
const LEASE = { heartbeat: '3s', grace: '23s', selfKill: '10s' };
const first = (queue: string): Promise<TestWorker> =>
  fleet.worker(`${queue}-a`, {
    worker: { slots: 2, queues: [queue] },
    lease: LEASE,
    coders: { ok: agent('ok.sh'), idle: { command: ['true'], protocol: 'none' } },
  });
const second = (queue: string, name = 'b'): Promise<TestWorker> =>
  fleet.worker(
    `${queue}-${name}`,
    { worker: { slots: 1, queues: [queue] }, lease: LEASE, coders: { other: agent('ok.sh') } },
    { env: { LOGNAME: name } },
  );
const enqueue = (queue: string, command: string, input: Partial<TaskInput> = {}) =>
  fleet.fleet.enqueue({
    ...{ objective: 'Add made.txt', repo, queue, coder: 'ok', retry: { maxAttempts: 1 } },
    ...{ verify: { commands: [command], where: 'other' }, ...input },
  });
const receiptOf = (report: TaskReport) => report.receipts.find(({ kind }) => kind === 'replay');

const kindOf = (line: string): string => {
  const { payload } = JSON.parse(line) as { payload: string };
  const statement = JSON.parse(Buffer.from(payload, 'base64').toString()) as {
    predicate: { x_fleet: { kind: string } };
  };
  return statement.predicate.x_fleet.kind;
};

/** Nothing that was only there for the second worker is left. */
async function noTrace(id: string, { workers, at = repo }: { workers: TestWorker[]; at?: string }): Promise<void> {
  await until(async () => (await git(at, 'for-each-ref', `refs/fleet/${id}`)) === '');
  for (const { home } of workers) {
    await until(async () => (await readdir(`${home}/scratch`).catch(() => [])).every((name) => !name.includes(id)));
    await until(async () => (await strays(`${home}/scratch/replay-${id}`)).length === 0);
  }
}
/** A command that waits, on that worker only, for a file in the user's checkout, which it can see. */
const waits = (name: string, file = 'never') =>
  `test -s made.txt && if [ "$LOGNAME" = ${name} ]; then while [ ! -e ${repo}/${file} ]; do sleep 0.1; done; fi`;
const atWork = (worker: TestWorker, id: string) =>
  until(async () => (await strays(`${worker.home}/scratch/replay-${id}`)).length > 0, { timeoutMs: 60_000 });

describe('two workers', () => {
  let workers: TestWorker[];
  beforeAll(async () => {
    workers = [await first('two'), await second('two')];
  }, 120_000);

  test('of a path: it is done, and both have their say in the receipts', async () => {
    const id = await enqueue('two', 'test -s made.txt');
    const report = await fleet.settled(id);
    expect(report).toMatchObject({ state: 'done', branch: `fleet/${id}`, verdict: { accepted: true }, message: null });
    expect(receiptOf(report)).toMatchObject({
      ok: true,
      summary: expect.stringContaining(`worker ${workers[1]!.name} on`),
      evidence: { worker: workers[1]!.name, differences: [] },
    });
    const bundle = await readFile(`${workers[0]!.home}/tasks/${id}/1/receipts.jsonl`, 'utf8');
    const kinds = bundle.trimEnd().split('\n').map(kindOf);
    expect(kinds).toEqual([
      'run',
      'exit',
      'git',
      'scope',
      'acceptance',
      'verdict',
      'run',
      'acceptance',
      'replay',
      'verdict',
    ]);
    await noTrace(id, { workers });
  }, 120_000);

  test('of a URL', async () => {
    const bare = `${fleet.root}/remote.git`;
    await git(repo, 'clone', '-q', '--bare', repo, bare);
    const id = await enqueue('two', 'test -s made.txt', { repo: `file://${bare}` });
    expect(await fleet.settled(id)).toMatchObject({ state: 'done' });
    await noTrace(id, { workers, at: bare });
    expect(await git(bare, 'log', '--format=%s', `main..fleet/${id}`)).toBe('Add made.txt');
  }, 120_000);

  test('a task that changed nothing has nothing to hand over', async () => {
    const id = await enqueue('two', 'true', { type: 'research', scope: { allow: [] }, coder: 'idle' });
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', branch: null });
    await noTrace(id, { workers });
  }, 120_000);

  test('another verdict: rejected, with where they differ; a person may still accept', async () => {
    const id = await enqueue('two', '[ "$LOGNAME" != b ]');
    const report = await fleet.settled(id);
    expect(report).toMatchObject({ state: 'parked', reason: 'receipts-rejected', branch: null });
    expect(receiptOf(report)?.evidence['differences']).toEqual([
      'acceptance was ok here and not ok there',
      '`[ "$LOGNAME" != b ]` ended with 0 here and ended with 1 there',
    ]);
    expect(report.message).toContain('nobody knows which is wrong');
    expect(await git(repo, 'branch', '--list', `fleet/${id}`)).toBe('');
    await noTrace(id, { workers });
    await fleet.fleet.accept(id, 'looked at it myself');
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', branch: `fleet/${id}` });
  }, 120_000);

  test('a cancellation while the second one is at work', async () => {
    const id = await enqueue('two', waits('b'));
    await atWork(workers[1]!, id);
    expect(await git(repo, 'for-each-ref', '--format=%(refname)', `refs/fleet/${id}`)).toMatch(/\.result$/);
    await fleet.fleet.cancel(id);
    await until(async () => (await fleet.fleet.view(id)).state === 'cancelled', { timeoutMs: 60_000 });
    await noTrace(id, { workers });
  }, 120_000);
});

test('without a second worker it waits and says so, until it is cancelled or one attaches', async () => {
  const a = await first('late');
  const [id, other] = [await enqueue('late', 'test -s made.txt'), await enqueue('late', 'test -s made.txt')];
  for (const task of [id, other])
    await until(async () => /second worker/.test((await fleet.fleet.view(task)).message ?? ''), { timeoutMs: 60_000 });
  const { stdout } = await fleet.cli(['explain', id]);
  expect(stdout).toContain('accepted the result: it waits for a second worker, as verify.where is other');
  expect((await fleet.cli(['tasks'])).stdout).toContain('it waits for a second worker');
  expect(await git(repo, 'for-each-ref', `refs/fleet/${id}`)).toBe('');
  await fleet.fleet.cancel(other);
  await until(async () => (await fleet.fleet.view(other)).state === 'cancelled', { timeoutMs: 60_000 });
  await until(() => !existsSync(`${a.home}/runs/${other}`));
  const b = await second('late');
  expect(await fleet.settled(id)).toMatchObject({ state: 'done' });
  for (const task of [id, other]) await noTrace(task, { workers: [a, b] });
}, 240_000);

test('a second worker that is killed in the middle is replaced', async () => {
  const [a, b] = [await first('kill'), await second('kill')];
  const id = await enqueue('kill', waits('b'));
  await atWork(b, id);
  await b.stop('SIGKILL');
  const c = await second('kill', 'c');
  const report = await fleet.settled(id, 120_000);
  expect(report).toMatchObject({ state: 'done', attempts: { used: 1 } });
  expect(receiptOf(report)?.evidence).toMatchObject({ worker: c.name });
  expect(report.runs).toHaveLength(1);
  await noTrace(id, { workers: [a, c] });
  // What the killed one left goes when it is back.
  await noTrace(id, { workers: [await second('kill')] });
}, 240_000);

test('the first worker restarts while the second one is at work', async () => {
  const [a, b] = [await first('again'), await second('again')];
  const id = await enqueue('again', waits('b', 'go'));
  await atWork(b, id);
  await a.stop('SIGKILL');
  await writeFile(`${repo}/go`, '');
  await first('again');
  const report = await fleet.settled(id, 120_000);
  expect(report).toMatchObject({ state: 'done', attempts: { used: 1 } });
  expect(report.runs).toHaveLength(1);
}, 240_000);
