import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { agent, git, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
const coders = { ok: agent('ok.sh') };

beforeAll(async () => {
  fleet = await TestFleet.start();
});
afterEach(() => fleet.stopWorkers());
afterAll(() => fleet[Symbol.asyncDispose]());

test('a worker that is stopped while it verifies says nothing about the work', async () => {
  const repo = await fleet.repo('verifying');
  const first = await fleet.worker('verifier', { coders });
  const verify = ['touch begun; while [ ! -e gate ]; do sleep 0.1; done'];
  const id = await fleet.fleet.enqueue({ objective: 'x', repo, coder: 'ok', verify });
  // Commands can write nowhere but into their trials.
  const runs = `${first.home}/runs`;
  const begun = () => {
    try {
      return readdirSync(runs, { recursive: true, encoding: 'utf8' })
        .filter((path) => /trials\/\w+\/tree\/begun$/.test(path))
        .map((path) => `${runs}/${path}`);
    } catch (error) {
      // A folder that the worker removes at this moment.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  };
  await until(() => begun().length > 0);
  await first.stop('SIGTERM');
  await fleet.worker('verifier', { coders });
  const open = async () => {
    await Promise.all(begun().map((path) => writeFile(`${dirname(path)}/gate`, '').catch(() => undefined)));
    return (await fleet.fleet.wait(id, 500)) !== undefined;
  };
  await until(open);
  const report = await fleet.fleet.wait(id, 1_000);
  expect(report).toMatchObject({ state: 'done', attempts: { used: 1 } });
  expect(report!.runs).toHaveLength(1);
});

test('accepted work that could not be delivered is kept, and delivered on a word', async () => {
  const repo = await fleet.repo('conflict');
  await fleet.worker('deliverer', { coders });
  await git(repo, 'branch', 'fleet/taken');
  const id = await fleet.fleet.enqueue({ objective: 'x', repo, coder: 'ok' }, { id: 'taken' });
  expect(await fleet.fleet.wait(id, 60_000)).toMatchObject({
    state: 'parked',
    reason: 'conflict',
    attempts: { used: 0 },
  });
  await git(repo, 'branch', '-D', 'fleet/taken');
  await fleet.fleet.accept(id, 'the branch is free now');
  await until(async () => (await fleet.fleet.view(id)).state === 'done');
  expect(await git(repo, 'log', '--format=%s', 'main..fleet/taken')).toBe('Add made.txt');
});

test('a worker without a server says so and ends', async () => {
  const { stderr, code } = await fleet.cli(['worker', '--name', `lone-${process.pid}`], {
    env: { TEMPORAL_ADDRESS: '127.0.0.1:1' },
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^fleet: no Temporal server answers at 127.0.0.1:1: start one with `temporal-dev.sh --port 1`/,
  );
}, 30_000);
