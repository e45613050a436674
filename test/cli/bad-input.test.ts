import { mkdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { connectFleet } from '../../src/client.ts';
import { tempDir } from '../helpers/temp.ts';
import { freePorts } from '../../src/adapters/temporal/free-ports.ts';
import { startTemporal, type TestServer } from '../helpers/temporal.ts';
import { cli } from './world.ts';

/** Issue 3, "Bad input": each is one sentence on stderr with exit code 2 or 1, and nothing is created. */

let server: TestServer;
let temp: Awaited<ReturnType<typeof tempDir>>;
let repo: string;

beforeAll(async () => {
  [server, temp] = await Promise.all([startTemporal(), tempDir()]);
  repo = `${temp.path}/repo`;
  await git(temp.path, 'init', '-q', '-b', 'main', repo);
  await writeFile(`${repo}/a.txt`, 'a\n');
  await git(repo, 'add', '-A');
  await git(repo, '-c', 'user.name=T', '-c', 'user.email=t@localhost', 'commit', '-qm', 'Base');
  await git(temp.path, 'clone', '-q', repo, 'blocked');
  await git(`${temp.path}/blocked`, 'branch', 'fleet');
  await git(temp.path, 'init', '-q', 'empty');
  await mkdir(`${temp.path}/plain`);
  await writeFile(`${temp.path}/twice.yaml`, 'objective: a\nid: one\n---\nobjective: b\nid: one\n');
  await writeFile(`${temp.path}/broken.yaml`, 'objective: [a\n');
  await writeFile(`${temp.path}/list.yaml`, '- objective: a\n- objective: b\n');
  await writeFile(`${temp.path}/big.yaml`, `objective: ${'x'.repeat(10_000_000)}\n`);
  await writeFile(`${temp.path}/nothing.yaml`, '');
  await writeFile(`${temp.path}/comments.yaml`, '# none yet\n');
  const ten = (item: string) => `[${Array(10).fill(item).join(', ')}]`;
  const names = 'abcdefghi'.split('');
  const bomb = names.slice(1).map((name, at) => `${name}: &${name} ${ten(`*${names[at]}`)}`);
  await writeFile(`${temp.path}/bomb.yaml`, [`objective: x`, `a: &a ${ten('x')}`, ...bomb, ''].join('\n'));
});

afterAll(async () => {
  await expectNothingCreated();
  await server?.stop();
  await temp?.[Symbol.asyncDispose]();
});

async function expectNothingCreated(): Promise<void> {
  await using fleet = await connectFleet({ env: server.env });
  expect(await fleet.list({ all: true })).toEqual([]);
  expect(await fleet.orders.list()).toEqual([]);
}

const git = (cwd: string, ...args: string[]) => execa('git', args, { cwd, env: { GIT_CONFIG_GLOBAL: '/dev/null' } });

const WRONG: [string, string[], RegExp][] = [
  ['no objective', ['enqueue'], /^objective is required/],
  ['an empty objective', ['enqueue', ' '], /^objective must not be empty/],
  ['no objective to run', ['run'], /^missing required argument 'objective'/],
  [
    'an unknown coder',
    ['enqueue', 'x', '--coder', 'nobody'],
    /^--coder nobody is unknown: neither one of claude, codex, .* nor/,
  ],
  ['an unknown type', ['enqueue', 'x', '--type', 'poem'], /^--type must be one of code, research/],
  [
    'a queue that nobody knows',
    ['enqueue', 'nowhere', 'x'],
    /^--queue nowhere is neither configured here .* nor polled/,
  ],
  ['a queue that is no name', ['enqueue', 'a/b', 'x'], /^--queue must be letters/],
  ['priority 101', ['enqueue', 'x', '--priority', '101'], /^--priority must be at most 100/],
  ['priority high', ['enqueue', 'x', '--priority', 'high'], /^--priority must be a number, not "high"/],
  ['a folder that is no repository', ['enqueue', 'x', '--repo', '../plain'], /\/plain is not a git repository/],
  ['a folder that does not exist', ['enqueue', 'x', '--repo', '/no/such'], /^--repo \/no\/such does not exist/],
  ['a repository without commits', ['enqueue', 'x', '--repo', '../empty'], /\/empty has no commits/],
  ['a base that does not exist', ['enqueue', 'x', '--base', 'nope'], /\/repo has no branch, tag or commit nope/],
  [
    "a base of the fleet's own",
    ['enqueue', 'x', '--base', 'refs/fleet/a/wip'],
    /^--base must be no ref of the fleet's/,
  ],
  ['the same by its short name', ['enqueue', 'x', '--base', 'fleet/a/1-x'], /^--base must be no ref of the fleet's/],
  ['a base that is no ref', ['enqueue', 'x', '--base', 'a b'], /^--base must be a branch, tag or commit/],
  ['an invalid glob', ['enqueue', 'x', '--allow', 'src/[a'], /^--allow has an unbalanced bracket/],
  ['a glob that leaves', ['enqueue', 'x', '--protect', '../a'], /^--protect must be relative/],
  ['a limit that is no duration', ['enqueue', 'x', '--idle', 'long'], /^--idle must be a duration such as/],
  ['a task id with ../', ['enqueue', 'x', '--id', '../x'], /^--id "\.\.\/x" must be lower-case words/],
  ['a branch called fleet', ['enqueue', 'x', '--repo', '../blocked'], /\/blocked has a branch called fleet/],
  ['an env that is no name', ['enqueue', 'x', '--env', 'A=1'], /^--env must be names of environment variables/],
  ['an unknown flag', ['enqueue', 'x', '--nope'], /^unknown option '--nope'/],
  ['an unknown command', ['frobnicate'], /^unknown command 'frobnicate'/],
  ['an unknown action', ['task', 'x', 'frobnicate'], /^frobnicate is nothing to do with a task: log, /],
  ['an unknown state', ['tasks', '--state', 'asleep'], /^--state must be one of blocked, queued, /],
  ['too many arguments', ['enqueue', 'a', 'b', 'c'], /^too many arguments/],
  ['an unknown task', ['task', 'nope'], /^there is no task nope/],
  ['an unknown task to explain', ['explain', 'nope'], /^there is no task nope/],
  ['an unknown task to cancel', ['task', 'nope', 'cancel'], /^there is no task nope/],
  ['an order to a worker never seen', ['worker', 'drain', 'nobody'], /^there is no worker nobody: none has ever been/],
  ['a worker to resume never seen', ['worker', 'resume', 'nobody'], /^there is no worker nobody: none has ever been/],
  ['an order without a worker', ['worker', 'pause'], /^missing required argument 'name'/],
  ['an unknown order', ['worker', 'frobnicate'], /^too many arguments/],
  ['stop without --now', ['stop'], /^fleet stop ends every agent at once and needs --now/],
  ['a timeout that is no duration', ['task', 'x', 'wait', '--timeout', '5'], /^--timeout must be a duration/],
  ['a list for nobody', ['list'], /^--as is required: say whose task it is/],
  ['a list for what is no name', ['list', '--as', 'a b'], /^a name must be letters, digits/],
  ['a claim by nobody', ['claim', 'x'], /^--as is required/],
  ['a claim of an unknown task', ['claim', 'nope', '--as', 'jean'], /^there is no task nope/],
  ['a lease that is no duration', ['claim', 'x', '--as', 'jean', '--lease', '5'], /^--lease must be a duration/],
  ['a result without words', ['complete', 'x', '--as', 'jean'], /^--result is required: say what was done/],
  [
    'a result in two places',
    ['complete', 'x', '--as', 'jean', '--result', 'r', '--commit', 'a', '--branch', 'b'],
    /^--commit and --branch cannot be used together/,
  ],
  ['a failure without a reason', ['fail', 'x', '--as', 'jean'], /^--why is required/],
  [
    'a coder for an agent outside the fleet',
    ['enqueue', 'x', '--for', 'jean', '--coder', 'claude'],
    /^--coder must not be set of a task that is for an agent outside/,
  ],
  ['an approval at another time', ['enqueue', 'x', '--approval', 'later'], /^--approval must be one of before-run, /],
  ['an answer to nobody', ['task', 'nope', 'answer', 'yes'], /^there is no task nope/],
  ['an answer without words', ['task', 'nope', 'answer'], /^missing required argument 'answer'/],
  ['a no without a reason', ['task', 'nope', 'reject'], /^--why is required: it is what the agent is told/],
  ['an approval of an unknown task', ['task', 'nope', 'approve'], /^there is no task nope/],
  ['a priority of 101', ['task', 'nope', 'priority', '101'], /^priority must be a whole number from 0 to 100/],
  ['a priority of nothing', ['task', 'nope', 'priority'], /^missing required argument 'priority'/],
  ['needs of an unknown task', ['task', 'nope', 'needs'], /^there is no task nope/],
  [
    'the same task added and dropped',
    ['task', 'nope', 'needs', '--add', 'a', '--drop', 'a'],
    /^a stands in both --add and --drop/,
  ],
  ['config set without a value', ['config', 'set', 'worker.slots'], /^worker\.slots is not key=value/],
  ['config set of an unknown key', ['config', 'set', 'worker.slot=4'], /worker\.slot is not a known field/],
  ['a file that is not there', ['enqueue', '--file', 'none.yaml'], /^none\.yaml does not exist/],
  ['a file that is no YAML', ['enqueue', '--file', '../broken.yaml'], /^\.\.\/broken\.yaml is no valid YAML: /],
  ['a file that is a list', ['enqueue', '--file', '../list.yaml'], /^\.\.\/list\.yaml: must be one task, not a list/],
  [
    'a file of aliases of aliases',
    ['enqueue', '--file', '../bomb.yaml'],
    /^\.\.\/bomb\.yaml: must not have so many alia/,
  ],
  [
    'a file with an objective of 10 MB',
    ['enqueue', '--file', '../big.yaml'],
    /^\.\.\/big\.yaml: objective must be at most 100000 characters/,
  ],
  ['an empty file', ['enqueue', '--file', '../nothing.yaml'], /^\.\.\/nothing\.yaml is empty/],
  ['a file of comments', ['enqueue', '--file', '../comments.yaml'], /^\.\.\/comments\.yaml holds no task/],
  ['a folder as file', ['enqueue', '--file', '..'], /^\.\. is a folder/],
  ['an empty device as file', ['enqueue', '--file', '/dev/null'], /^\/dev\/null is no regular file/],
  [
    'a reviewer that nobody knows',
    ['enqueue', 'x', '--review', 'nobody'],
    /^--review nobody is unknown: neither one of claude, codex, .* nor/,
  ],
  ['no task to cancel', ['cancel'], /^say which tasks: give ids, or --label and --state/],
  ['ids and a label to cancel', ['cancel', 'a', '--label', 'web'], /^ids cannot be given with --label or --state/],
  ['an unknown task among those to cancel', ['cancel', 'nope', '--yes'], /^there is no task nope/],
  ['a state to cancel that is closed', ['cancel', '--state', 'done'], /^--state must be one of blocked, queued, /],
  ['more than the bound to cancel', ['cancel', '--label', 'web', '--most', 'x'], /^--most must be a whole number/],
  [
    'a file that gives an id twice',
    ['enqueue', '--file', '../twice.yaml'],
    /^\.\.\/twice\.yaml, document 2: id one is given twice/,
  ],
];

test.each(WRONG)('%s', async (_name, argv, message) => {
  const ran = await cli(argv, { cwd: repo, env: server.env });
  expect(ran).toMatchObject({ code: 2, out: '' });
  const [first = '', ...more] = ran.err.trimEnd().split('\n');
  expect(first.replace(/^fleet: /, '')).toMatch(message);
  expect(more.filter((line) => !line.startsWith('  '))).toEqual([]);
});

const LINES: [string, string, RegExp][] = [
  ['nothing', '', /^stdin is empty/],
  ['an empty line', '\n', /^stdin holds no task/],
  [
    'an objective of 10 MB',
    `{"objective":"${'x'.repeat(10_000_000)}"}\n`,
    /^line 1: objective must be at most 100000 characters/,
  ],
  ['no JSON', '{"objective":"a"}\n{oops\n', /^line 2: is not valid JSON/],
  ['no object', '[]', /^line 1: must be an object/],
  ['an unknown field', '{"objective":"a"}\n\n{"objective":"b","colour":1}', /^line 3: colour is not a known field/],
  [
    'one wrong of two',
    '{"objective":"a"}\n{"objective":"b","limits":{"idle":"x"}}',
    /^line 2: limits\.idle must be a duration/,
  ],
];

test.each(LINES)('stdin with %s', async (_name, input, message) => {
  const ran = await cli(['enqueue', '--stdin'], { cwd: repo, env: server.env, input });
  expect(ran).toMatchObject({ code: 2, out: '' });
  expect(ran.err.replace(/^fleet: /, '')).toMatch(message);
});

test('outside of a repository', async () => {
  const ran = await cli(['enqueue', 'x'], { cwd: `${temp.path}/plain`, env: server.env });
  expect(ran).toMatchObject({ code: 2, out: '', err: `fleet: ${temp.path}/plain is not a git repository\n` });
});

test('unknown keys in config.yaml, by line', async () => {
  const home = `${temp.path}/home`;
  await mkdir(home);
  await writeFile(`${home}/config.yaml`, '# mine\nworker:\n  slot: 3\n');
  for (const argv of [['tasks'], ['enqueue', 'x'], ['config', 'show'], ['worker'], ['up']]) {
    const ran = await cli(argv, { cwd: repo, env: { ...server.env, FLEET_HOME: home } });
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(
      /^fleet: .*\/config\.yaml:3: worker\.slot is not a known field \(known in worker: name, slots/,
    );
  }
});

test('no server: how to start one', async () => {
  const [port] = await freePorts(1);
  const env = { ...server.env, FLEET_HOME: `${temp.path}/none`, TEMPORAL_ADDRESS: `127.0.0.1:${port}` };
  const commands = [
    ['tasks'],
    ['task', 'x'],
    ['enqueue', 'x'],
    ['workers'],
    ['explain', 'x'],
    ['up'],
    ['pause'],
    ['stop', '--now'],
  ];
  for (const ran of await Promise.all(commands.map((argv) => cli(argv, { cwd: repo, env })))) {
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(
      /^fleet: no Temporal server answers at 127\.0\.0\.1:\d+: start one with `temporal-dev\.sh --port \d+`, or set TEMPORAL_ADDRESS\n$/,
    );
  }
});

test('a URL that cannot be reached may be right: exit code 1', async () => {
  const ran = await cli(['enqueue', 'x', '--repo', 'http://127.0.0.1:1/x.git'], { cwd: repo, env: server.env });
  expect(ran).toMatchObject({ code: 1, out: '' });
  expect(ran.err).toMatch(/^fleet: http:\/\/127\.0\.0\.1:1\/x\.git cannot be reached/);
});

const CODES: [code: string, exitCode: number, argv: string[]][] = [
  ['invalid-argument', 2, ['enqueue']],
  ['invalid-argument', 2, ['tasks', '--no-such-flag']],
  ['invalid-argument', 2, ['no-such-command']],
  ['not-found', 2, ['task', 'nobody']],
  ['not-found', 2, ['enqueue', 'x', '--base', 'nowhere']],
  ['not-found', 2, ['enqueue', '--file', '../missing.yaml']],
  ['not-found', 2, ['schedule', 'show', 'nightly']],
  ['unavailable', 1, ['enqueue', 'x', '--repo', 'http://127.0.0.1:9/x.git']],
];

test.each(CODES)('--json has the code %s, with exit code %i: %j', async (code, exitCode, argv) => {
  const ran = await cli([...argv, '--json'], { cwd: repo, env: server.env });
  expect(ran).toMatchObject({ code: exitCode, out: '' });
  expect(JSON.parse(ran.err)).toEqual({
    error: { code, message: expect.any(String), ...(ran.err.includes('"hint"') && { hint: expect.any(String) }) },
  });
});
