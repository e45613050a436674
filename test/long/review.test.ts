import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { TaskReport } from '../../src/client.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { until } from '../helpers/until.ts';

// Several at a time, each with an agent and a reviewer: a busy machine takes its time.
jest.setTimeout(240_000);

let fleet: TestFleet;
let worker: TestWorker;
let repo: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  worker = await fleet.worker('review', {
    worker: { slots: 4 },
    coders: {
      ok: agent('ok.sh'),
      critic: agent('reviewer.mjs'),
      plain: { command: ['sh', '-c', PLAIN], protocol: 'none' },
    },
  });
  repo = await fleet.repo('shop');
});
afterAll(() => fleet[Symbol.asyncDispose]());

const PLAIN = `cat >/dev/null; echo 'Hm.'; echo '{"verdict": "veto", "reasons": ["plainly bad"]}'`;
const enqueue = (does: string, review: Partial<TaskInput['review']> = {}, input: Partial<TaskInput> = {}) =>
  fleet.fleet.enqueue({
    ...{ objective: `Add made.txt\nreviewer: ${does}`, repo, coder: 'ok', retry: { maxAttempts: 1 } },
    ...{ review: { coder: 'critic', ...review }, ...input },
  });
const drain = async (...given: Parameters<typeof enqueue>): Promise<TaskReport> =>
  fleet.settled(await enqueue(...given), 200_000);
const receiptOf = (report: TaskReport) => report.receipts.find(({ kind }) => kind === 'review');
const ran = (id: string) => existsSync(`${worker.home}/tasks/${id}/1/events.jsonl`);

describe('before the run', () => {
  const gate = { gate: true };

  test.concurrent('a veto parks the task with its reasons, before an agent starts; a person can say more', async () => {
    const report = await drain('veto', gate);
    expect(report).toMatchObject({
      ...{ state: 'parked', reason: 'invalid-task', message: 'critic objects: it misses the point' },
      gate: { ok: false, evidence: { coder: 'critic', reasons: ['it misses the point'] } },
      ...{ attempts: { used: 0 }, usage: { inputTokens: 100, outputTokens: 20 } },
    });
    expect(ran(report.id)).toBe(false);
    await fleet.fleet.retry(report.id, 'the point is made.txt');
    await until(async () => (await fleet.fleet.view(report.id)).runs.length === 2);
    await fleet.settled(report.id);
    expect(await readFile(`${worker.home}/tasks/${report.id}/2/review.log`, 'utf8')).toContain('the point is made.txt');
  });

  test.concurrent('a task that passes is not looked at again in its later runs', async () => {
    const report = await drain('pass', gate, { verify: ['false'], retry: { maxAttempts: 2, backoff: '1s' } });
    expect(report).toMatchObject({ state: 'parked', reason: 'receipts-rejected', gate: { ok: true } });
    expect(report.runs.map(({ usage }) => usage.inputTokens)).toEqual([100, 0]);
  });

  test.concurrent('a reviewer that gives no answer is asked twice, and costs no attempt', async () => {
    const report = await drain('garbage', gate);
    expect(report).toMatchObject({ state: 'parked', reason: 'unreviewed', attempts: { used: 0 }, gate: { ok: false } });
    expect(report.message).toBe('reviewer critic gave an answer that cannot be read, asked 2 times');
    expect(ran(report.id)).toBe(false);
  });

  test.concurrent('a worker without the reviewer says so before an agent starts', async () => {
    const report = await drain('pass', { coder: 'agy' });
    expect(report).toMatchObject({ state: 'parked', reason: 'coder-missing', attempts: { used: 0 } });
    expect(ran(report.id)).toBe(false);
  });
});

describe('after the run', () => {
  test.concurrent('a pass is the last receipt, and its tokens count with the run', async () => {
    const report = await drain('pass', { model: 'critic-2' }, { verify: ['test -s made.txt'] });
    expect(report).toMatchObject({ state: 'done', usage: { inputTokens: 100, outputTokens: 20 } });
    expect(report.receipts.at(-1)).toMatchObject({
      ...{ kind: 'review', ok: true, summary: expect.stringMatching(/^critic \(critic-2\) has no objection, after/) },
      evidence: { commit: report.commit, coder: 'critic', model: 'critic-2', asked: 1, usage: { inputTokens: 100 } },
    });
    const asked = await readFile(`${worker.home}/tasks/${report.id}/1/review.log`, 'utf8');
    expect(asked).toMatch(
      /begin diff [0-9a-f]{32}\ndiff --git a\/made.txt b\/made.txt\n[^]*\+made by 1-[^]*\nend diff/,
    );
    expect(asked).toContain('acceptance (ok): `test -s made.txt` passed');
  });

  test.concurrent('a veto rejects, and its reasons are what the next run is told', async () => {
    const report = await drain('veto', {}, { retry: { maxAttempts: 2, backoff: '1s' } });
    expect(report).toMatchObject({ state: 'parked', reason: 'receipts-rejected', attempts: { used: 2 } });
    expect(receiptOf(report)).toMatchObject({ ok: false, evidence: { reasons: ['it misses the point'] } });
    expect(report.runs[0]?.message).toBe('review: critic objects: it misses the point');
    expect(report.branch).toBeNull();
  });

  test.concurrent('it is not asked where another receipt says no', async () => {
    const report = await drain('pass', {}, { verify: ['false'] });
    expect(report).toMatchObject({ state: 'parked', reason: 'receipts-rejected', usage: { inputTokens: 0 } });
    expect(receiptOf(report)).toBeUndefined();
  });

  test.concurrent('it sees the result, can only read it, and starts in an empty folder with a HOME of its own', async () => {
    const report = await drain('look');
    expect(receiptOf(report)?.evidence['reasons']).toEqual([
      'sees README.md made.txt',
      'cannot write',
      'is in 0 files',
      'new home',
    ]);
    expect(existsSync(`${worker.home}/runs/${report.id}`)).toBe(false);
  });

  test.concurrent('an answer that cannot be read is asked for once more', async () => {
    const report = await drain('second-time');
    expect(report).toMatchObject({ state: 'done', usage: { inputTokens: 200 } });
    expect(receiptOf(report)).toMatchObject({ ok: true, evidence: { asked: 2 } });
  });

  test.concurrent.each([
    ['garbage', 'gave an answer that cannot be read'],
    ['crash', 'ended with exit code 3'],
    ['hang', 'gave no answer within 1s'],
  ])('%s, twice: parked without an attempt used up, for a person to accept', async (does, why) => {
    const report = await drain(does, { timeout: does === 'hang' ? '1s' : '1m' });
    expect(report).toMatchObject({
      ...{ state: 'parked', reason: 'unreviewed', attempts: { used: 0 } },
      message: `review: reviewer critic ${why}, asked 2 times`,
    });
    await fleet.fleet.accept(report.id, 'looked at it myself');
    expect(await fleet.settled(report.id)).toMatchObject({ state: 'done', branch: `fleet/${report.id}` });
  });

  test.concurrent("the reviewer's rate limit is waited for", async () => {
    const id = await enqueue('limited');
    const report = await until(async () => {
      const view = await fleet.fleet.view(id);
      return view.retryAt ? view : undefined;
    });
    expect(report).toMatchObject({ state: 'awaiting-quota', reason: 'rate-limited', attempts: { used: 0 } });
    expect(Date.parse(report.retryAt ?? '') - Date.now()).toBeGreaterThan(50 * 60_000);
    await fleet.fleet.cancel(id);
  });

  test.concurrent('any program can review by what it prints', async () => {
    const report = await drain('x', { coder: 'plain' });
    expect(receiptOf(report)).toMatchObject({ ok: false, summary: 'plain objects: plainly bad' });
  });

  test.concurrent('a cancellation ends the reviewer', async () => {
    const id = await enqueue('hang');
    const log = `${worker.home}/tasks/${id}/1/review.log`;
    await until(() => existsSync(log));
    await fleet.fleet.cancel(id);
    await until(async () => (await fleet.fleet.view(id)).state === 'cancelled');
    await until(async () => (await strays(`${worker.home}/runs/${id}`)).length === 0);
    expect(existsSync(`${worker.home}/runs/${id}`)).toBe(false);
  });
});

test('a worker that is killed while a reviewer is at work asks it again', async () => {
  const coders = { ok: agent('ok.sh'), critic: agent('reviewer.mjs') };
  const lease = { heartbeat: '3s', grace: '90s', selfKill: '75s' };
  const config = { worker: { slots: 1, queues: ['again'] }, coders, lease };
  const first = await fleet.worker('again', config);
  const id = await enqueue(`wait-for ${repo}/go`, {}, { queue: 'again' });
  await until(() => existsSync(`${first.home}/tasks/${id}/1/review.log`));
  await first.stop('SIGKILL');
  await writeFile(`${repo}/go`, '');
  await fleet.worker('again', config);
  const report = await fleet.settled(id);
  expect(report).toMatchObject({ state: 'done', attempts: { used: 1 } });
  expect(receiptOf(report)).toMatchObject({ ok: true });
  expect(report.runs).toHaveLength(1);
});
