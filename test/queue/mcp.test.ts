import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { agent, TestFleet } from '../helpers/fleet.ts';
import { tempDir } from '../helpers/temp.ts';
import { until } from '../helpers/until.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
let fleet: TestFleet;
let repo: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  repo = await fleet.repo('repo');
  await fleet.worker('one', { coders: { ok: agent('ok.sh'), ask: agent('ask-human.sh') } });
});
afterAll(() => fleet[Symbol.asyncDispose]());

/** The command as an agent of somebody's starts it, spoken to by the SDK's own client. */
async function speak(args: string[], env: Record<string, string> = {}) {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({
    ...{ command: process.execPath, args: [MAIN, 'mcp', ...args], cwd: repo },
    env: { ...(fleet.server.env as Record<string, string>), FLEET_HOME: `${fleet.root}/client`, ...env },
  });
  const wrong: Error[] = [];
  client.onerror = (error) => wrong.push(error);
  await client.connect(transport);
  const call = async (name: string, input: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name, arguments: input });
    const [{ text = '' } = {}] = result.content as { text?: string }[];
    return { text, isError: result.isError === true };
  };
  return {
    client,
    wrong,
    call,
    /** @throws where it is an error */
    async get<T>(name: string, input: Record<string, unknown> = {}): Promise<T> {
      const { text, isError } = await call(name, input);
      if (isError) throw new Error(text);
      return JSON.parse(text) as T;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

test('an agent of somebody’s works with the queue', async () => {
  await using mcp = await speak(['--as', 'claude']);
  const { tools } = await mcp.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    ...['enqueue', 'list', 'show', 'answer', 'hand_off', 'propose'],
    ...['ask_human', 'claim', 'complete', 'drop'],
  ]);
  // The repository is the one that it was started in.
  const enqueued = await mcp.get<{ id: string }>('enqueue', { objective: 'Do it', coder: 'ok', key: 'k1' });
  const { id } = enqueued;
  expect(enqueued).toEqual({ id: expect.any(String), doneBy: ['git'] });
  expect(await mcp.get('enqueue', { objective: 'Do it', coder: 'ok', key: 'k1' })).toEqual(enqueued);
  await fleet.settled(id);
  expect(await mcp.get('show', { id })).toMatchObject({ id, state: 'done', repo, why: expect.any(String) });
  const done = async () => (await mcp.get<{ id: string }[]>('list', { states: ['done'] })).find((one) => one.id === id);
  expect(await until(done)).toMatchObject({ state: 'done' });

  const next = await mcp.get<{ id: string }>('hand_off', { from: id, task: 'Go on', to: 'jean' });
  expect(await fleet.fleet.view(next.id)).toMatchObject({ parent: id, for: 'jean', state: 'awaiting-approval' });
  const proposed = await mcp.get<{ id: string }>('propose', { task: { objective: 'Something else', coder: 'ok' } });
  await until(async () => (await fleet.fleet.view(proposed.id)).state === 'awaiting-approval');
  expect(mcp.wrong).toEqual([]);
});

test('an agent of somebody’s makes no more follow-ups of a task than the configuration allows', async () => {
  await using mcp = await speak(['--as', 'claude'], { FLEET_HAND_OFF_PER_TASK: '1' });
  const from = await fleet.fleet.enqueue({ objective: 'Do it', repo, coder: 'ok', approval: 'before-run' });
  const first = await mcp.get<{ id: string }>('hand_off', { from, task: 'Go on' });
  const found = `FleetLabels = 'parent:${from}'`;
  await until(async () => (await fleet.client.workflow.count(found)).count === 1);
  expect(await mcp.call('hand_off', { from, task: 'Go on further' })).toEqual({
    isError: true,
    text: expect.stringContaining(`handOff.perTask is 1: task ${from} has as many`),
  });
  // A person may.
  const other = await fleet.fleet.handOff(from, { task: 'Look over it' }, { from: 'ada', by: 'person' });
  await Promise.all([from, first.id, other].map((id) => fleet.fleet.cancel(id)));
});

test('it answers what an agent of the fleet asks', async () => {
  await using mcp = await speak(['--as', 'claude']);
  const { id } = await mcp.get<{ id: string }>('enqueue', { objective: 'Choose', coder: 'ask' });
  const { question } = await until(async () => {
    const [row] = await mcp.get<{ id: string; question?: { id: string; text: string } }[]>('list', {
      states: ['awaiting-answer'],
    });
    return row?.question && { question: row.question };
  });
  expect(question).toMatchObject({ id: 'q1', text: 'Which port?' });
  await mcp.get('answer', { id, answer: '8080', question: 'q1' });
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', answers: [{ answer: '8080', by: 'claude' }] });
  const late = await mcp.call('answer', { id, answer: '9090' });
  expect(late.isError).toBe(true);
});

test('it asks people, and sees the answer', async () => {
  await using mcp = await speak(['--as', 'claude']);
  const { id } = await mcp.get<{ id: string }>('ask_human', { question: 'Ship it?', options: ['yes', 'no'] });
  const item = await until(async () => (await fleet.fleet.inbox()).find((one) => one.id === id && one.options?.length));
  expect(item).toMatchObject({ kind: 'question', text: 'Ship it?', options: ['yes', 'no'] });
  await fleet.fleet.answer(id, { answer: 'yes', by: 'ada' });
  expect(await mcp.get('show', { id })).toMatchObject({ answers: [{ answer: 'yes', by: 'ada' }] });
  await mcp.get('drop', { id });
  expect(await fleet.settled(id)).toMatchObject({ state: 'cancelled' });
});

test('on a task that it holds it asks, claims it again with the answer, and hands its result in', async () => {
  await using mcp = await speak(['--as', 'claude']);
  const id = await fleet.fleet.enqueue({ objective: 'Look at it', type: 'research', for: 'claude' });
  const claimed = () => until(async () => !(await mcp.call('claim', { id, lease: '1m' })).isError);
  await claimed();
  expect(await mcp.get('ask_human', { id, question: 'How deep?' })).toEqual({ id, question: 'q1' });
  expect(await mcp.call('complete', { id, result: 'Too early.' })).toMatchObject({ isError: true });
  await until(async () => (await fleet.fleet.view(id)).question);
  await fleet.fleet.answer(id, { answer: 'Deep.', by: 'ada' });
  await claimed();
  expect(await mcp.get('show', { id })).toMatchObject({ answers: [{ text: 'How deep?', answer: 'Deep.' }] });
  await mcp.get('complete', { id, result: 'Looked.' });
  await until(async () => (await fleet.fleet.view(id)).state === 'awaiting-approval');
  await fleet.fleet.approve(id, { by: 'ada', why: '' });
  expect(await fleet.settled(id)).toMatchObject({ state: 'done' });
});

test.each<[string, Record<string, unknown>, string]>([
  ['show', { id: 'none-such' }, 'there is no task none-such; fleet tasks --all lists all that the server remembers'],
  ['enqueue', { objective: 'x', limits: { total: 'soon' } }, 'limits.total must be a duration such as 90s, 10m or 2h'],
  ['enqueue', { objective: 'x', colour: 'red' }, 'colour is not a known field'],
  ['enqueue', {}, 'objective is required: say what the agent should do'],
  ['list', { states: ['lost'] }, 'states[0] must be one of blocked, queued,'],
  ['approve', { id: 'x' }, 'there is no tool approve'],
])('%s %j is refused in one sentence', async (name, input, message) => {
  await using mcp = await speak([]);
  const { text, isError } = await mcp.call(name, input);
  expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining(message) });
  expect(text).not.toContain('\n');
  expect(mcp.wrong).toEqual([]);
});

test('without a server it says so', async () => {
  await using mcp = await speak([], { TEMPORAL_ADDRESS: '127.0.0.1:9' });
  expect(await mcp.call('list')).toEqual({ isError: true, text: expect.stringContaining('127.0.0.1:9') });
});

test('the tools of a run are written into its outbox', async () => {
  await using temp = await tempDir();
  await using mcp = await speak(['--run', temp.path]);
  expect((await mcp.client.listTools()).tools.map(({ name }) => name)).toEqual(['ask_human', 'propose']);
  expect(await mcp.call('ask_human', { question: 'Which?' })).toMatchObject({ isError: false });
  expect(await mcp.call('propose', { objective: 'Next', allow: ['/etc'] })).toEqual({
    isError: true,
    text: 'task.scope.allow[0] must be relative to the repository, without ".."',
  });
});

test('the line for Codex, which hands on only the variables that it names, leads to the configured server', async () => {
  const docs = await readFile(fileURLToPath(new URL('../../docs/mcp.md', import.meta.url)), 'utf8');
  const line = docs.split('\n').find((each) => each.startsWith('codex mcp add'))!;
  const env = { FLEET_HOME: `${fleet.root}/client`, TEMPORAL_ADDRESS: fleet.server.address };
  const { stdout } = await execa('sh', ['-c', `codex() { printf '%s\\n' "$@"; }; ${line}`], { env, extendEnv: false });
  const words = stdout.split('\n');
  expect(words.slice(0, 3)).toEqual(['mcp', 'add', 'fleet']);
  const command = words.slice(words.indexOf('--') + 1);
  expect(command.slice(0, 2)).toEqual(['fleet', 'mcp']);
  const named = words.flatMap((word, at) => (word === '--env' ? [words[at + 1]!.split('=') as [string, string]] : []));

  await using temp = await tempDir();
  const id = await fleet.fleet.enqueue({ objective: 'x', repo, for: 'codex' });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StdioClientTransport({
      ...{ command: process.execPath, args: [MAIN, ...command.slice(1)], cwd: repo },
      env: { PATH: process.env['PATH'] ?? '', HOME: temp.path, ...Object.fromEntries(named) },
    }),
  );
  try {
    const { content } = await client.callTool({ name: 'show', arguments: { id } });
    expect(JSON.parse((content as { text: string }[])[0]!.text)).toMatchObject({ id });
  } finally {
    await client.close();
  }
});
