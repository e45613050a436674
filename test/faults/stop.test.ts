import { readdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { git } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { agents } from '../helpers/live-agents.ts';
import { startOrderLab } from '../helpers/order-lab.ts';
import { doing, scripted } from '../helpers/scripted.ts';
import { until } from '../helpers/until.ts';

let lab: Awaited<ReturnType<typeof startOrderLab>>;

beforeAll(async () => {
  lab = await startOrderLab();
}, 120_000);
afterAll(() => lab.fleet[Symbol.asyncDispose]());

const [VERIFIES, SETS_UP] = ['360217', '360218'];
/** Also ends the reviewer's input, which it does not read. */
const critic = { command: ['sh', '-c', 'cat > /dev/null; exec sleep 360216'], protocol: 'none' as const };
const sleeping = (seconds: string) => strays(`sleep\0${seconds}`);
const WAITS_WHERE_MERGED = 'case $FLEET_RUN in merge*) while [ ! -e go ]; do sleep 0.2; done;; esac';

async function remote(name: string, files: Record<string, string> = { 'a.txt': 'a\n' }) {
  const { fleet } = lab;
  const from = await fleet.repo(`${name}-from`, files);
  const bare = `${fleet.root}/${name}.git`;
  await git(fleet.root, 'clone', '-q', '--bare', from, bare);
  return { bare, repo: `file://${bare}` };
}

test('F44: stop --now ends reviewers, trials and setup as well, and nothing is delivered or merged before fleet resume', async () => {
  const { fleet, cli, explained } = lab;
  const { worker, enqueue } = lab.on('all');
  const { bare, repo } = await remote('app');
  const slow = await remote('slow', { '.fleet.yaml': `setup: [sleep ${SETS_UP}]\n` });
  await using ada = await worker('ada', { worker: { slots: 4 }, coders: { scripted, critic } });
  const put = (file: string, input: Partial<TaskInput>) =>
    enqueue({ objective: doing(`echo x > ${file}`), coder: 'scripted', repo, ...input });
  const state = (id: string, wanted: string) =>
    until(async () => (await fleet.fleet.view(id)).state === wanted, { timeoutMs: 90_000 });
  const trees = async () => {
    const found = (await readdir(`${ada.home}/scratch`)).filter((name) => name.startsWith('merge-'));
    const inside = found.map(async (dir) => ({ dir, names: await readdir(`${ada.home}/scratch/${dir}`) }));
    return (await Promise.all(inside)).flatMap(({ dir, names }) =>
      names.map((name) => `${ada.home}/scratch/${dir}/${name}/tree`),
    );
  };
  const merging = () => strays(`${ada.home}/scratch/merge-`);

  const kept = await put('k.txt', { approval: 'before-deliver' });
  const merged = await put('m.txt', { deliver: 'merge', into: 'main', verify: [WAITS_WHERE_MERGED] });
  await state(kept, 'awaiting-approval');
  await state(merged, 'awaiting-checks');
  const reviewed = await put('r.txt', { review: { coder: 'critic' } });
  const verifying = await put('v.txt', { verify: [`sleep ${VERIFIES}`] });
  const settingUp = await put('s.txt', { repo: slow.repo });
  const ids = [reviewed, verifying, settingUp];
  const busy = async () => [
    await agents(reviewed),
    await sleeping(VERIFIES!),
    await sleeping(SETS_UP!),
    await merging(),
  ];
  await until(async () => (await busy()).every(({ length }) => length > 0), { timeoutMs: 90_000 });

  expect(await cli('stop', '--now', '--why', 'a leak')).toMatch(/^1 agent of 1 worker is down, after /);
  expect(await busy()).toEqual([[], [], [], []]);
  for (const id of ids) {
    await until(async () => (await fleet.fleet.view(id)).state === 'queued', { timeoutMs: 30_000 });
    expect(await fleet.fleet.view(id)).toMatchObject({ attempts: { used: 0 }, runs: [{ reason: 'killed' }] });
  }
  await fleet.fleet.approve(kept, { by: 'jo', why: '' });
  await explained(kept, /; the fleet is stopped by .* \(a leak\): fleet resume/);
  await explained(merged, /; the fleet is stopped by /);
  expect(await git(bare, 'for-each-ref', '--format=%(refname)', 'refs/heads')).not.toContain(kept);
  expect(await merging()).toEqual([]);

  await Promise.all(ids.map((id) => fleet.fleet.cancel(id)));
  for (const id of ids) await fleet.settled(id);
  await cli('resume');
  expect(await fleet.settled(kept)).toMatchObject({ state: 'done', branch: `fleet/${kept}` });
  await until(async () => (await merging()).length > 0, { timeoutMs: 60_000 });
  for (const tree of await trees()) await writeFile(`${tree}/go`, '').catch(() => undefined);
  expect(await fleet.settled(merged)).toMatchObject({ state: 'done', merged: { into: 'main' } });
  await ada.stop('SIGTERM');
}, 300_000);
