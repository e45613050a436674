import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addTask, claimTask, completeTask } from '../../src/producers/git-queue/people.ts';
import { lookAt, lookAtTasks, withQueue } from '../../src/producers/git-queue/queue.ts';
import { git, IDENTITY } from '../helpers/git.ts';
import { queueLab } from '../helpers/queue-lab.ts';
import { tempDir } from '../helpers/temp.ts';

let temp: Awaited<ReturnType<typeof tempDir>>;
beforeAll(async () => {
  temp = await tempDir();
});
afterAll(async () => temp[Symbol.asyncDispose]());

let made = 0;
const lab = (files?: Record<string, string>, ...init: string[]) =>
  queueLab(`${temp.path}/${(made += 1)}`, files, ...init);
const task = (id: string, more: object = {}) => ({
  ...{ id, title: id, description: 'Do', type: undefined, forAgent: 'any', createdBy: 'me', at: 'now', task: {} },
  ...more,
});
const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

describe('reading', () => {
  test('names what is broken with the reason, and gives the rest', async () => {
    const { dir, use } = lab({
      'tasks/a.json': json({ description: 'A' }),
      'tasks/broken.json': '{"id": ',
      'tasks/bad-id.json': json({ id: '../x' }),
      'tasks/giant.json': json({ description: 'x'.repeat(300_000) }),
      'tasks/one.json': json({ id: 'same', description: '1' }),
      'tasks/two.json': json({ id: 'same', description: '2' }),
      'tasks/taken.json': json({ id: 'had', status: 'claimed', claimed_by: 'x' }),
      'tasks/again.json': json({ id: 'had', description: '2' }),
      'tasks/notes.md': 'not a task',
      'tasks/deep/c.json': '{}',
      'elsewhere/d.json': '{}',
    });
    writeFileSync(`${dir}/user/tasks/latin.json`, Buffer.from('{"description": "\xe9"}', 'latin1'));
    symlinkSync('/etc/passwd', `${dir}/user/tasks/link.json`);
    git(`${dir}/user`, 'add', '-A');
    git(`${dir}/user`, 'commit', '-qm', 'more');
    git(`${dir}/user`, 'push', '-q', 'origin', 'main');
    const { tasks, faults } = await use(lookAt);
    expect([...tasks.keys()].sort()).toEqual(['tasks/a.json', 'tasks/taken.json']);
    expect(Object.fromEntries(faults.map(({ path, message }) => [path, message]))).toEqual({
      'tasks/broken.json': expect.stringMatching(/^is no valid JSON: /),
      'tasks/bad-id.json': expect.stringMatching(/^id "\.\.\/x" must be/),
      'tasks/giant.json': expect.stringMatching(/^has 3\d{5} bytes: 262144 are read at most$/),
      'tasks/one.json': 'has the id of tasks/two.json: it is not taken',
      'tasks/two.json': 'has the id of tasks/one.json: it is not taken',
      'tasks/again.json': 'has the id of tasks/taken.json: it is not taken',
      'tasks/link.json': 'is a symbolic link, which is not followed',
      'tasks/latin.json': 'is no UTF-8 text',
    });
  });

  test('lays out nothing, runs nothing of the repository, and fetches only its newest commit', async () => {
    const { dir, use, push } = lab({ 'tasks/a.json': '{}', '.gitattributes': '*.json filter=evil\n' });
    push({ 'tasks/a.json': '{"description": "later"}' });
    await use(lookAt);
    const [folder] = readdirSync(`${dir}/home/queues`).filter((name) => name.endsWith('.git'));
    expect(git(dir, '--git-dir', `${dir}/home/queues/${folder}`, 'rev-list', '--count', 'refs/queue/tip')).toBe('1');
    expect(existsSync(`${dir}/home/queues/${folder}/index`)).toBe(false);
  });

  test.each([
    ['/no/such', /^\/no\/such is not a git repository, or needs a login$/],
    ['http://127.0.0.1:1/x.git', /^http:\/\/127\.0\.0\.1:1\/x\.git cannot be reached: /],
    ['https://me:secret@x.test/q.git', /^the URL of a queue must not carry a user name or password/],
    ['ext::sh -c id', /cannot be reached|not a git repository/],
  ])('%s: one sentence', async (url, sentence) => {
    const refused = withQueue({ url, home: `${temp.path}/refused`, identity: IDENTITY }, lookAt);
    await expect(refused).rejects.toThrow(sentence);
    await expect(refused).rejects.not.toThrow(/secret@/);
  });

  test('a branch or a folder that is not there', async () => {
    const { use } = lab();
    await expect(use(lookAtTasks, { branch: 'nope' })).rejects.toThrow(
      /has no branch nope: fleet sync add --branch nope/,
    );
    await expect(use(lookAt, { folder: '../x' })).rejects.toThrow(/^the folder of a queue must be a relative path/);
    expect((await use(lookAt, { folder: 'nope' })).tasks.size).toBe(0);
  });
});

describe('adding', () => {
  test('into an empty repository, on the branch that it would have', async () => {
    const [branch, dir] = ['trunk', `${temp.path}/empty`];
    git(temp.path, 'init', '-q', '--bare', '-b', branch, `${dir}.git`);
    const open = { url: `${dir}.git`, home: `${dir}-home`, identity: IDENTITY };
    expect((await withQueue(open, lookAtTasks)).tasks.size).toBe(0);
    expect(await withQueue(open, (queue) => addTask(queue, task('first')))).toBe('tasks/first.json');
    await withQueue(open, (queue) => addTask(queue, task('second')));
    expect((await withQueue(open, lookAt)).tasks.size).toBe(2);
    expect(git(temp.path, '--git-dir', `${dir}.git`, 'log', '--format=%an %s', branch)).toBe(
      'Fleet Add second\nFleet Add first',
    );
  });

  test('leaves every other file, and makes a branch or folder of its own', async () => {
    const { dir, use, show } = lab({ 'src/a.txt': 'a\n', 'run.sh': 'x\n' });
    await use((queue) => addTask(queue, task('a')), { folder: 'work/tasks' });
    await use((queue) => addTask(queue, task('b')), { branch: 'queue' });
    expect(show('src/a.txt')).toBe('a');
    expect(JSON.parse(show('work/tasks/a.json'))).toMatchObject({ id: 'a', status: 'pending' });
    expect(git(`${dir}/q.git`, 'ls-tree', '-r', '--name-only', 'queue')).toBe('tasks/b.json');
  });

  test('into a repository of the other object format', async () => {
    const { use, show } = lab({ 'tasks/a.json': '{}' }, '--object-format=sha256');
    await use((queue) => addTask(queue, task('b')));
    expect(JSON.parse(show('tasks/b.json'))).toMatchObject({ id: 'b' });
  });

  test('refuses an id that is there, by name of file or inside of one, and a folder that is none', async () => {
    const { use } = lab({ 'tasks/a.json': json({ id: 'other' }), 'tasks/x.json': '{' });
    await expect(use((queue) => addTask(queue, task('a')))).rejects.toThrow('there is a task a already: tasks/a.json');
    await expect(use((queue) => addTask(queue, task('other')))).rejects.toThrow(/other already: tasks\/a\.json/);
    await expect(use((queue) => addTask(queue, task('x')))).rejects.toThrow(/x already: tasks\/x\.json/);
    const { use: odd } = lab({ tasks: 'a file' });
    await expect(odd((queue) => addTask(queue, task('a')))).rejects.toThrow('tasks is no folder');
  });
});

describe('claiming and completing', () => {
  test('changes only its fields of a file that people format as they like', async () => {
    const odd = '{"zeta": 1.0,\n    "id": "a", "status":"open",   "note": {"b":[1,2]} }';
    const { use, show } = lab({ 'tasks/a.json': odd });
    await use((queue) => claimTask(queue, { id: 'a', name: 'jean' }));
    expect(show('tasks/a.json')).toContain('{"zeta": 1.0,\n    "id": "a", "status":"claimed",   "note": {"b":[1,2]}');
    await use((queue) => completeTask(queue, { id: 'a', name: 'jean', status: 'done', result: { summary: 'x' } }));
    expect(JSON.parse(show('tasks/a.json'))).toMatchObject({ status: 'done', claimed_by: 'jean', zeta: 1 });
  });

  test('is refused where it is not theirs', async () => {
    const { use } = lab({
      'tasks/done.json': json({ status: 'done', claimed_by: 'jean' }),
      'tasks/eve.json': json({ for_agent: 'eve' }),
      'tasks/fleets.json': json({ for_agent: 'fleet' }),
      'tasks/had.json': json({ status: 'claimed', claimed_by: 'eve' }),
      'tasks/run.json': json({ status: 'claimed', claimed_by: 'jean', fleet_task: 'run-1' }),
      'tasks/open.json': json({}),
    });
    const claim = (id: string) => use((queue) => claimTask(queue, { id, name: 'jean' }));
    const complete = (id: string) =>
      use((queue) => completeTask(queue, { id, name: 'jean', status: 'done', result: 1 }));
    await expect(claim('done')).rejects.toThrow('done is done: only an open task can be claimed');
    await expect(claim('eve')).rejects.toThrow('eve is for eve, not for jean');
    await expect(claim('fleets')).rejects.toThrow('fleets is for fleet, not for jean');
    await expect(claim('had')).rejects.toThrow('had is claimed by eve already');
    await expect(claim('nope')).rejects.toThrow('there is no task nope in this queue');
    await expect(complete('open')).rejects.toThrow('open is claimed by nobody: claim it first');
    await expect(complete('had')).rejects.toThrow('had is claimed by eve');
    await expect(complete('run')).rejects.toThrow('run is claimed by a fleet, which reports on it by itself as run-1');
    await expect(complete('done')).rejects.toThrow('done is done already');
  });
});
