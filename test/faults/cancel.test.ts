import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { agents } from '../helpers/live-agents.ts';
import { until } from '../helpers/until.ts';
import { Random } from '../simulation/random.ts';
import { makeLab } from './lab.ts';

let fleet: TestFleet;
let shared: Awaited<ReturnType<typeof makeLab>>;
let worker: TestWorker;
beforeAll(async () => {
  fleet = await TestFleet.start();
  shared = await makeLab(fleet, 'shared', coders);
  worker = await shared.worker('shared', { worker: { slots: 20 } });
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

/** Notes that it was told to stop, and goes on. */
const told = {
  command: ['sh', '-c', 'trap "touch ../told" INT TERM; while :; do sleep 0.2; done'],
  protocol: 'none' as const,
};
const coders = { wait: agent('wait-for-file.sh'), ok: agent('ok.sh'), deaf: agent('ignore-term.sh'), told };
const HANGS = 'sleep 86400';

const stateIs = (id: string, state: string) =>
  until(async () => (await fleet.fleet.view(id)).state === state, { timeoutMs: 60_000 });
const processes = (id: string, { home } = worker) => strays(`${home}/runs/${id}/`);
const alive = (id: string) => until(async () => (await processes(id)).length > 0, { timeoutMs: 60_000 });
const waits = async (id: string) => (await fleet.fleet.view(id)).retryAt !== null;

/** Cancels a task, and gives the milliseconds until it is closed: 30 s at most. */
async function cancel(id: string): Promise<number> {
  const began = performance.now();
  await fleet.fleet.cancel(id);
  await fleet.client.workflow
    .getHandle(id)
    .result()
    .catch(() => undefined);
  const ms = Math.round(performance.now() - began);
  expect((await fleet.fleet.view(id)).state).toBe('cancelled');
  expect(ms).toBeLessThan(30_000);
  return ms;
}

/** No process, no folder, no slot, no branch. */
async function nothingLeft(id: string, { on = worker, repo = shared.repo } = {}): Promise<void> {
  expect(await processes(id, on)).toEqual([]);
  expect(await agents(id)).toEqual([]);
  // A claim that its task never heard of is the reaper's, which waits.
  await until(() => !existsSync(`${on.home}/runs/${id}`), { timeoutMs: 60_000 });
  expect((await on.view()).runs.map(({ taskId }) => taskId)).not.toContain(id);
  expect(await git(repo, 'branch', '--list', `fleet/${id}`)).toBe('');
}

const say = (phase: string, ms: number): void => void process.stderr.write(`F35: cancelled ${phase} in ${ms} ms\n`);

describe('F35: a cancelled task is closed within 30 s, and nothing of it is left', () => {
  /** A task on the shared worker that has come as far as `reached`. */
  async function phase(
    name: string,
    { reached, ...input }: Partial<TaskInput> & { reached: (id: string) => Promise<unknown> },
  ): Promise<void> {
    const id = await shared.enqueue(input);
    await reached(id);
    say(name, await cancel(id));
    await nothingLeft(id, input.repo ? { repo: input.repo.replace('file://', '') } : {});
  }

  test.concurrent('blocked on a full fleet', async () => {
    const lab = await makeLab(fleet, 'full', coders);
    await using full = await lab.worker('full');
    const first = await lab.enqueue();
    const { work } = await fleet.running(first);
    const second = await lab.enqueue();
    await until(async () => (await fleet.pending(second)) !== undefined);
    say('blocked', await cancel(second));
    expect((await fleet.fleet.view(second)).runs).toEqual([]);
    writeFileSync(`${work}/go`, '');
    expect(await fleet.settled(first)).toMatchObject({ state: 'done' });
    expect((await full.view()).slots.used).toBe(0);
  });

  test.concurrent('setting up', async () => {
    const repo = await fleet.repo('slow-setup', { '.fleet.yaml': `setup: [${HANGS}]\n` });
    await phase('setting up', { repo, reached: alive });
  });

  test.concurrent('running', () => phase('running', { reached: (id) => fleet.running(id) }));

  test.concurrent('running, with an agent that ignores every polite signal', () =>
    phase('running, deaf', { coder: 'deaf', reached: (id) => fleet.running(id) }));

  test.concurrent('stopping', () =>
    phase('stopping', {
      ...{ coder: 'told', limits: { total: '3s', idle: '2s' } },
      reached: async (id) => {
        const { work } = await fleet.running(id);
        await until(() => existsSync(`${work}/told`), { timeoutMs: 20_000 });
      },
    }));

  test.concurrent('verifying', () => phase('verifying', { coder: 'ok', verify: [HANGS], reached: alive }));

  test.concurrent('delivering to a remote that hangs', async () => {
    const repo = await fleet.repo('hanging');
    const begun = `${fleet.root}/hanging.begun`;
    writeFileSync(`${repo}/.git/hooks/pre-receive`, `#!/bin/sh\ntouch ${begun}; exec ${HANGS}\n`);
    chmodSync(`${repo}/.git/hooks/pre-receive`, 0o755);
    await phase('delivering', {
      ...{ repo: `file://${repo}`, coder: 'ok' },
      reached: () => until(() => existsSync(begun), { timeoutMs: 60_000 }),
    });
    expect(await strays(repo)).toEqual([]);
  });

  test.concurrent('waiting for its next attempt', () =>
    phase('in backoff', {
      ...{ coder: 'ok', verify: ['false'], retry: { backoff: '10m' } },
      reached: (id) => until(() => waits(id), { timeoutMs: 60_000 }),
    }));

  test.concurrent('parked', () =>
    phase('parked', {
      ...{ coder: 'ok', verify: ['false'], retry: { maxAttempts: 1 } },
      reached: (id) => stateIs(id, 'parked'),
    }));

  test.concurrent.each([
    ['running', {}],
    ['verifying', { coder: 'ok', verify: [HANGS] }],
    ['setting-up', { repo: 'setup' }],
  ] as [string, Partial<TaskInput>][])(
    '%s on a worker that is dead: it cleans up when it is back',
    async (state, input) => {
      const lab = await makeLab(fleet, `dead-${state}`, coders, {
        '.fleet.yaml': input.repo ? `setup: [${HANGS}]\n` : '',
      });
      const { repo: _, ...asked } = input;
      const lease = { heartbeat: '12s', grace: '40s', selfKill: '30s' };
      const dead = await lab.worker(`dead-${state}`, { lease });
      // Somebody must go on with the task.
      await using _other = await lab.worker(`other-${state}`, { coders: { other: agent('ok.sh') } });
      const id = await lab.enqueue({ coder: 'wait', ...asked });
      await stateIs(id, state);
      await until(async () => (await processes(id, dead)).length > 0, { timeoutMs: 60_000 });
      await dead.stop('SIGKILL');
      say(`${state}, worker dead`, await cancel(id));
      await using back = await lab.worker(`dead-${state}`, { lease });
      await until(() => !existsSync(`${back.home}/runs/${id}`), { timeoutMs: 90_000 });
      await nothingLeft(id, { on: back, repo: lab.repo });
      expect((await back.view()).slots.used).toBe(0);
    },
  );

  test.concurrent('at any instant', async () => {
    /** 200 for the figure in docs/reliability.md. */
    const tries = Number(process.env['FLEET_CANCELS'] ?? 12);
    const random = new Random(Number(process.env['FLEET_SEED'] ?? 1));
    const times: number[] = [];
    const lane = async () => {
      while (times.length < tries) {
        const id = await shared.enqueue({ verify: ['sleep 1'] });
        times.push(Number.NaN);
        const mine = times.length - 1;
        await sleep(random.between(0, 4_000));
        times[mine] = await cancel(id);
        await nothingLeft(id);
      }
    };
    await Promise.all(Array.from({ length: 4 }, lane));
    times.sort((a, b) => a - b);
    say(`${times.length} times at random, median ${times[times.length >> 1]}, longest`, times.at(-1)!);
  }, 1_200_000);
});
