import { describe, expect, test } from '@jest/globals';
import {
  checkNew,
  inputOf,
  isForFleet,
  isForPerson,
  isOpen,
  readTask,
  writeClaim,
  writeClosed,
  writeNew,
  type QueueTask,
} from '../../../src/domain/produce/git-queue.ts';
import { repositoryName } from '../../../src/domain/repository/repository-name.ts';

const read = (value: object | string, stem = 'fix-login'): QueueTask => {
  const done = readTask(typeof value === 'string' ? value : JSON.stringify(value), stem);
  if (!done.ok) throw new Error(done.message);
  return done.task;
};

describe('a file', () => {
  test('needs next to nothing', () => {
    expect(read({ description: 'Fix it' })).toMatchObject({
      ...{ id: 'fix-login', status: 'pending', forAgent: '', claimedBy: '', description: 'Fix it' },
    });
    expect(read('{}')).toMatchObject({ id: 'fix-login', status: 'pending' });
    expect(read({ id: 'other', status: 'Done', for_agent: null, result: 'x' })).toMatchObject({
      ...{ id: 'other', status: 'done', forAgent: '', result: 'x' },
    });
  });

  test.each([
    ['{"id": ', /^is no valid JSON: /],
    ['', /^is no valid JSON: /],
    ['[]', /^must be one JSON object$/],
    ['"x"', /^must be one JSON object$/],
    ['{"id": "../x"}', /^id "\.\.\/x" must be lower-case words/],
    ['{"id": 7}', /^id must be a string$/],
    ['{"status": 1}', /^status must be a string$/],
    ['{"status": "open", "status": "claimed"}', /^has the field "status" twice$/],
    ['{"task": []}', /^task must be a record$/],
  ])('%s is refused with a reason', (text, message) => {
    expect(readTask(text, 'x')).toEqual({ ok: false, message: expect.stringMatching(message) });
  });

  test('whose name is no id needs one in it', () => {
    expect(readTask('{}', 'Fix Login')).toMatchObject({ ok: false });
    expect(readTask('{"id": "fix-login"}', 'Fix Login')).toMatchObject({ ok: true });
  });
});

test.each([
  ['', true, true],
  ['any', true, true],
  ['ANY', true, true],
  ['fleet', true, false],
  ['berlin', true, false],
  ['jean', false, true],
  ['Jean', false, false],
])('for_agent %j is for the fleet berlin: %s, for jean: %s', (forAgent, fleet, jean) => {
  expect(isForFleet({ forAgent }, 'berlin')).toBe(fleet);
  expect(isForPerson({ forAgent }, 'jean')).toBe(jean);
});

describe("as the fleet's task", () => {
  const input = (value: object, repo?: string) => inputOf(read(value), { queue: 'h/o/tasks', repo });

  test('with all that task says, and the default repository', () => {
    const task = { description: 'Fix it', title: 'T', type: 'code', task: { verify: ['npm test'], priority: 10 } };
    expect(input(task, '/srv/shop')).toEqual({
      ok: true,
      input: {
        ...{ repo: '/srv/shop', verify: ['npm test'], priority: 10, objective: 'Fix it', title: 'T', type: 'code' },
        producer: 'h/o/tasks',
        approval: 'never',
      },
    });
    expect(input({ ...task, task: { repo: 'https://x.test/a.git' } }, '/srv/shop')).toMatchObject({
      input: { repo: 'https://x.test/a.git' },
    });
  });

  test.each([
    [{}, 'description is required: say what the agent should do'],
    [{ description: ' ' }, 'description is required: say what the agent should do'],
    [{ description: 'x' }, 'task.repo is required for a task of type code'],
    [{ description: 'x', type: 'poem' }, 'type must be one of code, research, browser, message, review'],
    [{ description: 'x', task: { repo: '/r', priority: 101 } }, 'task.priority must be at most 100'],
    [{ description: 'x', task: { repo: '/r', nope: 1 } }, 'nope is not a known field'],
    [{ description: 'x', task: { repo: '/r', constructor: 1 } }, 'constructor is not a known field'],
    [{ description: 'x', task: { repo: '/r', proposed: true } }, 'task.proposed is not for a shared queue to say'],
    [
      { description: 'x', task: { repo: '/r', limits: { idle: 'soon' } } },
      'task.limits.idle must be a duration such as 90s, 10m or 2h',
    ],
    [{ description: 'x', task: { repo: '../r' } }, 'task.repo must be a URL or an absolute path, not ../r'],
    [{ description: 'x', task: { repo: '/r', env: ['SECRET'] } }, 'task.env is not for a shared queue to say'],
    [{ description: 'x', task: { repo: '/r', title: 'y' } }, 'task.title must be title, beside task'],
  ])('%j is refused: %s', (value, message) => {
    expect(input(value)).toEqual({ ok: false, message: expect.stringContaining(message) });
  });

  test.each([
    [undefined, undefined, 'never'],
    [undefined, 'before-run', 'before-run'],
    ['never', 'before-run', 'before-run'],
    ['before-deliver', 'before-run', 'both'],
    ['both', 'before-run', 'both'],
    ['before-run', 'never', 'before-run'],
  ] as const)('whose approval %s is at least %s', (said, least, approval) => {
    const task = read({ description: 'x', type: 'message', task: said === undefined ? {} : { approval: said } });
    expect(inputOf(task, { queue: 'q', approval: least })).toMatchObject({ ok: true, input: { approval } });
  });

  test('and before it is added, without a repository', () => {
    const task = { description: 'x', title: undefined, type: undefined };
    expect(checkNew({ ...task, task: {} })).toBeUndefined();
    expect(checkNew({ ...task, task: { machine: 'm' } })).toBe('task.machine is not for a shared queue to say');
    expect(checkNew({ ...task, description: '', task: {} })).toBe('description must not be empty');
  });
});

test('a claim and its end change only what they say', () => {
  const text = writeNew({
    ...{ id: 'a', title: 'T', description: 'Do', type: undefined, forAgent: 'any', createdBy: 'jean' },
    ...{ at: '2026-01-01T00:00:00.000Z', task: { repo: '/r' } },
  });
  const claimed = writeClaim(read(text), { name: 'berlin', at: 'now', fleetTask: 'a-1' });
  expect(read(claimed)).toMatchObject({ status: 'claimed', claimedBy: 'berlin', claimedAt: 'now', fleetTask: 'a-1' });
  const done = writeClosed(read(claimed), { status: 'done', result: { summary: 'ok' }, at: 'then' });
  expect(JSON.parse(done)).toEqual({
    ...(JSON.parse(text) as object),
    ...{ status: 'done', claimed_by: 'berlin', claimed_at: 'now', fleet_task: 'a-1', completed_at: 'then' },
    result: { summary: 'ok' },
  });
  expect(isOpen(read(done))).toBe(false);
});

test.each([
  ['https://github.com/o/tasks.git', 'github.com/o/tasks'],
  ['https://GitHub.com/o/tasks/', 'github.com/o/tasks'],
  ['ssh://git@github.com/o/tasks.git', 'github.com/o/tasks'],
  ['git@github.com:o/tasks.git', 'github.com/o/tasks'],
  ['file:///srv/tasks.git', '/srv/tasks.git'],
  ['file://host/srv/tasks', '/srv/tasks'],
  ['/srv/tasks.git', '/srv/tasks.git'],
  ['/srv/tasks.git/', '/srv/tasks.git'],
  ['ssh://git@example.com/srv/tasks/.git', 'example.com/srv/tasks'],
  ['/srv/tasks/.git', '/srv/tasks'],
])('%s is the queue %s', (url, name) => expect(repositoryName(url)).toBe(name));
