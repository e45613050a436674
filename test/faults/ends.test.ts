import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Reason } from '../../src/domain/agent/failure.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { liveAgents } from '../helpers/live-agents.ts';
import { until } from '../helpers/until.ts';

/** Rows F18 and F36, and the cancelling of many: how runs end, and what their ends are called. */

const RECORDED = fileURLToPath(new URL('../fixtures/coders/claude', import.meta.url));
const plain = (text: string) => ({ command: ['sh', '-c', text], protocol: 'none' as const });
const said = (file: string, code: number) => ({
  command: ['sh', '-c', `cat '${RECORDED}/${file}.jsonl'; exit ${code}`],
  protocol: 'claude' as const,
});

/** What the agent does, and the reason that is its due. None of the first group is anybody else's fault. */
const ENDS: [string, { command: string[]; protocol: 'none' | 'claude' }, Reason, boolean][] = [
  ['exits with 1', plain('exit 1'), 'agent-error', true],
  ['exits with 2 and an error', plain('echo bad >&2; exit 2'), 'agent-error', true],
  ['exits with 75, which says try again', plain('exit 75'), 'agent-error', true],
  ['exits with 126', plain('exit 126'), 'agent-error', true],
  ['exits with 127 and without a word, as if it were not there', plain('exit 127'), 'agent-error', true],
  ['exits with 137, as if it were killed', plain('exit 137'), 'crashed', true],
  ['exits with 255', plain('exit 255'), 'agent-error', true],
  ['kills itself', plain('kill -KILL $$'), 'crashed', true],
  ['ends itself', plain('kill -TERM $$'), 'crashed', true],
  ['aborts', plain('kill -ABRT $$'), 'crashed', true],
  ['says 429 in plain text', plain('echo 429 rate limit exceeded, worker lost; exit 1'), 'agent-error', true],
  ['ends well and without a word of its protocol', { ...said('done', 0), command: ['true'] }, 'crashed', true],
  ['was refused by its login', said('auth', 1), 'auth', false],
  ['ran out of credit', said('billing', 1), 'auth', false],
  ['met the rate limit', said('rate', 1), 'rate-limited', false],
  ['met overloaded servers', said('overloaded', 1), 'overloaded', false],
  ['outgrew its model', said('overflow', 1), 'context-overflow', true],
];

let fleet: TestFleet;
let worker: TestWorker;

beforeAll(async () => {
  fleet = await TestFleet.start();
  const vanishing = `${fleet.root}/vanishing`;
  writeFileSync(vanishing, '#!/bin/sh\nuntil [ -e ../go ]; do sleep 0.1; done\nexit 3\n');
  chmodSync(vanishing, 0o755);
  worker = await fleet.worker('ends', {
    worker: { slots: 20 },
    coders: {
      ...Object.fromEntries(ENDS.map(([, coder], i) => [`end-${i}`, coder])),
      vanishing: { command: [vanishing], protocol: 'none' },
      // Obeys INT itself; what it started obeys nothing.
      daemons: plain(
        `(trap '' INT TERM HUP; setsid sleep 86400 & setsid sh -c 'sleep 86400 & nohup sleep 86400' & ) >/dev/null 2>&1
         exec sleep 86400`,
      ),
    },
  });
}, 180_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const enqueue = (input: Partial<TaskInput>) =>
  fleet.fleet.enqueue({ objective: 'Look around', type: 'research', retry: { maxAttempts: 1 }, ...input });
/** The first run once it has ended. */
const firstRun = (id: string) =>
  until(
    async () => {
      const run = (await fleet.fleet.view(id)).runs[0];
      return run?.endedAt && run;
    },
    { timeoutMs: 120_000 },
  );

test.each(ENDS.map(([what, , reason, counts], i) => [what, `end-${i}`, reason, counts] as const))(
  'F36: an agent that %s',
  async (_, coder, reason, counts) => {
    const id = await enqueue({ coder });
    expect(await firstRun(id)).toMatchObject({ reason, counts });
    await fleet.fleet.cancel(id);
  },
);

test('F36: a program that is not there any more, as the worker sees for itself, is nobody’s attempt', async () => {
  const id = await enqueue({ coder: 'vanishing' });
  const { work } = await fleet.running(id);
  rmSync(`${fleet.root}/vanishing`);
  writeFileSync(`${work}/go`, '');
  expect(await fleet.settled(id)).toMatchObject({ state: 'parked', reason: 'coder-missing', attempts: { used: 0 } });
});

test('F18: eight busy loops do not delay a heartbeat beyond its time', async () => {
  const heartbeatMs = 4_000;
  const queue = 'starved';
  await using starved = await fleet.worker('starved', {
    worker: { slots: 1, queues: [queue] },
    lease: { heartbeat: '4s', grace: '40s', selfKill: '20s' },
    coders: {
      loops: plain(`for i in 1 2 3 4 5 6 7 8; do (while [ ! -e ../stop ]; do :; done) & done; wait`),
    },
  });
  const id = await enqueue({ coder: 'loops', queue });
  const { work } = await fleet.running(id);
  const ages: number[] = [];
  const start = performance.now();
  await until(
    async () => {
      ages.push(await heartbeatAge(id));
      return performance.now() - start > 20_000;
    },
    { timeoutMs: 60_000 },
  );
  writeFileSync(`${work}/stop`, '');
  expect(Math.max(...ages)).toBeLessThan(heartbeatMs);
  // It has nothing to show for itself: a person says whether it is done.
  const report = await until(
    async () => {
      const view = await fleet.fleet.view(id);
      return view.state === 'awaiting-approval' && view;
    },
    { timeoutMs: 120_000 },
  );
  expect(report.runs).toHaveLength(1);
  expect(report.runs[0]).toMatchObject({ worker: starved.name, reason: null });
});

test('cancel leaves no process behind in 200 tries with trees that daemonise', async () => {
  const took: number[] = [];
  for (let batch = 0; batch < 10; batch += 1) {
    const ids = await Promise.all(Array.from({ length: 20 }, () => enqueue({ coder: 'daemons' })));
    await until(
      async () => {
        const live = new Set((await liveAgents()).map(({ taskId }) => taskId));
        return ids.every((id) => live.has(id));
      },
      { timeoutMs: 180_000 },
    );
    const start = performance.now();
    await Promise.all(ids.map((id) => fleet.fleet.cancel(id)));
    await until(async () => (await strays(`${worker.home}/runs/`)).length === 0, { timeoutMs: 60_000 });
    took.push(Math.round(performance.now() - start));
  }
  console.log(`20 cancelled at once were dead after ${took.join(', ')} ms`);
  // What is still at work there a moment later is the worker's own: a daemon would stay for a day.
  await until(async () => (await strays(`${worker.home}/runs/`)).length === 0, { timeoutMs: 10_000 });
}, 1_200_000);

/** Milliseconds since the server last heard of the pending activity of a task. */
async function heartbeatAge(id: string): Promise<number> {
  const askedAt = Date.now();
  const { raw } = await fleet.client.workflow.getHandle(id).describe();
  const { seconds, nanos } = raw.pendingActivities?.[0]?.lastHeartbeatTime ?? {};
  return seconds ? askedAt - Number(seconds) * 1_000 - Number(nanos ?? 0) / 1e6 : 0;
}
