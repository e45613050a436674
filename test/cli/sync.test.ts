import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { git } from '../helpers/git.ts';
import { queueLab } from '../helpers/queue-lab.ts';
import { tempDir } from '../helpers/temp.ts';
import { cli } from './world.ts';

/** What people do with a git queue takes no server: none runs here. */

let temp: Awaited<ReturnType<typeof tempDir>>;
const env = () => ({ FLEET_HOME: `${temp.path}/home`, FLEET_SYNC_NAME: 'berlin', NO_COLOR: '1' });
const fleet = (...argv: string[]) => cli(['sync', ...argv], { cwd: temp.path, env: env() });

beforeAll(async () => {
  temp = await tempDir();
  git(temp.path, 'init', '-q', '--bare', '-b', 'main', 'empty.git');
  queueLab(`${temp.path}/lab`, {
    'tasks/mine.json': '{"description": "Say\\u001b[31m it", "for_agent": "jean"}',
    'tasks/had.json': '{"description": "x", "status": "claimed", "claimed_by": "eve"}',
    'tasks/broken.json': '{',
  });
});
afterAll(async () => temp[Symbol.asyncDispose]());

test('from an empty repository to a task that is done', async () => {
  expect(await fleet('list', 'empty.git')).toMatchObject({ code: 0, out: expect.stringMatching(/^no tasks: add one/) });
  const added = await fleet('add', 'empty.git', 'Call the customer', '--type', 'message', '--for', 'jean');
  expect(added).toMatchObject({ code: 0, out: expect.stringMatching(/^call-the-customer-[0-9a-f]{6}\n$/), err: '' });
  const id = added.out.trim();
  expect(await fleet('claim', 'empty.git', id, '--as', 'jean')).toMatchObject({ out: `${id} is claimed by jean\n` });
  const done = await fleet(
    'complete',
    'empty.git',
    id,
    '--as',
    'jean',
    '--failed',
    '--result',
    '{"why": "not at home"}',
  );
  expect(done).toMatchObject({ code: 0, out: `${id} is failed\n` });
  const listed = (await fleet('list', 'empty.git', '--json')).json();
  expect(listed).toMatchObject({
    tasks: [{ id, status: 'failed', forAgent: 'jean', claimedBy: 'jean', result: { why: 'not at home' } }],
    problems: [],
  });
});

test('lists what is there, cleaned, and names what is broken', async () => {
  const listed = await fleet('list', 'lab/q.git');
  expect(listed.out.split('\n').slice(1, 3)).toEqual([
    expect.stringMatching(/^mine +pending +jean +Say it$/),
    expect.stringMatching(/^had +claimed +eve +x$/),
  ]);
  expect(listed.err).toMatch(/^tasks\/broken\.json is no valid JSON: /);
});

const WRONG: [string[], number, RegExp][] = [
  [['list', '/no/such'], 1, /^\/no\/such is not a git repository, or needs a login$/],
  [['list', 'http://127.0.0.1:1/x.git'], 1, /^http:\/\/127\.0\.0\.1:1\/x\.git cannot be reached: /],
  [
    ['list', 'lab/q.git', '--branch', 'nope'],
    2,
    /lab\/q\.git has no branch nope: fleet sync add --branch nope makes it$/,
  ],
  [['list', 'https://me:pw@x.test/q.git'], 2, /^the URL of a queue must not carry a user name or password/],
  [['add', 'lab/q.git', ' '], 2, /^description must not be empty$/],
  [['add', 'lab/q.git', 'x', '--priority', '101'], 2, /^--priority must be at most 100$/],
  [['add', 'lab/q.git', 'x', '--repo', '../x'], 2, /^--repo must be a URL or an absolute path, not \.\.\/x$/],
  [['add', 'lab/q.git', 'x', '--env', 'HOME'], 2, /^unknown option '--env'/],
  [['add', 'lab/q.git', 'x', '--id', '../x'], 2, /^--id "\.\.\/x" must be lower-case words/],
  [['add', 'lab/q.git', 'x', '--id', 'had'], 2, /^there is a task had already: tasks\/had\.json$/],
  [['add', 'lab/q.git', 'x', '--folder', '../x'], 2, /^the folder of a queue must be a relative path/],
  [['add', 'lab/user', 'x'], 1, /its branch is checked out there: use a bare repository/],
  [['claim', 'lab/q.git', 'mine'], 2, /^--as is required/],
  [
    ['claim', 'lab/q.git', 'mine', '--as', 'berlin'],
    2,
    /^--as berlin is this fleet, which claims and reports by itself/,
  ],
  [['claim', 'lab/q.git', 'mine', '--as', 'eve'], 2, /^mine is for jean, not for eve$/],
  [['claim', 'lab/q.git', 'had', '--as', 'jean'], 1, /^had is claimed by eve already$/],
  [['claim', 'lab/q.git', 'nope', '--as', 'jean'], 2, /^there is no task nope in this queue$/],
  [['claim', 'lab/q.git', 'broken', '--as', 'jean'], 2, /^tasks\/broken\.json is no valid JSON: /],
  [['complete', 'lab/q.git', 'had', '--as', 'eve'], 2, /^--result is required/],
  [['complete', 'lab/q.git', 'mine', '--as', 'eve', '--result', 'x'], 1, /^mine is claimed by nobody: claim it first$/],
  [['lab/q.git', '--every', '5s'], 2, /^--every needs --watch$/],
  [['lab/q.git', '--most', 'all'], 2, /^--most must be a whole number, not "all"$/],
];

test.each(WRONG)('fleet sync %j: one sentence', async (argv, code, message) => {
  const ran = await fleet(...argv);
  expect(ran).toMatchObject({ code, out: '' });
  const [first = '', ...more] = ran.err.trimEnd().split('\n');
  expect(first.replace(/^fleet: /, '')).toMatch(message);
  expect(more.filter((line) => !line.startsWith('  '))).toEqual([]);
});

test('nothing of that changed the queue', () => {
  expect(git(`${temp.path}/lab/q.git`, 'rev-list', '--count', 'main')).toBe('1');
});
