import { readFile, writeFile } from 'node:fs/promises';
import { execa } from 'execa';
import { connectKeeper } from '../src/adapters/keeper/client.ts';
import { homeLayout } from '../src/domain/names.ts';
import { git, TestFleet, type TestWorker } from '../test/helpers/fleet.ts';
import { until } from '../test/helpers/until.ts';
import { proxyFigures } from './proxy.ts';

/**
 * What the fleet costs, against bare floors in the same run. Figures depend on the machine; the ratios are what to compare.
 * `npm run bench` prints a table and writes bench/results.json.
 */

const LATENCY_RUNS = 20;
const DRAIN_TASKS = Number(process.env['BENCH_TASKS'] ?? 200);
const DRAIN_SLOTS = [3, 10, 20];
const LIVE_AGENTS = 20;

const STAMP = 'date +%s%N';
const COMMIT = 'echo made > made.txt && git add made.txt && git commit -qm made';
const shell = (script: string) => ({ command: ['sh', '-c', script], protocol: 'none' as const });
const coders = { stamp: shell(STAMP), commit: shell(COMMIT), sleep: shell('exec sleep 86400') };

interface Row {
  what: string;
  value: number;
  unit: string;
  floor?: number;
  target?: string;
}
const rows: Row[] = [];

await using fleet = await TestFleet.start();
const repo = await fleet.repo('bench', { 'README.md': 'bench\n', 'src/a.js': 'export const a = 1;\n' });

const idle = await fleet.worker('bench-idle', { worker: { slots: LIVE_AGENTS }, coders });
rows.push({ what: 'worker RSS, idle', value: await rssMb(idle.pid), unit: 'MB', target: '≤160' });
await latency(idle);
await memory(idle);
await idle.stop();
for (const slots of DRAIN_SLOTS) await drain(slots);
rows.push(...(await proxyFigures()));

console.log(
  rows
    .map(({ what, value, unit, floor, target }) =>
      [
        what.padEnd(52),
        `${round(value)} ${unit}`.padStart(14),
        floor === undefined ? ''.padStart(30) : `floor ${round(floor)}, ratio ${round(value / floor)}`.padStart(30),
        target ? `target ${target}` : '',
      ].join('  '),
    )
    .join('\n'),
);
await writeFile(
  new URL('results.json', import.meta.url),
  `${JSON.stringify({ node: process.version, rows }, null, 2)}\n`,
);

/** (a) From `enqueue` to the agent's first instruction, against `git worktree add` and a spawn; (d) events of one task. */
async function latency(worker: TestWorker): Promise<void> {
  const took: number[] = [];
  const floor: number[] = [];
  let events = 0;
  for (let i = 0; i < LATENCY_RUNS; i += 1) {
    const enqueuedAt = Date.now();
    const id = await fleet.fleet.enqueue({ objective: 'x', type: 'review', repo, coder: 'stamp', deliver: 'none' });
    await fleet.fleet.wait(id, 60_000);
    took.push(
      Number(await readFile(`${worker.home}/tasks/${id}/1/logs/stdout.${'0'.repeat(12)}`, 'utf8')) / 1e6 - enqueuedAt,
    );

    const startedAt = Date.now();
    await git(repo, 'worktree', 'add', '-q', '--detach', `${fleet.root}/floor-${i}`);
    floor.push(Number((await execa('sh', ['-c', STAMP])).stdout) / 1e6 - startedAt);
  }
  const id = await fleet.fleet.enqueue({ objective: 'x', repo, coder: 'commit' });
  await fleet.fleet.wait(id, 60_000);
  events = await historyLength(id);
  rows.push({ what: 'enqueue → agent started, median', value: median(took), unit: 'ms', floor: median(floor) });
  rows.push({ what: 'the same, over the floor', value: median(took) - median(floor), unit: 'ms', target: '≤150' });
  rows.push({ what: 'history events of a delivered task', value: events, unit: '', target: '≤50' });
}

/** (c) Memory of a worker and its keeper with 20 live agents. */
async function memory(worker: TestWorker): Promise<void> {
  const ids = await Promise.all(
    Array.from({ length: LIVE_AGENTS }, () => fleet.fleet.enqueue({ objective: 'x', repo, coder: 'sleep' })),
  );
  await until(
    async () => (await Promise.all(ids.map((id) => fleet.fleet.view(id)))).every(({ state }) => state === 'running'),
    { timeoutMs: 60_000 },
  );
  const keeper = await connectKeeper({ home: homeLayout(worker.home), selfKillMs: 30_000 });
  rows.push({ what: `worker RSS, ${LIVE_AGENTS} live agents`, value: await rssMb(worker.pid), unit: 'MB' });
  rows.push({ what: `keeper RSS, ${LIVE_AGENTS} live agents`, value: await rssMb(await keeper.pid()), unit: 'MB' });
  keeper.close();
  await Promise.all(ids.map((id) => fleet.fleet.cancel(id)));
  await until(
    async () => (await Promise.all(ids.map((id) => fleet.fleet.view(id)))).every(({ state }) => state === 'cancelled'),
    { timeoutMs: 90_000 },
  );
}

/** (b) Drains a queue of tasks whose agent only commits, against `xargs -P` over worktrees of one clone. */
async function drain(slots: number): Promise<void> {
  const floorRepo = await fleet.repo(`floor-repo-${slots}`);
  const script = `for try in 1 2 3 4 5 6 7 8 9; do git worktree add -q -b b$1 ../floor-${slots}-$1 2>/dev/null && break; done; cd ../floor-${slots}-$1 && ${COMMIT}`;
  const floorStart = performance.now();
  await execa('xargs', ['-P', String(slots), '-I{}', 'sh', '-c', script, 'sh', '{}'], {
    cwd: floorRepo,
    input: Array.from({ length: DRAIN_TASKS }, (_, i) => `${i}\n`).join(''),
    reject: false,
    env: { GIT_AUTHOR_NAME: 'b', GIT_AUTHOR_EMAIL: 'b@b', GIT_COMMITTER_NAME: 'b', GIT_COMMITTER_EMAIL: 'b@b' },
  });
  const floor = DRAIN_TASKS / ((performance.now() - floorStart) / 1_000);

  const target = await fleet.repo(`drain-${slots}`);
  const orders = Array.from({ length: DRAIN_TASKS }, () => ({
    input: { objective: 'x', repo: target, coder: 'commit' },
  }));
  const ids = (await fleet.fleet.enqueueAll(orders)).map(({ id }) => id);
  const worker = await fleet.worker(`bench-${slots}`, { worker: { slots }, coders });
  const start = performance.now();
  await Promise.all(ids.map((id) => fleet.result(id)));
  const rate = DRAIN_TASKS / ((performance.now() - start) / 1_000);
  await worker.stop();
  rows.push({
    what: `drain ${DRAIN_TASKS} tasks, ${slots} slots`,
    value: rate,
    unit: 'tasks/s',
    floor,
    ...(slots === 20 ? { target: '≥8' } : {}),
  });
}

async function historyLength(id: string): Promise<number> {
  return (await fleet.client.workflow.getHandle(id).describe()).historyLength;
}

async function rssMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
