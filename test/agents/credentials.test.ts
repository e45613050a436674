import { mkdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { credentialId } from '../../src/domain/names.ts';
import { TestFleet } from '../helpers/fleet.ts';
import { startModelServer, type ModelServer } from '../helpers/model-server.ts';
import { agentBinaries } from './binaries.ts';
import { HELLO } from './scenario.ts';

/** The real Claude Code under two accounts of one worker; only the model is scripted. */

let fleet: TestFleet;
let model: ModelServer;

beforeAll(async () => {
  fleet = await TestFleet.start();
  model = await startModelServer();
}, 120_000);
afterAll(async () => {
  await fleet?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
}, 60_000);

test('a limit in mid-run: the same session goes on with another key, and no key is in a history', async () => {
  const home = `${fleet.root}/desk`;
  await mkdir(home, { recursive: true });
  for (const [name, end] of Object.entries({ first: '000001', second: '000002' })) {
    const lines = `ANTHROPIC_API_KEY=sk-planted-${end}\nANTHROPIC_BASE_URL=${model.url(name)}\n`;
    await writeFile(`${home}/${name}.env`, lines, { mode: 0o600 });
  }
  await using _worker = await fleet.worker(
    'desk',
    {
      coders: { claude: { command: [agentBinaries().claude] } },
      credentials: {
        first: { coder: 'claude', envFile: 'first.env' },
        second: { coder: 'claude', envFile: 'second.env' },
      },
    },
    { env: { HOME: `${fleet.root}/user`, ANTHROPIC_API_KEY: 'sk-planted-worker' } },
  );
  model.script([HELLO[0]!, { fail: 'rate', resetSeconds: 300, times: Infinity }], 'first');
  model.script(HELLO.slice(1), 'second');
  const repo = await fleet.repo('shop', { 'note.txt': 'hi\n' });
  const id = await fleet.fleet.enqueue({ objective: 'Add hello.txt', repo, coder: 'claude' });
  const report = await fleet.settled(id, 120_000);
  expect(report).toMatchObject({ state: 'done', attempts: { used: 1 } });
  expect(report.runs.map(({ credential, reason }) => [credential, reason])).toEqual([
    ['first', 'rate-limited'],
    ['second', null],
  ]);
  const [first] = (await fleet.fleet.credentials()).filter(({ name }) => name === 'first');
  const restMs = Date.parse(first!.resting!.until) - Date.now();
  expect(restMs).toBeGreaterThan(200_000);
  expect(restMs).toBeLessThan(300_000);

  // What the first had read is in what the second one asks.
  const keys = (script: string) => new Set(model.requests.filter((one) => one.script === script).map(({ key }) => key));
  expect([...keys('first'), ...keys('second')]).toEqual(['000001', '000002']);
  const resumed = model.requests.find(({ script, turn }) => script === 'second' && turn === 0)!;
  expect(resumed.body).toContain('I will read the note first.');

  for (const workflow of [id, credentialId('first'), credentialId('second')]) {
    const history = JSON.stringify(await fleet.client.workflow.getHandle(workflow).fetchHistory());
    const plain = [...history.matchAll(/"data":"([^"]*)"/g)].map(([, data]) => Buffer.from(data!, 'base64').toString());
    expect([history, ...plain].join('\n')).not.toContain('sk-planted');
  }
}, 180_000);
