import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { startModelServer, type ModelServer } from '../helpers/model-server.ts';
import { agentBinaries } from './binaries.ts';
import { HELLO } from './scenario.ts';

/** Whole tasks with the coders that `whole-task.test.ts` has nothing of: from the queue to a delivered branch, through the run's model proxy. */

const CODERS = ['gemini', 'qwen', 'opencode'] as const;

let fleet: TestFleet;
let model: ModelServer;
let worker: TestWorker;
let repo: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  model = await startModelServer();
  repo = await fleet.repo('shop', { 'note.txt': 'hi\n' });
  const { gemini, qwen, opencode } = agentBinaries();
  const coders = {
    gemini: { command: gemini, model: 'gemini-2.5-pro' },
    qwen: { command: qwen, model: 'qwen3-coder-plus' },
    opencode: { command: [opencode], model: 'scripted' },
  };
  const env = {
    GEMINI_API_KEY: 'sk-scripted-gemini',
    GOOGLE_GEMINI_BASE_URL: model.url(),
    OPENAI_API_KEY: 'sk-scripted-openai',
    OPENAI_BASE_URL: `${model.url()}/v1`,
    HOME: `${fleet.root}/user`,
  };
  worker = await fleet.worker('desk', { coders }, { env });
}, 120_000);
afterAll(async () => {
  await fleet?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
}, 60_000);

test.each(CODERS)('%s: a task is done, and no key was in the agent’s environment', async (coder) => {
  const [read, write, commit, last] = HELLO as [object, object, object, object];
  model.script([read, { tools: [{ sh: 'env' }] }, write, commit, last]);
  const first = model.requests.length;
  const verify = ['test "$(cat hello.txt)" = "hello from the agent"'];
  const id = await fleet.fleet.enqueue({ objective: 'Add hello.txt', repo, coder, verify });
  const report = await fleet.settled(id);
  expect(report).toMatchObject({ state: 'done', reason: null, coder, attempts: { used: 1 } });
  expect(report.receipts.filter(({ ok }) => !ok)).toEqual([]);
  expect(await git(repo, 'show', `fleet/${id}:hello.txt`)).toBe('hello from the agent');

  const asked = model.requests.slice(first).filter(({ turn }) => turn !== null);
  expect(asked.map(({ turn }) => turn)).toEqual([0, 1, 2, 3, 4]);
  // The real key, which the proxy put in; what the agent saw of its environment had none.
  const key = coder === 'gemini' ? 'gemini' : 'openai';
  expect(asked.map((request) => request.key)).toEqual(asked.map(() => key));
  expect(asked[2]?.body).toContain('FLEET_TASK=');
  expect(asked[2]?.body).not.toContain('sk-scripted');
  expect(await strays(`${worker.home}/runs/${id}/`)).toEqual([]);
});
