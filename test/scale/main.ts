import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { TestFleet } from '../helpers/fleet.ts';
import { Random } from '../simulation/random.ts';

/**
 * Many tasks that depend on each other at random, by agents that do nothing: all of them end well, each after those that come
 * first, and none is lost. `npm run scale -- --tasks 1000 --seed 7 --workers 2 --slots 10`
 */
const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '20261121' },
    workers: { type: 'string', default: '2' },
    slots: { type: 'string', default: '10' },
  },
});
const [count, seed, workers, slots] = [values.tasks, values.seed, values.workers, values.slots].map(Number) as [
  number,
  number,
  number,
  number,
];
const MOST_NEEDS = 3;
/** How far back a task may reach: else all would wait for the first few. */
const REACH = 60;

await using fleet = await TestFleet.start();
for (let n = 1; n <= workers; n += 1)
  await fleet.worker(`w${n}`, { worker: { slots }, coders: { quick: { command: ['true'], protocol: 'none' } } });

const random = new Random(seed);
const idOf = (n: number) => `scale-${n}`;
const orders = Array.from({ length: count }, (_, n) => {
  const needs = new Set<string>();
  for (let left = random.between(0, MOST_NEEDS); left > 0 && n > 0; left -= 1)
    needs.add(idOf(random.between(Math.max(0, n - REACH), n - 1)));
  const input = { objective: 'nothing', type: 'research' as const, verify: ['true'], coder: 'quick' };
  return { id: idOf(n), input: { ...input, dependsOn: [...needs], priority: random.between(0, 100) } };
});
const edges = orders.reduce((sum, { input }) => sum + input.dependsOn.length, 0);
const began = performance.now();
const seconds = () => ((performance.now() - began) / 1_000).toFixed(1);
console.log(`${count} tasks, ${edges} dependencies, seed ${seed}, ${workers} workers with ${slots} slots each`);
await fleet.fleet.enqueueAll(orders);
console.log(`enqueued after ${seconds()} s`);
const done = async () =>
  (await fleet.client.workflow.count(`WorkflowType = 'agentTask' AND ExecutionStatus != 'Running'`)).count;
// Asked seldom: the server has other things to do.
while ((await done()) < count) await pause(1_000);
const took = Number(seconds());

const reports = new Map((await fleet.fleet.list({ all: true })).map((report) => [report.id, report]));
const wrong: string[] = [];
for (const { id, input } of orders) {
  const report = reports.get(id);
  if (report?.state !== 'done') wrong.push(`${id} is ${report?.state ?? 'lost'}`);
  const [run, second] = report?.runs ?? [];
  if (second) wrong.push(`${id} ran ${report?.runs.length} times`);
  for (const first of input.dependsOn) {
    const ended = reports.get(first)?.endedAt ?? '';
    if (!run || !ended || run.startedAt < ended)
      wrong.push(`${id} ran at ${run?.startedAt}, before ${first} ended at ${ended}`);
  }
}
for (const line of wrong.slice(0, 20)) console.log(line);
console.log(`${count} tasks in ${took} s: ${(count / took).toFixed(1)} a second, ${wrong.length} wrong`);
process.exitCode = wrong.length === 0 ? 0 : 1;
