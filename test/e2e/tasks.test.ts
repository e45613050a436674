import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { processTable } from '../../src/adapters/program/process.ts';
import { makeSample } from '../../src/cli/demo/sample.ts';
import { asExpected, DEMO_TASKS, demoCoders, demoInput } from '../../src/cli/demo/tasks.ts';
import type { TaskReport } from '../../src/client.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let worker: TestWorker;
let webhook: Server;
const posted: {
  key: unknown;
  body: { id: string; state: string; reason: string; message: string; commands: string[] };
}[] = [];

const json = (event: object) => `printf '%s\\n' '${JSON.stringify(event)}'`;

beforeAll(async () => {
  fleet = await TestFleet.start();
  webhook = createServer((request, response) => {
    let body = '';
    request.on('data', (data) => (body += String(data)));
    request.on('end', () => {
      posted.push({ key: request.headers['idempotency-key'], body: JSON.parse(body) as (typeof posted)[0]['body'] });
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await until(() => webhook.address());
  worker = await fleet.worker('tasks', {
    worker: { slots: 8 },
    coders: {
      ...demoCoders(),
      ok: agent('ok.sh'),
      wait: agent('wait-for-file.sh'),
      busy: agent('busy.sh'),
      keepsPrompt: { command: ['sh', '-c', 'cat > prompt.txt; git add -A; git commit -qm kept'], protocol: 'none' },
      spend: {
        command: [
          'sh',
          '-c',
          `${json({ type: 'system', subtype: 'init', session_id: 's', model: 'm' })}
             ${json({ type: 'assistant', message: { id: 'm1', content: [{ type: 'text', text: 'hm' }], usage: { input_tokens: 900, output_tokens: 200 } } })}
             exec sleep 86400`,
        ],
        protocol: 'claude',
      },
    },
    alerts: {
      webhook: `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/`,
      command: ['sh', '-c', `printf "%s\\n" "$(cat)" >> '${fleet.root}/alerts'`],
    },
  });
}, 120_000);
afterAll(async () => {
  webhook.close();
  await fleet[Symbol.asyncDispose]();
});

const ONCE = { retry: { maxAttempts: 1 } };
const enqueue = (input: Partial<TaskInput>) => fleet.fleet.enqueue({ objective: 'Add made.txt', ...input });
const drain = async (input: Partial<TaskInput>): Promise<TaskReport> => fleet.settled(await enqueue(input));
const stateIs = (id: string, state: string) =>
  until(async () => (await fleet.fleet.view(id)).state === state, { timeoutMs: 60_000 });

describe('only a verdict moves a task on', () => {
  test.concurrent.each(DEMO_TASKS.map((task) => [task.title, task] as const))('an agent that %s', async (_, task) => {
    const repo = `${fleet.root}/sample-${task.behaviour}`;
    await makeSample(repo);
    const report = await drain(demoInput(task, repo));
    expect({ ...report, asExpected: asExpected(task, report) }).toMatchObject({
      asExpected: true,
      ...task.expected,
      runs: expect.anything(),
    });
  });

  test.concurrent('a rejected run is retried with the reasons in the prompt', async () => {
    const repo = `${fleet.root}/told`;
    await makeSample(repo);
    const report = await drain({ repo, coder: 'learn', retry: { maxAttempts: 2, backoff: '1s' } });
    // `learn` fixes the bug only where its prompt says that an earlier run was rejected.
    expect(report).toMatchObject({
      state: 'done',
      attempts: { used: 2, max: 2 },
      runs: [{ reason: 'receipts-rejected', counts: true }, { reason: null }],
    });
    expect(report.runs[0]!.message).toContain('node --test');
    expect(await git(repo, 'show', `fleet/${report.id}:src/discount.js`)).toContain('/ 100');
  });

  test.concurrent('what a failed check said is the same for the next run, for people and in the alert', async () => {
    const repo = await fleet.repo('said', {
      'sum.mjs': 'export const sum = (a, b) => a - b;\n',
      'sum.test.mjs': `import assert from 'node:assert';
        import { test } from 'node:test';
        import { sum } from './sum.mjs';
        test('adds', () => assert.strictEqual(sum(1, 2), 3));
        ${Array.from({ length: 50 }, (_, i) => `test('fine ${i}', () => {});`).join('\n')}`,
    });
    const { id, message, receipts } = await drain({
      ...{ repo, coder: 'keepsPrompt', verify: ['node --test'], retry: { maxAttempts: 2, backoff: '1s' } },
    });
    const said =
      /✗ adds \(sum\.test\.mjs\)\n {2}Expected values to be strictly equal:[^]* {2}expected: 3\n {2}actual: -1\n/;
    expect(message).toMatch(said);
    expect(receipts.find(({ kind }) => kind === 'acceptance')?.summary).toMatch(said);
    const alert = await until(() => posted.find(({ body }) => body.id === id));
    expect(alert.body).toMatchObject({ message, commands: expect.arrayContaining([`fleet task ${id} check`]) });
    expect((await fleet.cli(['task', id, 'diff'])).stdout.replace(/^\+(> )?/gm, '')).toMatch(said);
    expect((await fleet.cli(['task', id])).stdout).toMatch(/\n {14}✗ adds \(sum\.test\.mjs\)\n/);
    expect((await fleet.cli(['task', id])).stdout).toMatch(/✗ adds[^]* actual: -1\n/);
    const whole = await fleet.cli(['task', id, 'check']);
    expect(whole.stdout).toMatch(/^\$ node --test\nTAP version 13\n[^]*ok 51 - fine 49[^]*# fail 1\n/);
  });

  test.concurrent('a token budget that is used up parks the task', async () => {
    const repo = await fleet.repo('budget');
    const report = await drain({ repo, coder: 'spend', limits: { tokens: 1_000 } });
    expect(report).toMatchObject({
      state: 'parked',
      reason: 'over-budget',
      usage: { inputTokens: 900, outputTokens: 200 },
    });
    expect(report.runs).toHaveLength(1);
  });

  test.concurrent('a silent build that burns CPU is not stopped as idle', async () => {
    const repo = await fleet.repo('busy');
    const id = await enqueue({ repo, coder: 'busy', limits: { idle: '1s' } });
    const { pid, work } = await fleet.running(id);
    await until(() => (processTable().get(pid)?.cpuMs ?? 0) > 3_000, { timeoutMs: 80_000 });
    await writeFile(`${work}/stop`, '');
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', attempts: { used: 1 } });
  }, 180_000);
});

describe('a parked task waits for a person', () => {
  const rejected = { coder: 'ok', verify: ['test -e missing.txt'], ...ONCE };

  test.concurrent('accept delivers what was rejected, once', async () => {
    const repo = await fleet.repo('accept');
    const { id, runs } = await drain({ repo, ...rejected });
    expect(existsSync(`${worker.home}/runs/${id}`)).toBe(false);
    await fleet.fleet.accept(id, 'checked by hand');
    const report = await fleet.result(id);
    expect(report).toMatchObject({
      state: 'done',
      branch: `fleet/${id}`,
      decision: { action: 'accept', why: 'checked by hand' },
      verdict: { accepted: false },
    });
    expect(runs[0]!.commit).toBe(await git(repo, 'rev-parse', `fleet/${id}`));
    await expect(fleet.fleet.accept(id, 'again')).rejects.toThrow(`task ${id} is done already`);
  });

  test.concurrent('retry counts its attempts from zero', async () => {
    const repo = await fleet.repo('again');
    const flag = `${fleet.root}/again.flag`;
    const { id, attempts } = await drain({ repo, coder: 'ok', verify: [`test -e ${flag}`], ...ONCE });
    expect(attempts.used).toBe(1);
    await fleet.fleet.retry(id, 'once more');
    await until(async () => (await fleet.fleet.view(id)).runs.length === 2);
    expect(await fleet.settled(id)).toMatchObject({ state: 'parked', attempts: { used: 1, max: 1 } });
    await writeFile(flag, '');
    await fleet.fleet.retry(id);
    await stateIs(id, 'done');
    expect(await fleet.result(id)).toMatchObject({ attempts: { used: 1 }, runs: { length: 3 } });
  });

  test.concurrent('give up closes it as failed', async () => {
    const { id } = await drain({ repo: await fleet.repo('given-up'), ...rejected });
    await fleet.fleet.giveUp(id, 'not worth it');
    await expect(fleet.result(id)).rejects.toThrow('Workflow execution failed');
    expect(await fleet.fleet.view(id)).toMatchObject({
      state: 'failed',
      reason: 'receipts-rejected',
      message: 'given up: not worth it',
      decision: { action: 'give-up' },
    });
    expect((await fleet.client.workflow.getHandle(id).describe()).status.name).toBe('FAILED');
  });

  test.concurrent('a person decides only where it is parked, and accepts only what is there', async () => {
    const repo = await fleet.repo('too-early');
    const [id, nothing] = await Promise.all([
      enqueue({ repo, coder: 'wait' }),
      drain({ repo, coder: 'lie', ...ONCE }).then((report) => report.id),
    ]);
    const { work } = await fleet.running(id);
    for (const decide of [fleet.fleet.retry, fleet.fleet.accept, fleet.fleet.giveUp])
      await expect(decide(id, 'why')).rejects.toThrow(`task ${id}: the task is running, not parked`);
    await writeFile(`${work}/go`, '');
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', decision: null });
    await expect(fleet.fleet.accept(nothing, 'why')).rejects.toThrow('no run of this task left a result to accept');
    expect(await fleet.fleet.view(nothing)).toMatchObject({ state: 'parked' });
  });

  test.concurrent('the alert goes out once for each time that it is parked', async () => {
    const { id } = await drain({ repo: await fleet.repo('alerted'), ...rejected });
    const hooks = async () =>
      (await readFile(`${fleet.root}/alerts`, 'utf8').catch(() => ''))
        .split('\n')
        .filter((line) => line.includes(`"${id}"`));
    const posts = () => posted.filter(({ body }) => body.id === id);
    await until(async () => posts().length > 0 && (await hooks()).length > 0);
    await fleet.fleet.retry(id);
    await until(async () => posts().length > 1 && (await hooks()).length > 1, { timeoutMs: 60_000 });
    // The workflow's end: no alert is under way any more.
    await fleet.fleet.giveUp(id);
    await stateIs(id, 'failed');
    expect(posts().map(({ body }) => body)).toEqual([
      {
        ...posts()[0]!.body,
        id,
        state: 'parked',
        reason: 'receipts-rejected',
        message: expect.stringContaining('missing.txt'),
      },
      posts()[1]!.body,
    ]);
    expect(new Set(posts().map(({ key }) => key)).size).toBe(2);
    expect(await hooks()).toHaveLength(2);
  });
});
