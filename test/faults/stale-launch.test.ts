import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { agent, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { agents } from '../helpers/live-agents.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const config = {
  lease: { heartbeat: '3s', grace: '15s', selfKill: '2s' },
  coders: { wait: agent('wait-for-file.sh') },
  worker: { slots: 1 },
};

test('a worker that stood still just before the launch starts no agent for a task that went elsewhere', async () => {
  const ready = `${fleet.root}/ready`;
  const repo = await fleet.repo('held', {
    '.fleet.yaml': `setup: ['while ! test -e ${ready}; do sleep 0.1; done']\n`,
  });
  const pair = [await fleet.worker('one', config), await fleet.worker('two', config)];
  const id = await fleet.fleet.enqueue({ objective: 'x', repo, coder: 'wait' });
  const claimed = async ({ home }: TestWorker) => (await readdir(`${home}/runs/${id}`).catch(() => []))[0];
  const [slow, runId] = await until(async () => {
    for (const worker of pair) {
      const found = await claimed(worker);
      if (found) return [worker, found] as const;
    }
    return undefined;
  });
  const quick = pair.find((worker) => worker !== slow)!;
  // Writing the prompt now waits for a reader: between the order to launch and the launch.
  const run = `${slow.home}/runs/${id}/${runId}`;
  execFileSync('mkfifo', [`${run}/prompt`]);
  await writeFile(ready, '');
  await until(async () => (await fleet.fleet.view(id)).state === 'running', { timeoutMs: 30_000 });
  await until(async () => (await fleet.pending(id))?.started);
  slow.kill('SIGSTOP');

  const live = await fleet.running(id, 2);
  expect(live.work.startsWith(`${quick.home}/`)).toBe(true);
  const reading = readFile(`${run}/prompt`, 'utf8');
  slow.kill('SIGCONT');
  expect(await reading).toContain('# Objective');
  // It says that it does not hold the run any more when it has looked.
  await until(() => !existsSync(run), { timeoutMs: 60_000 });
  expect(existsSync(`${slow.home}/tasks/${id}/1/logs`)).toBe(false);
  expect(await agents(id)).toEqual([live]);
  await writeFile(`${live.work}/go`, '');
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', attempts: { used: 1 } });
}, 180_000);
