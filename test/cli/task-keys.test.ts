import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { stringify } from 'yaml';
import { z } from 'zod';
import { TASK_FLAGS } from '../../src/cli/input/task-input.ts';
import { TOOLS } from '../../src/cli/mcp/tools.ts';
import type { Cli } from '../../src/cli/command.ts';
import { connectFleet, type Fleet, type TaskInput } from '../../src/client.ts';
import { taskInput, type Task } from '../../src/domain/task/schema.ts';
import { parseTask } from '../../src/domain/task/parse.ts';
import { git, makeRepo } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';
import { startTemporal, type TestServer } from '../helpers/temporal.ts';
import {
  argv,
  BASE,
  FIRST,
  INPUTS,
  KEYS,
  OBJECTIVE,
  OUTSIDE,
  REFUSED,
  REPO,
  type Fields,
  type Key,
} from './task-key-table.ts';
import { cli } from './world.ts';

/** Every key of a task, by every way in: the same input has to reach its workflow. No worker is needed. */

let server: TestServer;
let temp: Awaited<ReturnType<typeof tempDir>>;
let fleet: Fleet;
let temporal: string;
let base: string;

beforeAll(async () => {
  [server, temp] = await Promise.all([startTemporal(), tempDir()]);
  base = makeRepo(`${temp.path}/repo`, { 'web/a.txt': 'a\n', 'web/schema.json': '{}' });
  git(`${temp.path}/repo`, 'branch', 'release');
  await mkdir(`${temp.path}/login`);
  const credentials = { main: { coder: 'claude', home: `${temp.path}/login` } };
  await writeFile(`${server.home}/config.yaml`, stringify({ queues: ['nightly'], machine: 'desk', credentials }));
  const program = fileURLToPath(new URL('../../temporal-dev.sh', import.meta.url));
  temporal = (await execa(program, ['--install-only'], { env: server.env })).stdout.trim();
  fleet = await connectFleet({ env: server.env });
  await fleet.enqueue({ objective: 'Come first', type: 'research' }, { id: FIRST });
}, 120_000);

afterAll(async () => {
  await fleet?.close();
  await server?.stop();
  await temp?.[Symbol.asyncDispose]();
});

const filled = (text: string): string => text.replaceAll(REPO, `${temp.path}/repo`).replaceAll(BASE, base);
function inputOf(keys: Record<string, Key>): TaskInput & Fields {
  const input: Fields = { objective: OBJECTIVE };
  for (const [path, { value }] of Object.entries(keys)) {
    const steps = path.split('.');
    const last = steps.pop()!;
    const at = steps.reduce<Fields>((outer, step) => (outer[step] ??= {}) as Fields, input);
    at[last] = value;
  }
  return JSON.parse(filled(JSON.stringify(input))) as TaskInput & Fields;
}

const run = (words: string[], world: Parameters<typeof cli>[1] = {}) =>
  cli(words.map(filled), { env: server.env, cwd: temp.path, ...world });

/** Each starts the task `id`, of which it may say only what it has words for. */
const WAYS: Record<
  string,
  { can: (keyof typeof INPUTS)[]; start(id: string, keys: Record<string, Key>): Promise<unknown> }
> = {
  'flags of enqueue': {
    can: ['flagged', 'outside'],
    start: (id, keys) => run(['enqueue', OBJECTIVE, '--id', id, ...argv(keys)]),
  },
  'flags of run': {
    can: ['flagged', 'outside'],
    // Ctrl-C at once
    start: (id, keys) =>
      run(['run', OBJECTIVE, '--id', id, ...argv(keys)], {
        onSignal: (listener) => (listener('SIGINT'), { [Symbol.dispose]: () => {} }),
      }),
  },
  'flags over a file': {
    can: ['flagged', 'outside'],
    async start(id, keys) {
      await writeFile(`${temp.path}/${id}.yaml`, stringify({ id, objective: OBJECTIVE }));
      return run(['enqueue', '--file', `${id}.yaml`, ...argv(keys)]);
    },
  },
  'a file': {
    can: ['flagged', 'whole', 'outside'],
    async start(id, keys) {
      await writeFile(`${temp.path}/${id}.yaml`, stringify({ id, ...inputOf(keys) }));
      return run(['enqueue', '--file', `${id}.yaml`]);
    },
  },
  stdin: {
    can: ['flagged', 'whole', 'outside'],
    start: (id, keys) => run(['enqueue', '--stdin'], { input: `${JSON.stringify({ id, ...inputOf(keys) })}\n` }),
  },
  'the client library': {
    can: ['flagged', 'whole', 'outside'],
    start: (id, keys) => fleet.enqueue(inputOf(keys), { id }),
  },
  'the tools of an agent': {
    can: ['flagged', 'whole', 'outside'],
    async start(id, keys) {
      const tool = TOOLS.find(({ name }) => name === 'enqueue')!;
      tool.input.parse({ id, ...inputOf(keys) });
      await tool.call({ cli: { cwd: temp.path } as Cli, fleet, as: 'jean' }, { id, ...inputOf(keys) });
    },
  },
  'the temporal program': {
    can: ['flagged', 'whole', 'outside'],
    async start(id, keys) {
      // What our own clients find out: where the repository is, and of a credential its coder.
      const own = 'for' in keys ? { machine: 'desk' } : { machine: 'desk', coder: 'claude' };
      const input = JSON.stringify({ ...inputOf(keys), ...own });
      const words = ['--type', 'agentTask', '--task-queue', 'fleet', '--workflow-id', id, '--input', input];
      await execa(temporal, ['workflow', 'start', ...words], { env: server.env });
    },
  },
};

/** What the workflow makes of the input that its history begins with. */
async function started(id: string): Promise<Task> {
  const { events } = await fleet.temporal.workflow.getHandle(id).fetchHistory();
  const [payload] = events![0]!.workflowExecutionStartedEventAttributes!.input!.payloads!;
  const parsed = parseTask(JSON.parse(Buffer.from(payload!.data!).toString('utf8')));
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.task;
}

const rows = Object.entries(WAYS).flatMap(([way, { can }]) => can.map((input) => [way, input] as const));

test.each(rows)('by %s, the %s input reaches the workflow', async (way, input) => {
  const id = `${way.replaceAll(' ', '-')}-${input}`;
  const keys = INPUTS[input];
  const said = await WAYS[way]!.start(id, keys);
  const task = await started(id).catch((error: unknown) => {
    throw new Error(`nothing was started: ${JSON.stringify(said)}`, { cause: error });
  });
  expect(task).toEqual({ ...taskInput.parse(inputOf(keys)), machine: 'desk' });
});

describe('the table', () => {
  type Node = { properties?: Record<string, Node>; items?: Node };
  const pathsOf = (node: Node, path = ''): string[] =>
    node.properties
      ? Object.entries(node.properties).flatMap(([key, inner]) => pathsOf(inner, path ? `${path}.${key}` : key))
      : node.items?.properties
        ? pathsOf(node.items, path)
        : [path];
  const pathsIn = (value: unknown, path = ''): string[] => {
    if (Array.isArray(value) && typeof value[0] === 'object') return value.flatMap((each) => pathsIn(each, path));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path];
    return Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, path ? `${path}.${key}` : key));
  };
  const at = (value: unknown, path: string): unknown =>
    path.split('.').reduce<unknown>((inner, key) => (inner as Fields | undefined)?.[key], value);

  test('has every key of the schema', () => {
    const keys = pathsOf(z.toJSONSchema(taskInput, { io: 'output', unrepresentable: 'any' }) as Node);
    const entries = pathsIn(inputOf({ ...INPUTS.whole, ...OUTSIDE, ...REFUSED }));
    expect([...new Set(entries)].sort()).toEqual([...new Set(keys)].sort());
  });

  test('has every flag', () => {
    const typed = argv({ ...KEYS, ...OUTSIDE }).filter((word) => word.startsWith('--'));
    const flags = TASK_FLAGS.map(({ flag }) => flag.split(' ')[0]!);
    expect([...new Set([...typed, '--id', '--key'])].sort()).toEqual(flags.sort());
  });

  test('has no value that is the default', () => {
    const task = taskInput.parse({ objective: 'x' });
    const same = Object.entries({ ...KEYS, ...OUTSIDE }).filter(
      ([path, { value }]) => JSON.stringify(at(task, path)) === JSON.stringify(value),
    );
    expect(same).toEqual([]);
  });
});

test.each(Object.keys(REFUSED))('%s is refused, whichever way it comes', async (key) => {
  const input = { objective: OBJECTIVE, type: 'research', [key]: REFUSED[key]!.value };
  const refused = { code: 2, err: expect.stringContaining(`${key} must be left out`) };
  await writeFile(`${temp.path}/${key}.yaml`, stringify(input));
  expect(await run(['enqueue', '--file', `${key}.yaml`])).toMatchObject(refused);
  expect(await run(['enqueue', '--stdin'], { input: JSON.stringify(input) })).toMatchObject(refused);
  await expect(fleet.enqueue(input as TaskInput)).rejects.toThrow(`${key} must be left out`);
});

test('a key names the same task by flag, file, stdin and the client library', async () => {
  const input = { objective: 'Say it once', type: 'research' } as const;
  const id = await fleet.enqueue(input, { key: 'mail 7' });
  await writeFile(`${temp.path}/key.yaml`, stringify({ ...input, key: 'mail 7' }));
  const line = JSON.stringify({ ...input, key: 'mail 7' });
  for (const said of [
    await run(['enqueue', input.objective, '--type', 'research', '--key', 'mail 7']),
    await run(['enqueue', '--file', 'key.yaml']),
    await run(['enqueue', '--stdin'], { input: line }),
  ])
    expect(said).toMatchObject({ code: 0, out: `${id}\n` });
});

test('the queue is an argument or a flag of enqueue, and not two queues', async () => {
  const of = async (...words: string[]) => {
    const { out } = await run(['enqueue', ...words, '--type', 'research']);
    return (await started(out.trim())).queue;
  };
  expect(await of('Come last')).toBe('fleet');
  expect(await of('nightly', 'Come last')).toBe('nightly');
  expect(await of('Come last', '--queue', 'nightly')).toBe('nightly');
  expect(await run(['enqueue', 'nightly', 'Come last', '--queue', 'fleet'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('the queue is given twice, as nightly and as --queue fleet'),
  });
});

test("a schedule's own --overlap is not the task's", async () => {
  const add = (...words: string[]) =>
    run(['schedule', 'add', 'hourly', 'Look around', '--every', '1h', '--type', 'research', ...words]);
  expect(await add('--overlap', 'skip', '--scope-overlap', 'serialize')).toMatchObject({ code: 0 });
  const shown = (await run(['schedule', 'show', 'hourly', '--json'])).json();
  expect(shown).toMatchObject({ overlap: 'skip', input: { overlap: 'serialize' } });
});
