import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TaskReport } from '../../src/client.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, TestFleet } from '../helpers/fleet.ts';
import { startModelServer, type ModelServer } from '../helpers/model-server.ts';
import { until } from '../helpers/until.ts';

/** Types that leave no change of files: without evidence nothing of theirs is done, whatever the agent says. */

const CLAIM = 'I sent the message to everybody.';
const CALLER = fileURLToPath(new URL('../fixtures/agents/caller.mjs', import.meta.url));
let fleet: TestFleet;
let model: ModelServer;
let inbox: Server;
const sent: string[] = [];

beforeAll(async () => {
  fleet = await TestFleet.start();
  model = await startModelServer();
  inbox = createServer((request, response) => {
    request.on('data', (data) => sent.push(String(data)));
    request.on('end', () => response.end('ok'));
  }).listen(0, '127.0.0.1');
  await until(() => inbox.address());
  const env = { ANTHROPIC_BASE_URL: model.url(), ANTHROPIC_API_KEY: 'sk-real-000001', HOME: `${fleet.root}/user` };
  const coders = {
    claude: { command: [process.execPath, CALLER] },
    boast: { command: ['sh', '-c', `cat > /dev/null; echo '${CLAIM}'`], protocol: 'none' as const },
    critic: agent('reviewer.mjs'),
    leaky: { command: ['sh', '-c', 'cat > /dev/null; echo "used Bearer 0123456789abcdef"'], protocol: 'none' as const },
  };
  const network = { agents: ['model', `127.0.0.1:${(inbox.address() as AddressInfo).port}`] };
  await fleet.worker('evidence', { worker: { slots: 1, coder: 'boast' }, coders, network }, { env });
}, 120_000);
afterAll(async () => {
  inbox?.close();
  await fleet?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

const ONCE = { retry: { maxAttempts: 1 } };
const enqueue = (input: Partial<TaskInput> = {}) =>
  fleet.fleet.enqueue({ objective: 'Tell everybody', type: 'message', ...input });
/** What it comes to by itself: done, parked, or waiting for a person. */
const ended = (id: string): Promise<TaskReport> =>
  until(
    async () => {
      const report = await fleet.fleet.view(id);
      return ['done', 'parked', 'failed', 'awaiting-approval'].includes(report.state) && report;
    },
    { timeoutMs: 60_000 },
  );
const tells = (): Promise<string> => enqueue({ coder: 'claude', objective: `Tell everybody\nsays: ${CLAIM}` });

describe('an agent that says that it sent the message, and did nothing', () => {
  test.each(['message', 'browser', 'research'] as const)(
    'is not done as a %s task: a person is asked',
    async (type) => {
      const id = await enqueue({ type });
      const report = await ended(id);
      expect(report).toMatchObject({
        ...{ state: 'awaiting-approval', endedAt: null, doneBy: ['person'] },
        verdict: { accepted: true, doneBy: [] },
        approval: { stage: 'before-deliver', word: { said: CLAIM, calls: null, outputs: [], changed: [] } },
      });
      const { stdout } = await fleet.cli(['inbox']);
      expect(stdout).toContain(`its agent says (a claim, no evidence): ${CLAIM}`);
      // It holds no slot: the only one runs another task meanwhile.
      const other = await enqueue({ verify: ['true'] });
      expect(await ended(other)).toMatchObject({ state: 'done' });
      await fleet.fleet.approve(id, { by: 'jean', why: 'I got it' });
      expect(await fleet.settled(id)).toMatchObject({
        ...{ state: 'done', branch: null, attempts: { used: 1 } },
        approvals: [{ stage: 'before-deliver', approved: true, by: 'jean' }],
      });
      expect((await fleet.cli(['explain', id])).stdout).toMatch(/^it is done: jean approved it \(I got it\)/);
    },
  );

  test('is shown without the key that it printed', async () => {
    const report = await ended(await enqueue({ coder: 'leaky' }));
    expect(report).toMatchObject({ approval: { word: { said: 'used Bearer …' } } });
    expect(JSON.stringify(report)).not.toContain('0123456789');
    await fleet.fleet.cancel(report.id);
  });

  test('is not done in a review task either', async () => {
    const repo = await fleet.repo('reviewed');
    const report = await ended(await enqueue({ type: 'review', repo }));
    expect(report).toMatchObject({ state: 'awaiting-approval', doneBy: ['person'] });
    await fleet.fleet.cancel(report.id);
  });

  test('a no is told to the agent, and parks the task at the cap', async () => {
    const id = await enqueue(ONCE);
    const { approval } = await ended(id);
    await fleet.fleet.reject(id, { by: 'jean', why: 'nobody got it', approval: approval!.id });
    expect(await fleet.settled(id)).toMatchObject({
      ...{ state: 'parked', reason: 'not-approved', message: 'nobody got it (attempt 1 of 1)' },
    });
  });

  test('where its calls can be seen, that there were none is shown', async () => {
    model.script([{ text: CLAIM }]);
    const report = await ended(await tells());
    expect(report).toMatchObject({
      ...{ state: 'awaiting-approval', doneBy: ['tools', 'person'] },
      approval: { word: { said: CLAIM, calls: [], callCount: 0 } },
    });
    await fleet.fleet.cancel(report.id);
  });
});

test('a call on the wire that could have sent it is evidence, one that could not is none', async () => {
  const url = `http://127.0.0.1:${(inbox.address() as AddressInfo).port}/`;
  model.script([{ tools: [{ sh: `curl -sS -d hello ${url}; curl -sS http://example.org/` }] }, { text: CLAIM }]);
  const done = await fleet.settled(await tells());
  expect(done).toMatchObject({ state: 'done', verdict: { accepted: true, doneBy: ['tools'] } });
  expect(sent).toEqual(['hello']);
  const reached = done.receipts.find(({ kind }) => kind === 'network');
  const where = new URL(url).host;
  expect(reached!.summary).toMatch(
    new RegExp(`^reached 1 host: ${where} \\(1 request, \\d+ B\\); was refused example\\.org$`),
  );

  model.script([{ tools: [{ sh: 'echo I send it to everybody' }] }, { text: CLAIM }]);
  const asked = await ended(await tells());
  expect(asked).toMatchObject({ state: 'awaiting-approval', approval: { word: { callCount: 1 } } });
  await fleet.fleet.cancel(asked.id);

  model.script([{ tools: [{ sh: `curl -sS -d hello http://127.0.0.1:1/` }] }, { text: CLAIM }]);
  const failed = await ended(await tells());
  expect(failed).toMatchObject({
    state: 'awaiting-approval',
    approval: { word: { calls: [expect.stringMatching(/^Bash curl .*\(failed\)$/)] } },
  });
  await fleet.fleet.cancel(failed.id);
});

test('a reviewer without an objection is evidence', async () => {
  const report = await ended(
    await enqueue({ objective: 'Tell everybody\nreviewer: pass', review: { coder: 'critic' } }),
  );
  expect(report).toMatchObject({ state: 'done', doneBy: ['review'], verdict: { doneBy: ['review'] } });
});

test('what it will be done by is said at once, and again by explain', async () => {
  const [by, json] = await Promise.all([
    fleet.cli(['enqueue', 'Tell them', '--type', 'message', '--approval', 'before-run', '--id', 'said-1']),
    fleet.cli(['enqueue', 'Tell them', '--type', 'message', '--verify', 'true', '--id', 'said-2', '--json']),
  ]);
  expect(by).toMatchObject({
    code: 0,
    stdout: 'said-1',
    stderr: expect.stringMatching(/^done when .*, or else when a person says yes/),
  });
  expect(JSON.parse(json.stdout)).toEqual({ id: 'said-2', doneBy: ['acceptance'] });
  expect((await fleet.cli(['explain', 'said-1'])).stdout).toMatch(/\ndone when /);
  expect((await fleet.cli(['task', 'said-1'])).stdout).toMatch(/Done by +done when /);
  expect((await ended('said-2')).state).toBe('done');
  await fleet.fleet.cancel('said-1');
});
