import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import type { TaskReport } from '../../src/client.ts';
import { agent, TestFleet } from '../helpers/fleet.ts';
import { startModelServer, type ModelServer } from '../helpers/model-server.ts';

/** Agents that lie about what their model asked for. */

let fleet: TestFleet;
let model: ModelServer;
let repo: string;
const FORGER = fileURLToPath(new URL('../fixtures/agents/forger.mjs', import.meta.url));

beforeAll(async () => {
  fleet = await TestFleet.start();
  model = await startModelServer();
  repo = await fleet.repo('shop');
});
afterAll(async () => {
  await fleet?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

async function runs(name: string, { args = [], env }: { args?: string[]; env: Record<string, string> }) {
  const queue = name;
  const coders = { claude: { command: [process.execPath, FORGER], args } };
  const worker = await fleet.worker(name, { worker: { queues: [queue] }, coders }, { env });
  const retry = { maxAttempts: 1 };
  const verify = ['test -s hello.txt'];
  const id = await fleet.fleet.enqueue({ objective: 'Add hello.txt', repo, queue, coder: 'claude', verify, retry });
  return { worker, id, report: (await fleet.fleet.wait(id, 60_000)) as TaskReport };
}

const tools = ({ receipts }: TaskReport) => receipts.find(({ kind }) => kind === 'tools');
const keyed = () => ({
  ANTHROPIC_BASE_URL: model.url(),
  ANTHROPIC_API_KEY: 'sk-real-000001',
  HOME: `${fleet.root}/user`,
});

test('printed calls of a model that was never asked are rejected', async () => {
  const { report } = await runs('never', { env: keyed() });
  expect(report).toMatchObject({ state: 'parked', reason: 'fabricated' });
  expect(tools(report)).toMatchObject({
    ok: false,
    summary: 'its output shows tool calls, and its model was never asked: Bash npm test',
  });
});

test('a forged call beside a real one is rejected, and named', async () => {
  model.script([{ tools: [{ sh: 'ls' }] }]);
  const { report, worker, id } = await runs('once', { args: ['--ask'], env: keyed() });
  expect(report).toMatchObject({ state: 'parked', reason: 'fabricated' });
  expect(tools(report)).toMatchObject({
    ok: false,
    summary: 'its output shows a call that its model never made: Bash npm test',
    evidence: { byWire: { calls: 1, joined: 'by id', unasked: ['toolu_forged'], whole: true } },
  });
  expect(model.requests.at(-1)?.key).toBe('000001');
  const wire = await readFile(`${worker.home}/tasks/${id}/1/wire.jsonl`, 'utf8');
  expect(wire).not.toContain('sk-real');
  expect(existsSync(`${worker.home}/proxy.port`)).toBe(true);
});

test('under a login nobody sees its calls, and the receipt says so', async () => {
  const env = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-x', HOME: `${fleet.root}/user` };
  const { report, worker } = await runs('login', { env });
  expect(tools(report)?.evidence).toMatchObject({
    byWire: { unseen: 'claude works under a login, or by a way of its own' },
  });
  // It is there for the agent's way out, and has no key for anybody.
  expect(existsSync(`${worker.home}/proxy.port`)).toBe(true);
});

test('a reviewer’s calls go through it as well, and it is closed after that', async () => {
  const reviewer = fileURLToPath(new URL('../fixtures/agents/reviewer.mjs', import.meta.url));
  const coders = { claude: { command: [process.execPath, reviewer] }, ok: agent('ok.sh') };
  const worker = await fleet.worker('reviewed', { worker: { queues: ['reviewed'] }, coders }, { env: keyed() });
  const id = await fleet.fleet.enqueue({
    ...{ objective: 'Add made.txt\nreviewer: pass', repo, queue: 'reviewed', coder: 'ok' },
    ...{ review: { coder: 'claude' }, verify: ['test -s made.txt'] },
  });
  const report = (await fleet.fleet.wait(id, 60_000)) as TaskReport;
  expect(report).toMatchObject({ state: 'done' });
  const wire = await readFile(`${worker.home}/tasks/${id}/1/review-wire.jsonl`, 'utf8');
  expect(JSON.parse(wire.split('\n')[0]!)).toMatchObject({
    type: 'opened',
    api: 'anthropic',
    host: new URL(model.url()).host,
  });
  expect(existsSync(`${worker.home}/runs/${id}`)).toBe(false);
});
