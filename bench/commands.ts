import { fileURLToPath } from 'node:url';
import type { TestFleet } from '../test/helpers/fleet.ts';
import { median, rssMb, timed, type Row, type Timed } from './measure.ts';
import { coders } from './tasks.ts';

/** The cost of commands, and of a long queue to those who look at it and to the worker that waits beside it. */

const MAIN = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const QUEUED = 2_000;
const TRIES = 5;
const LISTS = 3;

export async function* commandFigures(fleet: TestFleet): AsyncGenerator<Row> {
  const env = { ...fleet.server.env, FLEET_HOME: `${fleet.root}/client` };
  const node = await tries(() => timed(process.execPath, ['-e', '0'], env));
  const command = async (what: string, args: readonly string[], cpuTarget?: string): Promise<Row[]> => {
    const { wall, cpu } = await tries(() => timed(process.execPath, [MAIN, ...args], env));
    return [
      { what: `${what}: CPU`, value: cpu, unit: 's', floor: node.cpu, ...(cpuTarget ? { target: cpuTarget } : {}) },
      { what: `${what}: wall`, value: wall, unit: 's', floor: node.wall },
    ];
  };
  for (const flag of ['--version', '--help']) yield* await command(`fleet ${flag}`, [flag], '≤0.15');

  const repo = await fleet.repo('commands');
  const worker = await fleet.worker('bench-queue', { worker: { slots: 1 }, coders });
  const running = await fleet.fleet.enqueue({ objective: 'x', repo, coder: 'sleep' });
  await fleet.running(running);
  yield* await command('fleet enqueue of one', ['enqueue', 'x', '--repo', repo, '--coder', 'commit'], '≤0.6');
  yield* await command('fleet tasks, a handful', ['tasks'], '≤0.55');

  const orders = Array.from({ length: QUEUED }, () => ({ input: { objective: 'x', repo, coder: 'commit' } }));
  const start = performance.now();
  const admitted = await fleet.fleet.enqueueAll(orders);
  const rate = QUEUED / ((performance.now() - start) / 1_000);
  yield { what: `enqueue of ${QUEUED}`, value: rate, unit: 'tasks/s', target: '≥200' };
  const queued = `${QUEUED} queued`;
  yield { what: `worker: RSS, ${queued}`, value: await rssMb(worker.pid), unit: 'MB', target: '≤220' };
  yield* await command(`fleet tasks, ${queued}`, ['tasks'], '≤1.5');
  yield* await command(`fleet workers, ${queued}`, ['workers'], '≤1');
  yield* await command(`fleet explain, ${queued}`, ['explain', admitted.at(-1)!.id], '≤1');
  for (let i = 0; i < LISTS; i += 1) await fleet.cli(['tasks']);
  yield {
    what: `worker: RSS, ${queued} and listed`,
    value: await rssMb(worker.pid),
    unit: 'MB',
    target: '≤220',
  };
  await worker.stop('SIGKILL');
}

async function tries(one: () => Promise<Timed>): Promise<Timed> {
  const all: Timed[] = [];
  for (let i = 0; i < TRIES; i += 1) all.push(await one());
  return { wall: median(all.map(({ wall }) => wall)), cpu: median(all.map(({ cpu }) => cpu)) };
}
