import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { agent, TestFleet } from '../helpers/fleet.ts';
import { keeperOf, type LiveAgent } from '../helpers/live-agents.ts';
import { until } from '../helpers/until.ts';

/** Rows F31 and F32: an agent that writes more than anybody wants to read. */

const MB = 1_000_000;
const LINE = 400 * MB;
const LINES = 1_000 * MB;
/** Each line of the many is 100 bytes. */
const FLOOD = `head -c ${LINE} /dev/zero | tr '\\0' x; echo; yes ${'y'.repeat(99)} | head -c ${LINES}; echo flooded > made.txt`;
/** Waits for a word, then writes a block at a time and counts them where the test can see it. */
const STEADY = `while [ ! -e ../go ]; do sleep 0.1; done
  i=0; while [ $i -lt 200 ]; do head -c ${MB} /dev/zero | tr '\\0' '\\n'; i=$((i + 1)); echo $i > ../blocks; done; echo made > made.txt`;

let fleet: TestFleet;
beforeAll(async () => void (fleet = await TestFleet.start()), 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const status = (pid: number, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** Lets the peak of resident memory start over, and tells by how many MB it rose since. */
function watchMemory(pid: number): () => number {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = status(pid, 'VmRSS');
  return () => status(pid, 'VmHWM') - before;
}

test('F31: a line of 400 MB and a gigabyte of lines take no more than 50 MB of the worker and of the keeper', async () => {
  await using worker = await fleet.worker('flooded', {
    coders: {
      ok: agent('ok.sh'),
      flood: { command: ['sh', '-c', `while [ ! -e ../go ]; do sleep 0.1; done; ${FLOOD}`], protocol: 'none' },
    },
  });
  const repo = await fleet.repo('flood');
  const warm = await fleet.fleet.enqueue({ objective: 'Warm up', repo, coder: 'ok' });
  expect(await fleet.settled(warm)).toMatchObject({ state: 'done' });
  const id = await fleet.fleet.enqueue({ objective: 'Flood', repo, coder: 'flood' });
  const live = await fleet.running(id);
  const grown = { worker: watchMemory(worker.pid), keeper: watchMemory(await keeperOf(live)) };
  writeFileSync(`${live.work}/go`, '');
  const report = await fleet.settled(id, 200_000);
  const rose = { worker: grown.worker(), keeper: grown.keeper() };
  expect(report).toMatchObject({ state: 'done', attempts: { used: 1 } });
  expect(report.receipts.find(({ kind }) => kind === 'exit')?.evidence).toMatchObject({
    stdout: { bytes: LINE + 1 + LINES },
  });
  expect(rose.worker).toBeLessThan(50);
  expect(rose.keeper).toBeLessThan(50);
});

test('F32: an agent that writes on while its worker is dead is never held up, and nothing is lost', async () => {
  const config = { coders: { steady: { command: ['sh', '-c', STEADY], protocol: 'none' as const } } };
  const worker = await fleet.worker('away', config);
  const id = await fleet.fleet.enqueue({ objective: 'Write', repo: await fleet.repo('steady'), coder: 'steady' });
  const live = await fleet.running(id);
  await worker.stop('SIGKILL');
  writeFileSync(`${live.work}/go`, '');
  await until(() => blocks(live) === 200, { timeoutMs: 60_000 });
  await using back = await fleet.worker('away', config);
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', runs: [{ runId: live.runId, reason: null }] });
  expect(back.pid).not.toBe(worker.pid);
  const report = await fleet.settled(id);
  expect(report.receipts.find(({ kind }) => kind === 'exit')?.evidence).toMatchObject({ stdout: { bytes: 200 * MB } });
});

function blocks({ work }: LiveAgent): number {
  return statSync(`${work}/blocks`, { throwIfNoEntry: false }) ? Number(readFileSync(`${work}/blocks`, 'utf8')) : 0;
}
