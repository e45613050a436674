import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TaskReport } from '../../src/client.ts';
import type { TaskInput } from '../../src/domain/task.ts';
import { agent, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let worker: TestWorker;
let repo: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  worker = await fleet.worker('review', {
    worker: { slots: 4 },
    coders: { ok: agent('ok.sh'), critic: agent('reviewer.mjs'), plain: agent('ok.sh') },
  });
  repo = await fleet.repo('shop');
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const enqueue = (does: string, review: Partial<TaskInput['review']> = {}, input: Partial<TaskInput> = {}) =>
  fleet.fleet.enqueue({
    ...{ objective: `Add made.txt\nreviewer: ${does}`, repo, coder: 'ok', retry: { maxAttempts: 1 } },
    ...{ review: { coder: 'critic', ...review }, ...input },
  });
const drain = async (...given: Parameters<typeof enqueue>): Promise<TaskReport> =>
  fleet.settled(await enqueue(...given));
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
    const report = await drain('pass', { coder: 'codex-of-mine' });
    expect(report).toMatchObject({ state: 'parked', reason: 'coder-missing', attempts: { used: 0 } });
    expect(ran(report.id)).toBe(false);
  });
});
