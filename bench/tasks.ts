import { readFile } from 'node:fs/promises';
import { execa } from 'execa';
import { connectKeeper } from '../src/adapters/keeper/client.ts';
import { homeLayout } from '../src/domain/names.ts';
import { git, type TestFleet } from '../test/helpers/fleet.ts';
import { until } from '../test/helpers/until.ts';
import { cpuSeconds, findProcess, mainThreadSeconds, median, rssMb, type Row } from './measure.ts';
import { EVENTS, processesOf, PROGRAMS, sum, weigh, type At } from './weigh.ts';

/** The cost of tasks whose agent does next to nothing. */

const LATENCY_RUNS = 20;
const DRAIN_TASKS = Number(process.env['BENCH_TASKS'] ?? 200);
const DRAIN_SLOTS = [3, 10, 20];
const LIVE_AGENTS = 20;
const MANY_FILES = 20_000;

const STAMP = 'date +%s%N';
const COMMIT = 'echo made > made.txt && git add made.txt && git commit -qm made';
const shell = (script: string) => ({ command: ['sh', '-c', script], protocol: 'none' as const });
/** `stamp` prints when it began. */
export const coders = {
  stamp: shell(`${STAMP} && ${COMMIT}`),
  commit: shell(COMMIT),
  sleep: shell('exec sleep 86400'),
};

export async function* taskFigures(fleet: TestFleet): AsyncGenerator<Row> {
  const repo = await fleet.repo('bench', { 'README.md': 'bench\n', 'src/a.js': 'export const a = 1;\n' });
  const worker = await fleet.worker('bench-idle', { worker: { slots: LIVE_AGENTS }, coders });
  const started = await cpuSeconds([worker.pid]);
  yield { what: 'worker: CPU until it is attached', value: started, unit: 's', target: '≤1.2' };
  yield { what: 'worker: RSS, idle', value: await rssMb(worker.pid), unit: 'MB', target: '≤140' };
  yield* await latency(fleet, { worker, repo, what: 'a repository of 2 files' });
  const many = Array.from({ length: MANY_FILES }, (_, i) => [`src/${i % 200}/${i}.js`, `export const a = ${i};\n`]);
  const large = await fleet.repo('large', Object.fromEntries(many));
  yield* await latency(fleet, { worker, repo: large, what: `a repository of ${MANY_FILES} files`, runs: 5 });
  yield* await weight(fleet, { worker, repo });
  yield* await memory(fleet, { worker, repo });
  await worker.stop();
  for (const slots of DRAIN_SLOTS) yield* await drain(fleet, slots);
}

/** From `enqueue` to the agent's first instruction, against `git worktree add` and a spawn. The first task of a repository is left out. */
async function latency(
  fleet: TestFleet,
  { worker, repo, what, runs = LATENCY_RUNS }: At & { what: string; runs?: number },
): Promise<Row[]> {
  const took: number[] = [];
  const floor: number[] = [];
  for (let i = 0; i <= runs; i += 1) {
    const enqueuedAt = Date.now();
    const id = await fleet.fleet.enqueue({ objective: 'x', repo, coder: 'stamp' });
    await fleet.result(id);
    const stamp = await readFile(`${worker.home}/tasks/${id}/1/logs/stdout.${'0'.repeat(12)}`, 'utf8');
    const floorStart = Date.now();
    await git(repo, 'worktree', 'add', '-q', '--detach', `${fleet.root}/floor-${repo.split('/').at(-1)}-${i}`);
    const floorEnd = Number((await execa('sh', ['-c', STAMP])).stdout) / 1e6;
    if (i === 0) continue;
    took.push(Number(stamp.split('\n')[0]) / 1e6 - enqueuedAt);
    floor.push(floorEnd - floorStart);
  }
  return [
    { what: `enqueue → agent started, ${what}, median`, value: median(took), unit: 'ms', floor: median(floor) },
    { what: 'the same, over the floor', value: median(took) - median(floor), unit: 'ms', target: '≤90' },
  ];
}

async function weight(fleet: TestFleet, at: At): Promise<Row[]> {
  const { events, programs } = await weigh(fleet, at);
  const rows: Row[] = [{ what: EVENTS, value: events, unit: '', target: '≤46' }];
  if (programs === undefined) return rows;
  const parts = [...programs].map(([name, n]) => `${name} ${round(n)}`).join(', ');
  return [...rows, { what: PROGRAMS, parts, value: sum(programs.values()), unit: '', target: '≤14' }];
}

const round = (value: number): string => value.toFixed(1).replace(/\.0$/, '');

/** Memory of a worker and its keeper with live agents. */
async function memory(fleet: TestFleet, { worker, repo }: At): Promise<Row[]> {
  const ids = await Promise.all(
    Array.from({ length: LIVE_AGENTS }, () => fleet.fleet.enqueue({ objective: 'x', repo, coder: 'sleep' })),
  );
  await until(
    async () => (await Promise.all(ids.map((id) => fleet.fleet.view(id)))).every(({ state }) => state === 'running'),
    { timeoutMs: 60_000 },
  );
  const keeper = await connectKeeper({ home: homeLayout(worker.home), selfKillMs: 30_000 });
  const rows: Row[] = [
    { what: `worker: RSS, ${LIVE_AGENTS} live agents`, value: await rssMb(worker.pid), unit: 'MB' },
    { what: `keeper: RSS, ${LIVE_AGENTS} live agents`, value: await rssMb(await keeper.pid()), unit: 'MB' },
  ];
  keeper.close();
  await Promise.all(ids.map((id) => fleet.fleet.cancel(id)));
  await Promise.all(ids.map((id) => fleet.settled(id)));
  return rows;
}

/** Drains a queue of tasks whose agent only commits, against `xargs -P` over worktrees of one clone. */
async function drain(fleet: TestFleet, slots: number): Promise<Row[]> {
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
  const server = await findProcess(`--db-filename ${fleet.server.home}`);
  const used = async () => ({
    all: await cpuSeconds(await processesOf(worker)),
    main: await mainThreadSeconds(worker.pid),
    server: await cpuSeconds([server]),
  });
  const before = await used();
  const start = performance.now();
  await Promise.all(ids.map((id) => fleet.result(id)));
  const rate = DRAIN_TASKS / ((performance.now() - start) / 1_000);
  const after = await used();
  await worker.stop();
  const perTask = (key: keyof typeof before) => ((after[key] - before[key]) / DRAIN_TASKS) * 1_000;
  const target12 = slots === 10 ? { target: '≥12' } : {};
  return [
    { what: `drain ${DRAIN_TASKS} tasks, ${slots} slots`, value: rate, unit: 'tasks/s', floor, ...target12 },
    { what: `${slots} slots: CPU a task, worker, keeper, git and agent`, value: perTask('all'), unit: 'ms' },
    { what: `${slots} slots: CPU a task, worker's main thread`, value: perTask('main'), unit: 'ms', target: '≤60' },
    { what: `${slots} slots: CPU a task, Temporal's server`, value: perTask('server'), unit: 'ms' },
  ];
}
