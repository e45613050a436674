import { existsSync } from 'node:fs';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PartialConfig } from '../../src/config.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet } from '../helpers/fleet.ts';
import { agents, keeperOf } from '../helpers/live-agents.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.start();
});
afterAll(() => fleet[Symbol.asyncDispose]());

const coders = { half: agent('half.sh') };
const STALLS = { idle: '2s' };

/** Each test has a worker and tasks on a queue of its own. */
const lab = (queue: string) => ({
  worker: (name: string, config: PartialConfig = {}, env: Record<string, string> = {}) =>
    fleet.worker(
      name,
      { coders, ...config, worker: { slots: 1, queues: [queue], env: ['WAIT_FOR_GO'], ...config.worker } },
      { env },
    ),
  enqueue: async (input: Partial<TaskInput> & { repo: string }) =>
    fleet.fleet.enqueue({ objective: 'x', coder: 'half', queue, retry: { backoff: '1s' }, ...input }),
});
const half = (work: string) =>
  until(() => existsSync(`${work}/tree/half.txt`) && !existsSync(`${work}/tree/README.md`));
const told = (work: string) => readFile(`${work}/told`, 'utf8');
const show = (repo: string, what: string) => git(repo, 'show', what);

test.concurrent('a stalled run’s work is what the next one starts from, uncommitted as it was, and it is told so', async () => {
  const { worker, enqueue } = lab('stalled');
  await using _ = await worker('stalled');
  const repo = await fleet.repo('repo-stalled');
  const id = await enqueue({ repo, limits: STALLS, env: ['WAIT_FOR_GO'] });
  const report = await fleet.settled(id);
  const [first, second] = report.runs;
  expect(report).toMatchObject({ state: 'done', attempts: { used: 2 }, branch: `fleet/${id}` });
  expect(first).toMatchObject({ reason: 'stalled', saved: { pushed: false, session: null } });
  expect(second).toMatchObject({ resumedFrom: first!.runId, reason: null });
  expect(await git(repo, 'log', '--format=%s', `main..fleet/${id}`)).toBe('The other half\nOne half');
  expect(await show(repo, `fleet/${id}:half.txt`)).toBe(`by ${first!.runId}`);
  expect(await git(repo, 'ls-tree', '--name-only', `fleet/${id}`)).toBe('committed.txt\nhalf.txt');
  // Done: nothing of it is kept for anybody.
  const vault = `${fleet.root}/stalled/vault`;
  const [key] = await readdir(vault);
  expect(await git(`${vault}/${key}`, 'for-each-ref', 'refs/fleet')).toBe('');
});

test.concurrent('the prompt of a resumed run says why, and its worktree is as the last one left it', async () => {
  const { worker, enqueue } = lab('told');
  await using _ = await worker('told', {}, { WAIT_FOR_GO: '1' });
  const id = await enqueue({ repo: await fleet.repo('repo-told'), limits: STALLS, env: ['WAIT_FOR_GO'] });
  const next = await fleet.running(id, 2);
  await until(() => existsSync(`${next.work}/found`));
  expect(await told(next.work)).toContain('An earlier run of this task was ended (');
  expect(await told(next.work)).not.toContain('their changes are gone');
  expect(await readFile(`${next.work}/found`, 'utf8')).toBe(' D README.md\n?? half.txt\n');
  const { stdout } = await fleet.cli(['task', id]);
  expect(stdout).toMatch(/2-\w+ resumed from the work of run 1-/);
  expect(stdout).toContain(`refs/fleet/${id}/1-`);
  await writeFile(`${next.work}/go`, '');
  expect(await fleet.settled(id)).toMatchObject({ state: 'done' });
});

test.concurrent('a rejected run’s work is gone on from; with resume: false the next run starts from the base', async () => {
  const { worker, enqueue } = lab('rejected');
  const command = [
    'sh',
    '-c',
    'cat > ../told; if [ -e a ]; then touch b; else touch a; fi; git add -A; git commit -qm x',
  ];
  await using _ = await worker('rejected', { coders: { steps: { command, protocol: 'none' } } });
  const repo = await fleet.repo('repo-rejected');
  const task = { repo, coder: 'steps', verify: ['test -e a && test -e b'], retry: { maxAttempts: 2, backoff: '1s' } };
  const on = await fleet.settled(await enqueue(task));
  expect(on).toMatchObject({ state: 'done', runs: [{ reason: 'receipts-rejected' }, { reason: null }] });
  expect(on.runs[1]!.resumedFrom).toBe(on.runs[0]!.runId);
  const off = await fleet.settled(await enqueue({ ...task, resume: false }));
  expect(off).toMatchObject({ state: 'parked', runs: [{ saved: { pushed: false } }, { resumedFrom: null }] });
  // What was judged is what was saved.
  expect(off.runs.map(({ saved }) => saved!.commit)).toEqual(off.runs.map(({ commit }) => commit));
});

test.concurrent('resume: false starts from the base also after a stall', async () => {
  const { worker, enqueue } = lab('fresh');
  await using _ = await worker('fresh');
  const retry = { maxAttempts: 2, backoff: '1s' };
  const id = await enqueue({ repo: await fleet.repo('repo-fresh'), limits: STALLS, resume: false, retry });
  const next = await fleet.running(id, 2);
  await half(next.work);
  expect(await told(next.work)).toContain('They started from the same commit, and their changes are gone.');
  const report = await fleet.settled(id);
  expect(report).toMatchObject({ state: 'parked', runs: [{ resumedFrom: null }, { resumedFrom: null }] });
});

test.concurrent('what a cancelled task had not committed is on a rescue ref that the task names', async () => {
  const { worker, enqueue } = lab('cancelled');
  await using _ = await worker('cancelled');
  const id = await enqueue({ repo: await fleet.repo('repo-cancelled') });
  const live = await fleet.running(id);
  await half(live.work);
  await fleet.fleet.cancel(id);
  const report = await fleet.settled(id);
  const [run] = report.runs;
  expect(report.state).toBe('cancelled');
  const ref = `refs/fleet/${id}/${live.runId}`;
  const [key] = await readdir(`${fleet.root}/cancelled/vault`);
  const vault = `${fleet.root}/cancelled/vault/${key}`;
  expect(await git(vault, 'rev-parse', ref)).toBe(run!.saved!.commit);
  expect(await git(vault, 'ls-tree', '--name-only', ref)).toBe('committed.txt\nhalf.txt');
  expect((await fleet.cli(['task', id])).stdout).toContain(ref);
});

test.concurrent('the coder goes on in its session, and is told of the call that was in flight', async () => {
  const { worker, enqueue } = lab('session');
  const claude = { command: agent('session.mjs').command };
  await using _ = await worker('session', { coders: { claude } });
  const repo = await fleet.repo('repo-session');
  const id = await enqueue({ repo, coder: 'claude', limits: STALLS });
  const report = await fleet.settled(id);
  expect(report).toMatchObject({
    state: 'done',
    runs: [{ reason: 'stalled', saved: { session: expect.any(String) } }, {}],
  });
  const found = JSON.parse(await show(repo, `fleet/${id}:found.json`)) as { kept: string; prompt: string };
  expect(found.kept).toBe('{"said":"first"}\n');
  expect(found.prompt).toContain('# It was not accepted');
  expect(found.prompt).not.toContain('# Objective');
  expect(found.prompt).toContain('outcome is unknown. Check before you do it again: Bash make deploy');
});

test.concurrent('another machine goes on from the last checkpoint of a lost one, which cannot overwrite it when it returns', async () => {
  const { worker, enqueue } = lab('lost');
  const lease = { heartbeat: '6s', grace: '20s', selfKill: '10s' };
  const start = (name: string) => worker(name, { lease, worker: { checkpoint: '1s' } as never }, { WAIT_FOR_GO: '1' });
  const repo = await fleet.repo('repo-lost');
  const bare = `${fleet.root}/remote.git`;
  await git(fleet.root, 'clone', '-q', '--bare', repo, bare);
  const wip = (id: string, what: string) => git(bare, 'show', `refs/fleet/${id}/wip${what}`).catch(() => '');

  const lost = await start('lost-a');
  const id = await enqueue({ repo: `file://${bare}`, env: ['WAIT_FOR_GO'] });
  const live = await fleet.running(id);
  await half(live.work);
  await writeFile(`${live.work}/notes/KNOWLEDGE.md`, 'The tests need port 80.\n');
  await until(async () => (await wip(id, '^:half.txt')) === `by ${live.runId}`);
  await until(async () => (await wip(id, ':notes/KNOWLEDGE.md')) !== '');
  const keeper = await keeperOf(live);
  await using other = await start('lost-b');
  lost.kill('SIGSTOP');
  process.kill(keeper, 'SIGKILL');
  await lost.stop('SIGKILL');

  const next = await fleet.running(id, 2);
  expect(next.work.startsWith(`${other.home}/`)).toBe(true);
  await until(() => existsSync(`${next.work}/found`));
  expect(await readFile(`${next.work}/found`, 'utf8')).toBe(' D README.md\n?? half.txt\n');
  expect(await told(next.work)).toContain('> The tests need port 80.');
  await until(async () => (await wip(id, ':meta.json')).includes(next.runId));

  await using back = await start('lost-a');
  await until(async () => (await readdir(`${back.home}/runs`)).every((name) => name === '.trash'));
  expect(await wip(id, ':meta.json')).toContain(next.runId);
  expect(await agents(id)).toHaveLength(1);
  await writeFile(`${next.work}/go`, '');
  const report = await fleet.settled(id);
  expect(report).toMatchObject({
    state: 'done',
    attempts: { used: 1 },
    runs: [
      { runId: live.runId, reason: 'host-lost', counts: false },
      { reason: null, resumedFrom: live.runId },
    ],
  });
  expect(await show(bare, `fleet/${id}:half.txt`)).toBe(`by ${live.runId}`);
  expect(await git(bare, 'for-each-ref', 'refs/fleet')).toBe('');
}, 240_000);
