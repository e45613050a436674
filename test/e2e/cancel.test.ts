import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { agents } from '../helpers/live-agents.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let worker: TestWorker;

beforeAll(async () => {
  fleet = await TestFleet.start();
  worker = await fleet.worker('tasks', {
    worker: { slots: 4 },
    coders: { ok: agent('ok.sh'), wait: agent('wait-for-file.sh') },
  });
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const enqueue = (input: Partial<TaskInput>) => fleet.fleet.enqueue({ objective: 'Add made.txt', ...input });
const stateIs = (id: string, state: string) =>
  until(async () => (await fleet.fleet.view(id)).state === state, { timeoutMs: 60_000 });

describe('cancel, from anywhere, leaves nothing behind', () => {
  const gone = async (id: string) => {
    await stateIs(id, 'cancelled');
    expect(await strays(`${worker.home}/runs/${id}/`)).toEqual([]);
    await until(() => !existsSync(`${worker.home}/runs/${id}`));
    expect((await worker.view()).runs.map(({ taskId }) => taskId)).not.toContain(id);
  };
  const alive = (id: string) => until(async () => (await marked(id)).length > 0, { timeoutMs: 60_000 });
  const marked = (id: string) => strays(`${worker.home}/runs/${id}/`);

  test.concurrent('while it is queued', async () => {
    const queue = 'narrow';
    await using narrow = await fleet.worker('narrow', {
      worker: { slots: 1, queues: [queue] },
      coders: { wait: agent('wait-for-file.sh') },
    });
    const repo = await fleet.repo('narrow-repo');
    const first = await enqueue({ repo, queue, coder: 'wait' });
    const { work } = await fleet.running(first);
    const second = await enqueue({ repo, queue, coder: 'wait' });
    await until(async () => (await fleet.pending(second)) !== undefined);
    await fleet.fleet.cancel(second);
    await stateIs(second, 'cancelled');
    expect(await fleet.fleet.view(second)).toMatchObject({ runs: [] });
    await writeFile(`${work}/go`, '');
    expect(await fleet.settled(first)).toMatchObject({ state: 'done' });
    expect((await narrow.view()).slots.used).toBe(0);
  });

  test.concurrent('while it is being set up', async () => {
    const repo = await fleet.repo('slow-setup', { '.fleet.yaml': 'setup: [sleep 86400]\n' });
    const id = await enqueue({ repo, coder: 'ok' });
    await stateIs(id, 'setting-up');
    await alive(id);
    await fleet.fleet.cancel(id);
    await gone(id);
  });

  test.concurrent('while its agent runs', async () => {
    const id = await enqueue({ repo: await fleet.repo('cancelled'), coder: 'wait' });
    await fleet.running(id);
    await fleet.fleet.cancel(id);
    await gone(id);
    expect(await agents(id)).toEqual([]);
  });

  test.concurrent('while it is verified', async () => {
    const id = await enqueue({ repo: await fleet.repo('slow-verify'), coder: 'ok', verify: ['sleep 86400'] });
    await stateIs(id, 'verifying');
    await alive(id);
    await fleet.fleet.cancel(id);
    await gone(id);
    expect(await git(`${fleet.root}/slow-verify`, 'branch', '--list', 'fleet/*')).toBe('');
  });
});
