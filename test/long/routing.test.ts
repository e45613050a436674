import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TaskReport } from '../../src/client.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';
import { usageCoder } from '../helpers/usage-coder.ts';

let fleet: TestFleet;
let first: TestWorker;
let asked: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  asked = `${fleet.root}/asked`;
  const coders = {
    ...{ small: usageCoder(1_000, 100, 0.01), large: usageCoder(2_000, 200, 0.5), fail: usageCoder(500, 50, 'fail') },
    ...{ hang: usageCoder(900, 200, 'hang'), plain: agent('ok.sh') },
  };
  first = await fleet.worker('first', {
    worker: { slots: 4, coder: 'small' },
    coders,
    routes: [
      { when: { labels: 'nobody' }, coder: 'absent' },
      { when: { labels: 'elsewhere' }, coder: ['absent', 'rare:r1'] },
      { name: 'big', when: { priority: '<20' }, coder: 'large', model: 'xl' },
      { when: { labels: 'escalate', attempt: 1 }, coder: 'fail' },
      { name: 'up', when: { labels: 'escalate', attempt: '>1' }, coder: ['absent', 'large:xl'] },
      { when: { class: 'complex' }, coder: 'large', model: 'c1' },
      { when: { class: 'simple' }, coder: 'small', model: 's1', limits: { tokens: 100_000 } },
      { when: { size: '>0' }, coder: 'small', model: 'late' },
    ],
    triage: {
      classes: ['simple', 'complex'],
      rules: [{ when: { labels: 'by-rule' }, class: 'simple' }],
      command: [
        'sh',
        '-c',
        `cat >> ${asked}; echo >> ${asked}; grep -q slow ${asked} && exec sleep 600; echo thinking; echo complex`,
      ],
      timeout: '2s',
      default: 'simple',
    },
    prices: { xl: { input: 10, output: 100 } },
  });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const enqueue = async (input: Partial<TaskInput>, name = 'r') =>
  fleet.fleet.enqueue({ objective: 'Make it', repo: await fleet.repo(`${name}-${Math.random()}`), ...input });
const drain = async (input: Partial<TaskInput>): Promise<TaskReport> => fleet.settled(await enqueue(input));
const used = ({ runs }: TaskReport) => runs.map(({ coder: by, model, rule }) => ({ coder: by, model, rule }));

test('the first rule that matches says coder and model, and explain says which it was', async () => {
  const report = await drain({ priority: 5 });
  expect(used(report)).toEqual([{ coder: 'large', model: 'xl', rule: 'routes[2] (big)' }]);
  expect((await fleet.fleet.explain(report.id)).sentence).toMatch(/ \(large \/ xl by routes\[2\] \(big\)\)$/);
  const shown = await fleet.cli(['task', report.id]);
  expect(shown.stdout).toMatch(/Coder +large \/ xl by routes\[2\] \(big\)/);
  expect(shown.stdout).toMatch(/Tokens +2\.2k: 2\.0k in, 200 out/);
  expect(shown.stdout).toMatch(/Cost +\$0\.50/);
});

test("the task's own coder and model win", async () => {
  expect(used(await drain({ priority: 5, coder: 'small' }))).toEqual([
    { coder: 'small', model: 'default-model', rule: undefined },
  ]);
  expect(used(await drain({ priority: 5, model: 'mine' }))).toEqual([
    { coder: 'large', model: 'mine', rule: 'routes[2] (big)' },
  ]);
});

test('a rejected attempt goes to a larger model, with the first coder of a list that is here', async () => {
  const report = await drain({ labels: ['escalate'], retry: { backoff: '1s' } });
  expect(report.state).toBe('done');
  expect(used(report)).toEqual([
    { coder: 'fail', model: 'default-model', rule: 'routes[3]' },
    { coder: 'large', model: 'xl', rule: 'routes[4] (up)' },
  ]);
});

test('a command says the class once, with the task on its stdin', async () => {
  const report = await drain({ objective: 'Think hard' });
  expect(report).toMatchObject({ state: 'done', triaged: { class: 'complex', by: 'triage.command' } });
  expect(used(report)).toMatchObject([{ coder: 'large', model: 'c1', rule: 'routes[5]' }]);
  expect((await fleet.fleet.explain(report.id)).sentence).toMatch(/class complex by triage\.command\)$/);
  expect((await readFile(asked, 'utf8')).split(`"id":"${report.id}"`)).toHaveLength(2);
  const { stdout } = await fleet.cli(['task', report.id, '--json']);
  expect((JSON.parse(stdout) as TaskReport).triaged?.class).toBe('complex');
});

test('a rule of the triage spares the command', async () => {
  const report = await drain({ objective: 'Easy', labels: ['by-rule'] });
  expect(report.triaged).toEqual({ class: 'simple', by: 'triage.rules[0]' });
  expect(used(report)).toMatchObject([{ coder: 'small', model: 's1', rule: 'routes[6]' }]);
});

test('a rule for a coder that nobody has is warned of, and explain says in one sentence what the task waits for', async () => {
  expect(first.output()).toContain(
    'routes[0] leads to coder absent, which no attached worker has: its tasks wait until one does',
  );
  const id = await enqueue({ labels: ['nobody'] });
  await until(async () => (await fleet.fleet.view(id)).redirect);
  expect((await fleet.fleet.explain(id)).sentence).toBe(
    'waiting: a rule leads to coder absent, which no attached worker has for queue fleet; start one that has it, or change the rule (absent by routes[0])',
  );
  expect((await fleet.fleet.view(id)).runs).toEqual([]);
  await fleet.fleet.cancel(id);
});

test('a task goes to the worker that has what a rule of another worker chose', async () => {
  const id = await enqueue({ labels: ['elsewhere'] });
  await until(async () => (await fleet.fleet.view(id)).redirect);
  const second = await fleet.worker('second', {
    worker: { slots: 1 },
    coders: { absent: usageCoder(10, 1, 0.01) },
    routes: [{ coder: 'plain' }],
  });
  const report = await fleet.settled(id);
  expect(used(report)).toEqual([{ coder: 'absent', model: 'default-model', rule: 'routes[1]' }]);
  expect(report).toMatchObject({ state: 'done', runs: [{ worker: second.name }] });
  expect(report.redirect).toBeUndefined();
  await second.stop('SIGKILL');
});

test('a budget of one run by the price table stops it; its work is saved, and retry goes on from it', async () => {
  const repo = await fleet.repo('budget');
  const id = await fleet.fleet.enqueue({
    ...{ objective: 'Spend', repo, coder: 'hang', model: 'xl', limits: { costUsd: 0.02 } },
  });
  const parked = await fleet.settled(id);
  expect(parked).toMatchObject({
    ...{ state: 'parked', reason: 'over-budget' },
    runs: [{ saved: { commit: expect.any(String) }, usage: { costUsd: expect.closeTo(0.029, 6) } }],
  });
  await fleet.fleet.retry(id, 'it is worth more');
  await until(async () => (await fleet.fleet.view(id)).runs.length === 2);
  const report = await fleet.settled(id);
  expect(report).toMatchObject({ state: 'done', runs: [{}, { resumedFrom: parked.runs[0]!.runId }] });
  expect(await git(repo, 'show', `fleet/${id}:half.txt`)).toBe('half');
});

test('a command that says nothing in time leaves the default, and the task says so', async () => {
  const report = await drain({ objective: 'Be slow' });
  expect(report.triaged).toEqual({
    class: 'simple',
    by: 'triage.default, as triage.command took longer than 2 s',
  });
  expect(used(report)).toMatchObject([{ coder: 'small', model: 's1', rule: 'routes[6]' }]);
});
