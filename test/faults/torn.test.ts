import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Follower } from '../../src/activities/output/event-follower.ts';
import { Keeper } from '../../src/adapters/keeper/keeper.ts';
import { RunRegistry, type RunRecord } from '../../src/adapters/state/run-registry.ts';
import { readSegments, segmentName } from '../../src/adapters/state/log-segments.ts';
import { createClaude } from '../../src/coders/claude.ts';
import { homeLayout, type HomeLayout } from '../../src/domain/names.ts';
import { workerId } from '../../src/workers/health/locks.ts';
import { agent, TestFleet } from '../helpers/fleet.ts';
import { agents } from '../helpers/live-agents.ts';
import { tempDir } from '../helpers/temp.ts';
import { until } from '../helpers/until.ts';

const ref = { taskId: 'task', runId: '1-a' };
const record: RunRecord = {
  ...{
    ...ref,
    n: 1,
    coder: 'x',
    credential: null,
    structured: false,
    server: 's',
    claimedAt: '',
    prepared: null,
    workflowRunId: 'w',
  },
};

/** Cuts a text off at every byte; `look` sees the file as a failing disk may have left it. */
async function torn(path: string, text: string, look: (length: number) => Promise<void>): Promise<void> {
  for (let length = text.length - 1; length >= 0; length -= 1) {
    await writeFile(path, text.slice(0, length));
    await look(length);
  }
}

async function runIn(temp: string): Promise<HomeLayout> {
  const home = homeLayout(temp);
  await mkdir(home.run(ref.taskId, ref.runId).work, { recursive: true });
  return home;
}

test('F30: a run whose record is cut off at any byte is nobody’s, and nothing of it is removed', async () => {
  await using temp = await tempDir();
  const home = await runIn(temp.path);
  await torn(home.run('task', '1-a').record, JSON.stringify(record), async () => {
    const registry = await RunRegistry.open(home, 's');
    expect([registry.list(), registry.torn]).toEqual([[], [ref]]);
  });
  const registry = await RunRegistry.open(home, 's');
  expect(existsSync(`${await registry.setAside(ref)}/work`)).toBe(true);
  expect((await RunRegistry.open(home, 's')).torn).toEqual([]);
});

test('F30: of a launch or an end that is cut off at any byte there is never a second launch', async () => {
  await using temp = await tempDir();
  const home = await runIn(temp.path);
  const { launched, exit } = home.run('task', '1-a');
  const keeper = new Keeper(home, () => {});
  const end = async () => expect(await keeper.handlers.wait(ref)).toEqual({ state: 'crashed' });
  await torn(launched, JSON.stringify({ ...ref, identity: null, isolation: 'namespace', startedAt: '' }), end);
  await torn(exit, JSON.stringify({ exitCode: 0, signal: null, stopped: null }), end);
});

test('F30: events cut off at any byte are read again from the log; a log cut off at any byte is read as far as it goes', async () => {
  await using temp = await tempDir();
  const files = { dir: temp.path, events: `${temp.path}/events.jsonl`, logs: `${temp.path}/logs` };
  await mkdir(files.logs);
  const said = ['one', 'two'].map((text) => ({ type: 'assistant', message: { content: [{ type: 'text', text }] } }));
  const log = said.map((line) => `${JSON.stringify(line)}\n`).join('');
  const segment = `${files.logs}/${segmentName('stdout', 0)}`;
  await writeFile(segment, log);
  const coder = createClaude();
  const read = async () => {
    const follower = await Follower.open(files, coder);
    await follower.drain(true);
    const stored = (await readFile(files.events, 'utf8').catch(() => '')).split('\n').filter(Boolean);
    return { text: follower.text, stored: stored.map((line) => (JSON.parse(line) as { text?: string }).text) };
  };
  const whole = await read();
  expect(whole).toEqual({ text: 'two', stored: ['one', 'two'] });
  await torn(files.events, await readFile(files.events, 'utf8'), async () => expect(await read()).toEqual(whole));
  await torn(segment, log, async (length) => {
    const { bytes } = await readSegments({ dir: files.logs, stream: 'stdout' }, 0, 1 << 20);
    expect(bytes.length).toBe(length);
  });
});

test('F30: a worker whose id is cut off at any byte gets another one', async () => {
  await using temp = await tempDir();
  const home = homeLayout(temp.path);
  const id = await workerId(home);
  await torn(home.workerId, id, async () => expect(await workerId(home)).toMatch(/^[0-9a-f]{8}$/));
});

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const LONG = { heartbeat: '3s', grace: '45s', selfKill: '30s' };
const config = (queue: string) => ({
  lease: LONG,
  coders: { wait: agent('wait-for-file.sh'), ok: agent('ok.sh') },
  worker: { slots: 1, queues: [queue] },
});

test('F30: a torn outcome and a torn verdict are made again', async () => {
  const first = await fleet.worker('verdict', config('verdict'), {
    env: { FLEET_FAILPOINT: 'verify.verdict-written' },
  });
  const repo = await fleet.repo('repo-verdict');
  const id = await fleet.fleet.enqueue({ objective: 'x', coder: 'ok', queue: 'verdict', repo });
  await first.exited;
  const [runId] = readdirSync(`${first.home}/runs/${id}`);
  const files = homeLayout(first.home).run(id, runId!);
  for (const path of [files.outcome, files.verified]) await truncate(path, 20);

  await using _ = await fleet.worker('verdict', config('verdict'));
  expect(await fleet.settled(id)).toMatchObject({
    state: 'done',
    attempts: { used: 1 },
    runs: [{ runId, reason: null }],
  });
});

test('F30: a live agent of a run whose record is torn is ended, and its work kept aside', async () => {
  const first = await fleet.worker('record', config('record'));
  const repo = await fleet.repo('repo-record');
  const id = await fleet.fleet.enqueue({ objective: 'x', coder: 'wait', queue: 'record', repo });
  const live = await fleet.running(id);
  await first.stop('SIGKILL');
  await truncate(homeLayout(first.home).run(id, live.runId).record, 30);

  await using second = await fleet.worker('record', config('record'));
  expect(second.output()).toContain(`the record of run ${live.runId} of ${id} is damaged`);
  expect((await agents(id)).filter(({ runId }) => runId === live.runId)).toEqual([]);
  expect(existsSync(`${second.home}/runs/.torn/${id}-${live.runId}/work/tree`)).toBe(true);
  const next = await fleet.running(id, 2);
  await writeFile(`${next.work}/go`, '');
  await until(async () => (await agents(id)).length === 0);
  expect(await fleet.settled(id)).toMatchObject({
    state: 'done',
    attempts: { used: 1 },
    runs: [{ runId: live.runId, reason: 'host-lost' }, { reason: null }],
  });
});
