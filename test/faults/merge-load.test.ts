import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { doing, scripted } from '../helpers/scripted.ts';
import { until } from '../helpers/until.ts';

/** Mulberry32: the same seed gives the same kills. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const TASKS = 20;
const BAD = new Set([4, 11]);
let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

test('20 results, two of them wrong only on the target, while workers are killed at random: each good one is merged once', async () => {
  const random = randomOf(Number(process.env['SEED'] ?? 7));
  // Wrong is whatever has `bad` once the target has `later.txt`.
  const check = 'verify: ["! { test -e later.txt && ls | grep -q bad; }"]\n';
  const from = await fleet.repo('from', { '.fleet.yaml': check });
  const bare = `${fleet.root}/app.git`;
  await git(fleet.root, 'clone', '-q', '--bare', from, bare);
  const base = await git(bare, 'rev-parse', 'main');
  await pushLater(bare);

  const start = (name: string): Promise<TestWorker> =>
    fleet.worker(name, {
      lease: { heartbeat: '3s', grace: '45s', selfKill: '30s' },
      worker: { slots: 4 },
      coders: { scripted },
    });
  const workers = new Map([
    ['w1', await start('w1')],
    ['w2', await start('w2')],
  ]);
  const ids: string[] = [];
  for (let i = 0; i < TASKS; i += 1) {
    const file = BAD.has(i) ? `bad-${i}.txt` : `good-${i}.txt`;
    const objective = doing(`echo ${i} > ${file}`);
    const input = { objective, coder: 'scripted', deliver: 'merge' as const, repo: `file://${bare}`, base };
    const retry = { maxAttempts: 1 };
    ids.push(await fleet.fleet.enqueue({ ...input, retry }, { id: `t${i}` }));
  }
  let kills = 0;
  let over = false;
  const nemesis = (async () => {
    for (const name of ['w1', 'w2', 'w1', 'w2']) {
      const at = performance.now() + 4_000 + random() * 10_000;
      await until(() => over || performance.now() > at, { timeoutMs: 30_000 });
      if (over) return;
      await workers.get(name)!.stop('SIGKILL');
      kills += 1;
      workers.set(name, await start(name));
    }
  })();
  const reports = await Promise.all(ids.map((id) => fleet.settled(id, 540_000)));
  over = true;
  await nemesis;
  const log = (await git(bare, 'log', '--first-parent', '--format=%s', 'main')).split('\n');
  const merged = ids.map((id) => log.filter((line) => line === `Merge fleet/${id} into main`).length);
  expect(merged).toEqual(ids.map((_id, i) => (BAD.has(i) ? 0 : 1)));
  expect(reports.map(({ state }) => state)).toEqual(ids.map((_id, i) => (BAD.has(i) ? 'parked' : 'done')));
  expect(kills).toBeGreaterThan(0);
  for (const i of BAD) expect(reports[i]!.runs.map(({ reason }) => reason)).toContain('merge-failed');
}, 600_000);

async function pushLater(bare: string): Promise<void> {
  const dir = `${bare}-clone`;
  await git(fleet.root, 'clone', '-q', bare, dir);
  await writeFile(`${dir}/later.txt`, 'x\n');
  await git(dir, 'add', '-A');
  await git(dir, '-c', 'user.name=P', '-c', 'user.email=p@x', 'commit', '-qm', 'Later');
  await git(dir, 'push', '-q', 'origin', 'HEAD:main');
}
