import { expect, test } from '@jest/globals';
import {
  checkPolicy,
  limitsFault,
  mergePolicy,
  repoFile,
  ruledAt,
} from '../../../src/domain/repository/repo-policy.ts';
import { taskInput, type TaskInput } from '../../../src/domain/task/schema.ts';

const task = (more: object) => taskInput.parse({ objective: 'x', repo: '/r', ...more });

test("the task's own values win over .fleet.yaml, and that over the worker's defaults", () => {
  const file = repoFile.parse({ verify: ['npm test'], limits: { total: '1h', idle: '5m' } });
  const policy = mergePolicy(task({ limits: { total: '30m' } }), file, { limits: { total: '9h', verify: '1m' } });
  expect(policy.limits).toMatchObject({ totalMs: 1_800_000, idleMs: 300_000, verifyMs: 60_000 });
  expect(policy.verify).toEqual(['npm test']);
  expect(mergePolicy(task({ verify: ['make'] }), file).verify).toEqual(['make']);
  // A follow-up cannot do away with what its repository asks for.
  expect(mergePolicy(task({ verify: ['make'], parent: 'build' }), file).verify).toEqual(['npm test', 'make']);
  expect(mergePolicy(task({ parent: 'build' }), file).verify).toEqual(['npm test']);
});

test("a repository and a task each make the network narrower, the task its agent's only", () => {
  const file = repoFile.parse({ network: { agents: ['model'], checks: ['none'] } });
  expect(mergePolicy(task({ network: ['model', 'example.org'] }), file).network).toEqual({
    agents: [
      { by: 'network.agents of .fleet.yaml', reach: ['model'] },
      { by: 'network of the task', reach: ['model', 'example.org'] },
    ],
    checks: [{ by: 'network.checks of .fleet.yaml', reach: ['none'] }],
  });
  expect(mergePolicy(task({}), repoFile.parse({})).network).toEqual({});
});

test("of a route's limit and what the repository or the worker says, the tighter one holds, but for the task's own", () => {
  const file = repoFile.parse({ limits: { idle: '5m' } });
  const limits = { total: '1h', tokens: 1_000, disk: '1GB' };
  const routed = { total: '3h', idle: '6m', tokens: 500, costUsd: 2, disk: '900MB', verify: '1h' };
  const policy = mergePolicy(task({ limits: { costUsd: 9 } }), file, { limits, routed });
  expect(policy.limits).toMatchObject({
    ...{ totalMs: 3_600_000, idleMs: 300_000, tokens: 500, costUsd: 9, diskBytes: 9e8 },
    // Nobody but the product's own defaults said anything else.
    verifyMs: 3_600_000,
  });
});

test.each<[string, { task?: object; file?: object; routed?: object; worker?: object }, string | undefined]>([
  ['of the task, above the default', { task: { idle: '3h' } }, '2h (by default) is not more than 3h (of the task)'],
  [
    'of .fleet.yaml, above its own total',
    { file: { total: '1h', idle: '2h' } },
    '1h (of .fleet.yaml) is not more than 2h (of .fleet.yaml)',
  ],
  [
    "of a route, above the worker's",
    { routed: { idle: '90m' }, worker: { total: '1h' } },
    '1h (of the worker) is not more than 90m (of its route)',
  ],
  [
    "of the task, above the repository's",
    { task: { idle: '1h' }, file: { total: '30m' } },
    '30m (of .fleet.yaml) is not more than 1h (of the task)',
  ],
  ['of the task, equal', { task: { idle: '120m' } }, '2h (by default) is not more than 120m (of the task)'],
  // The total was said closer to the task, or beside: that idle is only needless.
  ['by default, above the total of the task', { task: { total: '5m' } }, undefined],
  ['of .fleet.yaml, above the total of the task', { task: { total: '5m' }, file: { idle: '20m' } }, undefined],
  ['of .fleet.yaml, above the total of a route', { routed: { total: '5m' }, file: { idle: '20m' } }, undefined],
  ['of a route, above the total of .fleet.yaml', { routed: { idle: '20m' }, file: { total: '5m' } }, undefined],
  ['as it should be', { task: { idle: '5m' }, file: { total: '30m', idle: '1h' } }, undefined],
])('idle %s', (_name, { task: own = {}, file = {}, routed = {}, worker: limits = {} }, says) => {
  const wrong = limitsFault(task({ limits: own }), repoFile.parse({ limits: file }), { limits, routed });
  expect(wrong).toBe(says && `limits must have total above idle: ${says}`);
});

test.each([
  [{}, {}, 15],
  [{ total: '4h' }, {}, 15],
  [{ total: '5m' }, {}, 5],
  [{}, { total: '3m' }, 3],
  [{ total: '5m', verify: '20m' }, {}, 20],
  [{ total: '5m' }, { verify: '20m' }, 20],
])('with the limits %j of the task and %j of the repository, verification has %i minutes', (own, file, minutes) => {
  const { limits } = mergePolicy(task({ limits: own }), repoFile.parse({ limits: file }));
  expect(limits.verifyMs).toBe(minutes * 60_000);
});

test('a task can only narrow the scope, and cannot unprotect', () => {
  const file = repoFile.parse({ scope: { allow: ['src/**'], protect: ['a'] }, protect: ['test/**'] });
  const policy = mergePolicy(task({ scope: { allow: ['**'], protect: ['b'] } }), file);
  expect(policy.allow).toEqual([['src/**'], ['**']]);
  expect(policy.protect).toEqual(['test/**', 'a', 'b']);
});

test.each([
  [{}, {}, 'set-aside'],
  [{ protect: ['a'] }, { protect: { new: 'refuse' } }, 'refuse'],
  [{ protect: { paths: ['a'], new: 'refuse' } }, { protect: { paths: ['b'], new: 'set-aside' } }, 'refuse'],
  [{ scope: { protect: { new: 'refuse' } } }, {}, 'refuse'],
])('new files below what is protected by %j and %j: %s', (file, scope, expected) => {
  expect(mergePolicy(task({ scope }), repoFile.parse(file)).newProtected).toBe(expected);
});

test('to be told to look is no leave to change: without a scope, only code may be changed, and declared outputs left', () => {
  const allow = (more: object) => mergePolicy(task(more), repoFile.parse({})).allow;
  expect(allow({})).toEqual([]);
  for (const type of ['research', 'review', 'browser', 'message']) {
    expect(allow({ type })).toEqual([[]]);
    expect(allow({ type, artifacts: ['report.md'] })).toEqual([['report.md']]);
    expect(allow({ type, scope: { allow: ['docs/**'] } })).toEqual([['docs/**']]);
  }
  expect(allow({ scope: { allow: [] }, artifacts: ['report.md'] })).toEqual([['report.md']]);
  expect(allow({ type: 'research', repo: undefined })).toEqual([]);
});

test.each<[string, Partial<TaskInput>, string | undefined]>([
  ['tests to pass', { verify: { failToPass: ['a'] } }, 'verify.failToPass needs verify.commands'],
  ['a control', { verify: { control: true } }, 'verify.control needs verify.commands'],
  ['a second worker', { verify: { where: 'other' } }, 'verify.where: other needs verify.commands or verify.heldOut'],
  ['a held-out check', { verify: { heldOut: [{ path: 'a.sh' }], where: 'other' } }, undefined],
])('%s without commands', (_name, task, says) => {
  const wrong = checkPolicy(mergePolicy(taskInput.parse({ objective: 'x', ...task }), repoFile.parse({})));
  expect(wrong?.slice(0, says?.length)).toBe(says);
});

test('a follow-up is ruled by the base that it was handed off with, and not by what its parent made', () => {
  expect(ruledAt({ base: 'old' }, 'result')).toBe('result');
  expect(ruledAt({ parent: 'p', base: 'old' }, 'result')).toBe('old');
  expect(ruledAt({ parent: 'p' }, 'result')).toBe('result');
});

test("the task's own commands run in its folder, those of .fleet.yaml at the top", () => {
  const file = repoFile.parse({ verify: ['npm test'] });
  const cwd = 'packages/web/';
  const of = (more: object) => mergePolicy(task({ cwd, ...more }), file).verify;
  expect(of({})).toEqual(['npm test']);
  expect(of({ verify: ['npm test -- a'] })).toEqual(['cd packages/web && npm test -- a']);
  expect(of({ verify: ['npm test'], parent: 'build' })).toEqual(['npm test', 'cd packages/web && npm test']);
  expect(of({ verify: ['npm test'], cwd: '.' })).toEqual(['npm test']);
});
