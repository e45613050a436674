import { spawn } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { TestFleet } from '../helpers/fleet.ts';
import { git } from '../helpers/git.ts';
import { until } from '../helpers/until.ts';

/** Files that a person approved become tasks, on a real server with real workers. */

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.start();
});
afterAll(() => fleet?.[Symbol.asyncDispose]());

const APPROVED = '---\napproved: true\ntype: message\n---\n# Say good morning\n\nTo all.\n';

/** Makes a file of its own. */
const make = 'cat > /dev/null; echo made > "made-$FLEET_RUN"; git add -A; git commit -qm Make';
const MAKER = { command: ['sh', '-c', make], protocol: 'none' as const };

const put = async (path: string, text: string | Buffer): Promise<string> => {
  const file = `${fleet.root}/${path}`;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
};
interface Row {
  file: string;
  is: string;
  task: string | null;
  state: string | null;
  note: string | null;
}
const shipped = async (args: string[], options?: Parameters<TestFleet['cli']>[1]) => {
  const { stdout, stderr, code } = await fleet.cli(['ship', ...args, '--json'], options);
  return { code, stderr, rows: (stdout ? JSON.parse(stdout) : []) as Row[] };
};
const status = async (file: string) => parse(await readFile(`${file}.status`, 'utf8')) as Record<string, unknown>;
const tasksOf = async (label: string): Promise<string[]> =>
  (await fleet.fleet.list({ all: true })).filter(({ title }) => title.includes(label)).map(({ id }) => id);

test('an approved file is shipped once, keeps its text, and gets its status back', async () => {
  const repo = await fleet.repo('once');
  const file = await put('once/proposals/login.md', '---\napproved: true\n---\n# Make a file once\n');
  await put('once/proposals/idea.md', '# Perhaps one day\n');
  await put('once/proposals/approved/late.md', '---\ntype: message\ndependsOn: [login]\n---\n# Say it once\n');
  const before = await readFile(file);
  const flags = ['--coder', 'made', '--queue', 'once'];
  await using _ = await fleet.worker('once', {
    coders: { made: MAKER },
    worker: { queues: ['once'], coder: 'made' },
  });
  const first = await fleet.cli(['ship', 'proposals', ...flags], { cwd: repo });
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout.split('\n')).toEqual([
    expect.stringMatching(/^FILE +TASK +STATE$/),
    expect.stringMatching(/^proposals\/approved\/late\.md +shipped +late-[0-9a-f]{16} +blocked$/),
    expect.stringMatching(/^proposals\/login\.md +shipped +login-[0-9a-f]{16} +(queued|setting-up|running)$/),
    '1 file is not approved',
  ]);
  const { task } = (await status(file)) as { task: string };
  expect((await fleet.settled(task)).state).toBe('done');
  const again = await shipped(['proposals/*.md', 'proposals/approved', ...flags], { cwd: repo });
  expect(again.rows.map((row) => [row.file, row.is, row.task === task, row.state === 'done'])).toEqual([
    ['proposals/idea.md', 'proposed', false, false],
    ['proposals/login.md', 'there', true, true],
    ['proposals/approved/late.md', 'there', false, expect.any(Boolean)],
  ]);
  expect(await status(file)).toMatchObject({ task, approval: 1, state: 'done', branch: `fleet/${task}` });
  expect(await readFile(file)).toEqual(before);
  expect(await tasksOf('once')).toHaveLength(2);
});

test('a change after the approval is told of and changes no task; approved anew it is another one', async () => {
  const file = await put('changed/a.md', APPROVED.replace('morning', 'morning, as changed'));
  const [row] = (await shipped(['changed'])).rows;
  await put('changed/a.md', APPROVED.replace('morning', 'evening, as changed'));
  const changed = await fleet.cli(['ship', 'changed']);
  expect(changed.code).toBe(0);
  expect(changed.stderr).toBe(
    `changed/a.md was changed after it was approved, and ${row!.task} goes by the text of then: approved: 2 has it done as it is now`,
  );
  expect(await status(file)).toMatchObject({
    task: row!.task,
    approval: 1,
    note: expect.stringContaining('approved: 2'),
  });
  // Also where only the server knows of it.
  await rm(`${file}.status`);
  expect((await shipped(['changed'])).rows).toMatchObject([{ is: 'changed', task: row!.task }]);
  await put('changed/a.md', APPROVED.replace('morning', 'evening, as changed').replace('true', '2'));
  const [second] = (await shipped(['changed'])).rows;
  expect(second).toMatchObject({ is: 'shipped', note: null });
  expect(new Set(await tasksOf('as changed'))).toEqual(new Set([row!.task, second!.task]));
  expect((await fleet.fleet.view(row!.task!)).objective).toContain('Say good morning');
});

test('what the server has forgotten is known by the status beside it', async () => {
  const file = await put('forgotten/a.md', APPROVED);
  const [row] = (await shipped(['forgotten'])).rows;
  await fleet.client.workflowService.deleteWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: row!.task! },
  });
  await until(async () => !(await fleet.fleet.standing([row!.task!])).has(row!.task!));
  expect((await shipped(['forgotten'])).rows).toMatchObject([{ is: 'there', task: row!.task }]);
  await rm(`${file}.status`);
  expect((await shipped(['forgotten'])).rows).toMatchObject([{ is: 'shipped', task: row!.task }]);
});

test('two machines with clones of one remote ship at the same time, and one is killed: each file is one task', async () => {
  const many = Array.from({ length: 12 }, (_, n) => `p/${n}.md`);
  const clones = ['clone-a', 'clone-b'];
  for (const clone of clones) {
    for (const path of many) await put(`${clone}/${path}`, APPROVED.replace('morning', `morning, cloned ${path}`));
    git(`${fleet.root}/${clone}`, 'init', '-q', '-b', 'main');
    git(`${fleet.root}/${clone}`, 'remote', 'add', 'origin', 'git@example.com:o/cloned.git');
  }
  const killed = spawn(process.execPath, [MAIN, 'ship', 'p'], {
    cwd: `${fleet.root}/clone-a`,
    env: { ...fleet.server.env, FLEET_HOME: `${fleet.root}/killed` },
    stdio: 'ignore',
  });
  const over = new Promise((resolve) => killed.once('exit', resolve));
  const other = shipped(['p'], { cwd: `${fleet.root}/clone-b` });
  await until(async () => (await readdir(`${fleet.root}/clone-a/p`)).some((name) => name.endsWith('.status')));
  killed.kill('SIGKILL');
  await over;
  expect((await other).code).toBe(0);
  const after = await shipped(['p'], { cwd: `${fleet.root}/clone-a` });
  expect(after.rows.map((row) => row.is)).toEqual(many.map(() => 'there'));
  expect(after.rows.map((row) => row.task)).toEqual((await other).rows.map((row) => row.task));
  expect(await tasksOf('cloned')).toHaveLength(many.length);
});

test('what cannot be shipped is told of in one sentence each, and stops no other', async () => {
  await put('bad/approved/empty.md', '');
  await put('bad/binary.md', Buffer.concat([Buffer.from('---\napproved: true\n---\n'), Buffer.from([0, 1])]));
  await put('bad/huge.md', APPROVED + 'x'.repeat(1_000_000));
  await put('bad/key.md', '---\napproved: true\ncolour: red\n---\n# A\n');
  await put('bad/wrong.yaml', 'approved: true\nobjective: x\ntype: song\n');
  await put('secret.md', APPROVED);
  await symlink('../secret.md', `${fleet.root}/bad/link.md`);
  const good = await put('bad/good.md', APPROVED.replace('morning', 'morning all the same'));
  const { stdout, stderr, code } = await fleet.cli(['ship', 'bad']);
  expect(code).toBe(1);
  expect(stderr.split('\n')).toEqual([
    'bad/approved/empty.md is empty',
    'bad/binary.md is not text',
    'bad/huge.md is larger than 1 MB',
    'bad/key.md line 3: colour is not a known field',
    'bad/link.md is a link out of bad',
    expect.stringMatching(/^bad\/wrong\.yaml type must be one of /),
  ]);
  expect(stdout).toMatch(/bad\/good\.md +shipped/);
  expect(await tasksOf('all the same')).toHaveLength(1);
  expect(await status(good)).toMatchObject({ state: 'queued' });
  expect(await status(`${fleet.root}/bad/key.md`)).toMatchObject({ task: null, state: 'refused' });
  // Mended, it is shipped; withdrawn, nothing is said of it any more.
  await put('bad/key.md', APPROVED.replace('morning', 'morning, mended'));
  await put('bad/wrong.yaml', 'approved: false\nobjective: x\ntype: song\n');
  await shipped(['bad']);
  expect(await status(`${fleet.root}/bad/key.md`)).toMatchObject({ approval: 1, state: 'queued' });
  expect((await readdir(`${fleet.root}/bad`)).filter((name) => name.startsWith('wrong'))).toEqual(['wrong.yaml']);
});

test.each([
  [['nowhere'], 'fleet: nowhere does not exist'],
  [['none'], 'fleet: none matches no file: proposals end in .md, .yaml or .yml'],
  [['none/*.md'], 'fleet: none/*.md matches no file: proposals end in .md, .yaml or .yml'],
  [[], 'fleet: folder is required: a folder, a glob in quotes, or files'],
  [['none', '--every', '5s'], 'fleet: --every needs --watch'],
])('fleet ship %p: %s', async (args, message) => {
  await mkdir(`${fleet.root}/none`, { recursive: true });
  expect(await fleet.cli(['ship', ...args])).toMatchObject({ code: 2, stderr: message, stdout: '' });
});

test('a folder that cannot be written to is shipped from all the same', async () => {
  await put('fixed/a.md', APPROVED.replace('morning', 'morning, fixed'));
  // Root writes everywhere, but not over a folder.
  await mkdir(`${fleet.root}/fixed/a.md.status`);
  await chmod(`${fleet.root}/fixed`, 0o555);
  const { rows, code } = await shipped(['fixed']);
  await chmod(`${fleet.root}/fixed`, 0o755);
  expect(code).toBe(0);
  expect(rows).toMatchObject([
    { is: 'shipped', note: expect.stringContaining('its status cannot be written beside it') },
  ]);
  expect((await shipped(['fixed'])).rows).toMatchObject([{ is: 'there' }]);
});

test('--watch ships what is approved later, when it is written whole, and keeps its status', async () => {
  const file = await put('watched/a.md', APPROVED.replace('true', 'false').replace('morning', 'morning, watched'));
  const watching = spawn(process.execPath, [MAIN, 'ship', 'watched', '--watch', '--every', '200ms'], {
    cwd: fleet.root,
    env: { ...fleet.server.env, FLEET_HOME: `${fleet.root}/watcher` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [watching.stdout, watching.stderr])
    stream.on('data', (data: Buffer) => (said += data.toString()));
  const over = new Promise<number | null>((resolve) => watching.once('exit', resolve));
  try {
    await put('watched/bad.md', '---\napproved: true\n---\n');
    await until(() => said.includes('watched/bad.md says nothing that is to be done'));
    expect(await tasksOf('watched')).toEqual([]);
    const whole = APPROVED.replace('morning', 'morning, watched');
    await writeFile(file, whole);
    const { task } = (await until(() => status(file).catch(() => undefined))) as { task: string };
    await fleet.client.workflow.getHandle(task).terminate();
    await until(async () => (await status(file))['state'] === 'cancelled');
    await until(() => said.includes(`watched/a.md ${task} cancelled`));
    expect(await readFile(file, 'utf8')).toBe(whole);
    expect(await tasksOf('watched')).toEqual([task]);
    expect(said.match(/bad\.md/g)).toHaveLength(1);
    watching.kill('SIGTERM');
    expect(await over).toBe(0);
  } finally {
    watching.kill('SIGKILL');
    await over;
  }
});
