import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readWire } from '../../src/adapters/proxy/wire-file.ts';
import type { TaskReport } from '../../src/client.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { agents, proxyIn, type LiveAgent } from '../helpers/live-agents.ts';
import { startModelServer, type ModelServer, type Turn } from '../helpers/model-server.ts';
import { until } from '../helpers/until.ts';
import { agentBinaries } from './binaries.ts';
import { HELLO } from './scenario.ts';

/** Whole tasks with the real binaries, whose model calls go through the run's model proxy. */

type Name = 'claude' | 'codex' | 'gemini';
const KEYS = { claude: 'sk-real-claude', codex: 'sk-real-codexx', gemini: 'sk-real-gemini' };

let fleet: TestFleet;
let model: ModelServer;
let worker: TestWorker;
let repo: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  model = await startModelServer();
  repo = await fleet.repo('shop', { 'note.txt': 'hi\n' });
  worker = await attach('desk');
}, 120_000);
afterAll(async () => {
  await fleet?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
}, 60_000);

/** `patience`: how often its claude tries again, where that is not to be as few times as usual. */
function attach(name: string, patience?: number) {
  const { claude, codex, gemini } = agentBinaries();
  const env = patience === undefined ? [] : ['env', `CLAUDE_CODE_MAX_RETRIES=${patience}`];
  return fleet.worker(
    name,
    {
      worker: { queues: [name] },
      lease: { heartbeat: '3s', grace: '45s', selfKill: '30s' },
      coders: {
        claude: { command: [...env, claude] },
        codex: { command: [codex], model: 'gpt-5.5' },
        gemini: { command: gemini, model: 'gemini-2.5-pro' },
      },
    },
    {
      env: {
        HOME: `${fleet.root}/user`,
        ANTHROPIC_BASE_URL: model.url(),
        ANTHROPIC_API_KEY: KEYS.claude,
        OPENAI_BASE_URL: `${model.url()}/v1`,
        CODEX_API_KEY: KEYS.codex,
        GOOGLE_GEMINI_BASE_URL: model.url(),
        GEMINI_API_KEY: KEYS.gemini,
      },
    },
  );
}

function enqueue(coder: Name, turns: Turn[], input: Partial<TaskInput> = {}): Promise<string> {
  model.script(turns);
  const verify = ['test "$(cat hello.txt)" = "hello from the agent"'];
  return fleet.fleet.enqueue({ objective: 'Add hello.txt', repo, queue: 'desk', coder, verify, ...input });
}

const wireOf = (id: string, { home } = worker) => readWire(`${home}/tasks/${id}/1/wire.jsonl`)!;
const receipt = (report: TaskReport, kind: string) => report.receipts.find((each) => each.kind === kind);
const asked = () => model.requests.filter(({ turn }) => turn !== null);

function gate(): { hold: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const hold = new Promise<void>((resolve) => (open = resolve));
  return { hold, open };
}

async function environOf({ pid }: LiveAgent): Promise<string> {
  return readFile(`/proc/${pid}/environ`, 'utf8');
}

describe.each<Name>(['claude', 'codex', 'gemini'])('%s', (name) => {
  test('works without ever having the key, and the wire tells what its model asked for', async () => {
    const { hold, open } = gate();
    const first = model.requests.length;
    const id = await enqueue(name, [HELLO[0]!, { ...HELLO[1]!, hold }, HELLO[2]!, HELLO[3]!]);
    await until(() => asked().length > 0 && model.requests.at(-1)?.turn === 1, { timeoutMs: 60_000 });
    const live = await fleet.running(id);
    const environ = await environOf(live);
    expect(environ).not.toContain(KEYS[name]);
    expect(environ).toMatch(/fleet-[\w-]{32}/);
    const order = `${worker.home}/runs/${id}/${live.runId}/wire.json`;
    expect(existsSync(order)).toBe(true);
    open();
    const report = await fleet.settled(id);
    expect(report).toMatchObject({ state: 'done', attempts: { used: 1 } });
    expect(existsSync(order)).toBe(false);
    expect(new Set(model.requests.slice(first).map(({ key }) => key))).toEqual(new Set([KEYS[name].slice(-6)]));
    const wire = wireOf(id);
    expect(wire).toMatchObject({ unseen: null, whole: true });
    const calls = wire.exchanges.flatMap((exchange) => exchange.calls);
    expect(calls).toHaveLength(3);
    const told = wire.exchanges.flatMap(({ results }) => results.map((result) => result.id));
    // Gemini's calls have no ids: its CLI makes some up.
    if (name !== 'gemini') expect(told.toSorted()).toEqual(calls.map((call) => call.id).toSorted());
    expect(told).toHaveLength(3);
    expect(receipt(report, 'tools')?.evidence).toMatchObject({
      byWire: { calls: 3, joined: name === 'gemini' ? 'by text' : 'by id', unasked: [], hidden: [] },
    });
    expect(receipt(report, 'tools')?.summary).not.toMatch(/not seen/);
    expect(report.usage).toMatchObject({ inputTokens: 4_600, cachedTokens: 3_100, outputTokens: 140 });
  });
});

describe.each<Name>(['claude', 'codex'])('%s', (name) => {
  test('kill -9 of the proxy while the model thinks: the agent goes on by its next try, on the same port', async () => {
    const { hold, open } = gate();
    // The next proxy starts in about a second here; the two more tries that claude has are over soon after that.
    const queue = `patient-${name}`;
    await using patient = await attach(queue, 6);
    const turns = [HELLO[0]!, { ...HELLO[1]!, hold }, HELLO[1]!, HELLO[2]!, HELLO[3]!];
    const id = await enqueue(name, turns, { queue });
    await until(() => model.requests.at(-1)?.turn === 1, { timeoutMs: 60_000 });
    const [live] = await agents(id);
    const pid = (await proxyIn(patient.home))!;
    process.kill(pid, 'SIGKILL');
    await until(async () => ![undefined, pid].includes(await proxyIn(patient.home)), { timeoutMs: 20_000 });
    open();
    const report = await fleet.settled(id);
    expect(report).toMatchObject({ state: 'done', attempts: { used: 1 }, runs: [{ runId: live?.runId }] });
    expect(wireOf(id, patient).whole).toBe(false);
  });

  test('a model that is asked and sends nothing is to blame, not the agent; people see that it is slow', async () => {
    const id = await enqueue(name, [HELLO[0]!, { text: 'Let me think.', stall: 'silent', times: Infinity }], {
      limits: { idle: '20s' },
    });
    const slow = await until(
      async () => {
        const { live } = await fleet.fleet.view(id);
        return /^the model is slow: no byte for \d+s$/.exec(live?.doing ?? '')?.[0];
      },
      { timeoutMs: 60_000 },
    );
    expect(Number(/(\d+)s$/.exec(slow)?.[1])).toBeGreaterThanOrEqual(10);
    const report = await until(
      async () => {
        const view = await fleet.fleet.view(id);
        return view.retryAt && view;
      },
      { timeoutMs: 60_000 },
    );
    expect(report).toMatchObject({ reason: 'overloaded', attempts: { used: 0 }, runs: [{ counts: false }] });
    expect(report.message).toMatch(/sent nothing for the whole idle limit/);
    // The events of a killed codex tell no tokens.
    expect(report.usage).toMatchObject({ inputTokens: 1_000, outputTokens: 20 });
    await fleet.fleet.cancel(id);
    await until(async () => (await fleet.fleet.view(id)).state === 'cancelled', { timeoutMs: 40_000 });
  });

  test('a rate limit says when it is reset, also where the CLI does not', async () => {
    const id = await enqueue(name, [{ fail: 'rate', resetSeconds: 3_600, times: Infinity }]);
    const report = await until(
      async () => {
        const view = await fleet.fleet.view(id);
        return view.retryAt && view;
      },
      { timeoutMs: 60_000 },
    );
    expect(report).toMatchObject({ reason: 'rate-limited', attempts: { used: 0 } });
    expect(Math.abs(Date.parse(report.retryAt!) - Date.now() - 3_600_000)).toBeLessThan(60_000);
    await fleet.fleet.cancel(id);
    await until(async () => (await fleet.fleet.view(id)).state === 'cancelled', { timeoutMs: 40_000 });
  });
});
