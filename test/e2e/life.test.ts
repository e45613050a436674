import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TaskReport } from '../../src/client.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let worker: TestWorker;
let repo: string;

const AGENTS = ['ok', 'silent', 'forever', 'crash', 'flood', 'wander', 'ignore-term', 'daemonise'];

beforeAll(async () => {
  fleet = await TestFleet.start();
  const coders = Object.fromEntries(AGENTS.map((name) => [name, agent(`${name}.sh`)]));
  worker = await fleet.worker('life', {
    worker: { slots: 4 },
    coders: { ...coders, fabricate: agent('fabricate.mjs') },
  });
  repo = await fleet.repo('shop');
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const ONCE = { retry: { maxAttempts: 1 } };

async function drain(input: Omit<TaskInput, 'objective'>): Promise<TaskReport> {
  const id = await fleet.fleet.enqueue({ objective: 'Add made.txt', repo, ...input });
  return fleet.settled(id);
}
const receipt = (report: TaskReport, kind: string) => report.receipts.find((each) => each.kind === kind);

describe('a task ends done only on receipts', () => {
  test.concurrent('an agent that does the work: done, with its commit on a branch of the repository', async () => {
    const before = {
      head: await git(repo, 'rev-parse', 'HEAD'),
      config: await readFile(`${repo}/.git/config`, 'utf8'),
      status: await git(repo, 'status', '--porcelain'),
    };
    const report = await drain({ coder: 'ok', verify: ['test -s made.txt'] });
    expect(report).toMatchObject({
      state: 'done',
      branch: `fleet/${report.id}`,
      attempts: { used: 1 },
      verdict: { accepted: true, acceptance: true },
    });
    expect(await git(repo, 'log', '--format=%s', `main..fleet/${report.id}`)).toBe('Add made.txt');
    expect(await git(repo, 'show', `fleet/${report.id}:made.txt`)).toMatch(/^made by 1-/);
    expect(report.receipts.map(({ kind }) => kind)).toEqual(['exit', 'git', 'scope', 'acceptance']);
    // The user's checkout is never written to.
    expect({
      head: await git(repo, 'rev-parse', 'HEAD'),
      config: await readFile(`${repo}/.git/config`, 'utf8'),
      status: await git(repo, 'status', '--porcelain'),
    }).toEqual(before);
    expect(existsSync(`${repo}/.git/FETCH_HEAD`)).toBe(false);
  });

  test.concurrent('without an acceptance command it can be accepted on the others, and says so', async () => {
    expect(await drain({ coder: 'ok' })).toMatchObject({
      state: 'done',
      verdict: { accepted: true, acceptance: false },
    });
  });

  test.concurrent('an acceptance command that fails rejects, and the next run is told why', async () => {
    const report = await drain({
      coder: 'ok',
      verify: ['test -s missing.txt'],
      retry: { maxAttempts: 2, backoff: '1s' },
    });
    expect(report).toMatchObject({ state: 'parked', reason: 'receipts-rejected', attempts: { used: 2, max: 2 } });
    expect(report.runs).toHaveLength(2);
    expect(report.message).toMatch(/acceptance: .*test -s missing.txt/);
    expect(await git(repo, 'branch', '--list', `fleet/${report.id}`)).toBe('');
  });

  test.concurrent('an acceptance command that asks for the network is told that it has none', async () => {
    const report = await drain({ coder: 'ok', verify: [`node -e 'fetch("http://192.0.2.1")'`], ...ONCE });
    expect(report.message).toContain("it had no network, by network.checks of the worker's config.yaml");
  });

  test.concurrent('an agent that says 86/86 tests pass and did nothing is fabricated', async () => {
    expect(await drain({ coder: 'fabricate', ...ONCE })).toMatchObject({ state: 'parked', reason: 'fabricated' });
  });

  test.concurrent('an agent that wanders out of its scope', async () => {
    const report = await drain({ coder: 'wander', scope: { allow: ['src/**'] }, ...ONCE });
    expect(report).toMatchObject({ state: 'parked', reason: 'scope-violation' });
    expect(receipt(report, 'scope')?.summary).toContain('elsewhere/file.txt');
  });

  test.concurrent('an agent that crashes', async () => {
    expect(await drain({ coder: 'crash', ...ONCE })).toMatchObject({ state: 'parked', reason: 'crashed' });
  });

  test.concurrent('a flood of 100 MB: all bytes are counted, few are kept, the worker lives', async () => {
    const report = await drain({ coder: 'flood' });
    expect(report.state).toBe('done');
    expect(receipt(report, 'exit')?.evidence).toMatchObject({ stdout: { bytes: 104_857_601 } });
    const logs = `${worker.home}/tasks/${report.id}/1/logs`;
    expect((await readdir(logs)).length).toBeLessThan(10);
  });
});

describe('an agent is never left alone', () => {
  test.concurrent('silence has a limit with its own reason', async () => {
    const report = await drain({ coder: 'silent', limits: { idle: '2s' }, ...ONCE });
    expect(report).toMatchObject({ state: 'parked', reason: 'stalled' });
    expect(receipt(report, 'exit')).toMatchObject({ ok: false });
  });

  test.concurrent('total time has a limit with its own reason', async () => {
    expect(await drain({ coder: 'forever', limits: { total: '5s', idle: '4s' }, ...ONCE })).toMatchObject({
      state: 'parked',
      reason: 'timed-out',
    });
  });

  test.concurrent('daemons that left the session end with the run', async () => {
    const report = await drain({ coder: 'daemonise' });
    expect(report.state).toBe('done');
    expect(receipt(report, 'exit')?.summary).toMatch(/3 processes/);
    expect(await sleepers(report.id)).toEqual([]);
  });

  test.concurrent('cancel ends the whole tree of an agent that ignores INT and TERM', async () => {
    const id = await fleet.fleet.enqueue({ objective: 'x', repo, coder: 'ignore-term' });
    await until(async () => (await fleet.fleet.view(id)).live?.lastEventAt !== undefined, { timeoutMs: 60_000 });
    await fleet.fleet.cancel(id);
    await until(async () => (await fleet.fleet.view(id)).state === 'cancelled', { timeoutMs: 90_000 });
    expect(await sleepers(id)).toEqual([]);
    expect(existsSync(`${worker.home}/runs/${id}`)).toBe(false);
  }, 180_000);
});

const sleepers = (id: string) => strays(`${worker.home}/runs/${id}/`);
