import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { agent, git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { Random } from '../simulation/random.ts';
import { emptied, makeLab, readLog } from './lab.ts';

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const coders = { count: agent('count.sh') };
/** 200 for the figure in docs/reliability.md. */
const KILLS = Number(process.env['FLEET_KILLS'] ?? 20);
const SEED = Number(process.env['FLEET_SEED'] ?? 1);
const LANES = 4;

/** Everything that the agent wrote, once and in order; and what the keeper counted is what the log holds. */
async function soundTask(id: string, repo: string, worker: TestWorker): Promise<void> {
  const report = await fleet.settled(id, 180_000);
  expect(report).toMatchObject({ state: 'done', attempts: { used: 1 }, runs: [{ reason: null }] });
  const log = await readLog(worker, id, report.runs[0]!.n);
  const lines = log.toString().split('\n');
  expect(lines.filter((line) => line.startsWith('started'))).toHaveLength(1);
  const counted = lines.filter((line) => /^\d{1023}$/.test(line)).map(Number);
  expect(counted).toEqual(Array.from({ length: 150 }, (_, i) => i + 1));
  expect(report.receipts.find(({ kind }) => kind === 'exit')?.evidence).toMatchObject({
    stdout: { bytes: log.length, sha256: createHash('sha256').update(log).digest('hex') },
  });
  expect(await git(repo, 'branch', '--list', `fleet/${id}*`, '--format=%(refname:short)')).toBe(`fleet/${id}`);
}

test.concurrent.each(Array.from({ length: LANES }, (_, lane) => lane))(
  `F1: kill -9 of the worker at random instants, lane %i: no second launch, no byte lost (${KILLS} kills on ${LANES} lanes, seed ${SEED})`,
  async (lane) => {
    const random = new Random(SEED * LANES + lane);
    const { repo, worker: start, enqueue } = await makeLab(fleet, `lane-${lane}`, coders);
    let worker = await start(`lane-${lane}`);
    const ids = [await enqueue({ coder: 'count' })];
    for (let kill = 0; kill < KILLS / LANES; kill += 1) {
      await sleep(random.between(200, 8_000));
      await worker.stop('SIGKILL');
      worker = await start(`lane-${lane}`);
      if ((await fleet.fleet.view(ids.at(-1)!)).state === 'done') ids.push(await enqueue({ coder: 'count' }));
    }
    for (const id of ids) await soundTask(id, repo, worker);
    await emptied(worker);
    expect((await worker.view()).slots.used).toBe(0);
    await worker.stop();
  },
  (KILLS / LANES) * 20_000 + 240_000,
);
