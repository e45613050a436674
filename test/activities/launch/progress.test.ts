import { afterEach, expect, jest, test } from '@jest/globals';
import { appendFileSync, mkdirSync } from 'node:fs';
import type { Deps } from '../../../src/activities/worker/context.ts';
import type { Follower } from '../../../src/activities/output/event-follower.ts';
import { ProgressWatch, type Halt } from '../../../src/activities/launch/progress.ts';
import type { WireWatch } from '../../../src/activities/output/proxy-watch.ts';
import { NO_WIRE } from '../../../src/domain/agent/model-traffic.ts';
import { tempDir } from '../../helpers/temp.ts';

const MINUTE = 60_000;
const REF = { taskId: 't', runId: '1-a' };

/** What an agent does in one look's time, half a minute. */
interface Moment {
  prints?: string;
  /** CPU milliseconds. */
  cpuMs?: number;
  /** A tool call, or its result. */
  step?: true;
  /** A tool runs meanwhile. */
  tool?: true;
  /** Bytes of its model's answer. */
  answered?: number;
}

afterEach(() => {
  jest.restoreAllMocks();
});

/** An agent of this kind, looked at for half an hour of a clock of ours, with the default limit. */
async function after(moment: (i: number) => Moment): Promise<Halt | undefined> {
  await using temp = await tempDir();
  for (const folder of ['tree', 'logs']) mkdirSync(`${temp.path}/${folder}`);
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const agent = { read: 0, steps: 0, text: '', waiting: null, last: undefined, tool: undefined as object | undefined };
  const wire = { live: { open: 0, quietMs: 0, answered: 0, sum: NO_WIRE } };
  let cpuMs = 0;
  const deps = {
    keeper: { status: async () => ({ state: 'live', stderrBytes: 0, cpuMs }) },
    registry: { find: () => ({ n: 1 }) },
    home: {
      task: () => ({ runOf: () => ({ logs: `${temp.path}/logs` }) }),
      run: () => ({ tree: `${temp.path}/tree`, outbox: `${temp.path}/outbox` }),
    },
  } as unknown as Deps;
  const run = { follower: agent as unknown as Follower, wire: wire as unknown as WireWatch, idleMs: 10 * MINUTE };
  const watch = new ProgressWatch(deps, REF, run);
  for (let i = 1; now < 30 * MINUTE; i += 1) {
    now += MINUTE / 2;
    const { prints = '', cpuMs: used = 0, step, tool, answered = 0 } = moment(i);
    appendFileSync(`${temp.path}/logs/stdout.000000000000`, prints);
    agent.read += Buffer.byteLength(prints);
    if (step) agent.steps += 1;
    agent.tool = tool && {};
    wire.live.answered += answered;
    cpuMs += used;
    const halt = await watch.tick();
    if (halt) return halt;
  }
  return undefined;
}

const status = '{"type":"status","waiting":true}\n';

test.each<[string, (i: number) => Moment]>([
  ['compiles', (i) => ({ prints: `Compiling ${'abcdefghij'[i % 10]}${'klmnopqrst'[Math.floor(i / 10)]}\n` })],
  ['builds in silence', () => ({ cpuMs: 20_000 })],
  ['builds, and says so now and then', () => ({ prints: 'still building\n', cpuMs: 20_000 })],
  ['downloads', (i) => ({ prints: `\r${i} %` })],
  ['thinks while its model streams', () => ({ answered: 500 })],
  ['shows a spinner while its model streams', (i) => ({ prints: `\rThinking… ${i}s`, answered: 500 })],
  ['calls a tool again and again', () => ({ step: true, prints: 'sleep 30\n' })],
  ['waits for a tool that works a little, and says so', () => ({ tool: true, prints: status, cpuMs: 1_000 })],
])('an agent that %s is left alone', async (_, moment) => expect(await after(moment)).toBeUndefined());

test.each<[string, (i: number) => Moment, string]>([
  ['says nothing', (i) => (i === 1 ? { prints: 'begun\n' } : {}), 'begun'],
  ['repeats one line', () => ({ prints: 'working\nworking\n', cpuMs: 100 }), 'working'],
  ['repeats one line without a pause', () => ({ prints: 'working\n'.repeat(50_000), cpuMs: 30_000 }), 'working'],
  ['shows a spinner', (i) => ({ prints: `\rThinking… ${i}s`, cpuMs: 900 }), 'Thinking… '],
])('an agent that only %s is stalled', async (_, moment, why) => {
  const halt = await after(moment);
  expect(halt?.reason).toBe('stalled');
  expect(halt?.why).toContain(why);
});
