import { expect, test } from '@jest/globals';
import { handOff, narrowed, type HandOffRules } from '../../../src/domain/people/follow-up-limits.ts';
import type { FollowUp } from '../../../src/domain/people/outbox.ts';
import type { TaskInput } from '../../../src/domain/task/schema.ts';
import { parseTask } from '../../../src/domain/task/parse.ts';

const ABOVE: TaskInput = {
  objective: 'Do it',
  repo: '/repo',
  machine: 'm1',
  base: 'abc',
  coder: 'claude',
  credential: 'cheap',
  scope: { allow: ['src/**', 'docs'], protect: ['src/secret'] },
  limits: { total: '1h', tokens: 1_000 },
  env: ['TOKEN'],
  priority: 40,
};

function child(
  followUp: FollowUp,
  {
    above = {},
    rules = {},
    depth = 0,
    children = 0,
    by = 'agent' as const,
  }: {
    above?: Partial<TaskInput>;
    rules?: Partial<HandOffRules>;
    depth?: number;
    children?: number;
    by?: 'agent' | 'person';
  } = {},
) {
  const parsed = parseTask({ ...ABOVE, ...above });
  if (!parsed.ok) throw new Error(parsed.message);
  const made = narrowed(followUp, {
    parent: { id: 'build', task: parsed.task, from: 'claude', depth, children },
    rules: handOff.parse(rules),
    by,
    isCoder: (name) => name === 'codex' || name === 'claude',
  });
  if (!made.ok) return made;
  const { input, ...rest } = made.value;
  return { ok: true as const, value: { ...input, ...rest } };
}
const task = (fields: object = {}): FollowUp => ({ task: { objective: 'Next', ...fields } });

test('what a follow-up does not say is its parent’s, and it waits for a person', () => {
  const made = child(task());
  expect(made).toMatchObject({
    ok: true,
    value: {
      ...{ objective: 'Next', parent: 'build', approval: 'before-run', repo: '/repo', machine: 'm1', base: 'abc' },
      ...{ coder: 'claude', credential: 'cheap', priority: 50, queue: 'fleet' },
      scope: { allow: ['src/**', 'docs'], protect: { paths: ['src/secret'] } },
      limits: { total: '1h', tokens: 1_000 },
    },
  });
  expect(made.ok && parseTask(made.value).ok).toBe(true);
  expect(child(task(), { above: { cwd: 'web' } })).toMatchObject({ ok: true, value: { cwd: 'web' } });
});

test('what it says counts where it is narrower', () => {
  const fields = {
    scope: { allow: ['src/a'], protect: { paths: ['src/a/b'], new: 'refuse' } },
    limits: { total: '10m' },
    env: ['TOKEN'],
    deliver: 'none',
  };
  expect(child(task(fields))).toMatchObject({
    ok: true,
    value: {
      scope: { allow: ['src/a'], protect: { paths: ['src/secret', 'src/a/b'], new: 'refuse' } },
      limits: { total: '10m', tokens: 1_000 },
      ...{ env: ['TOKEN'], deliver: 'none' },
    },
  });
  const above = { scope: { protect: { new: 'refuse' as const } } };
  expect(child(task(), { above })).toMatchObject({ value: { scope: { protect: { new: 'refuse' } } } });
});

test('a total of its own that is not above the idle of its parent does without it', () => {
  const made = child(task({ limits: { total: '1h' } }), { above: { limits: { total: '4h', idle: '2h' } } });
  expect(made).toMatchObject({ ok: true, value: { limits: { total: '1h' } } });
  expect(made.ok && parseTask(made.value).ok).toBe(true);
});

test('`to` is a coder, or else an agent outside the fleet; another coder has another account', () => {
  const coder = child({ ...task(), to: 'codex' });
  expect(coder).toMatchObject({ ok: true, value: { coder: 'codex' } });
  expect(coder.ok && 'credential' in coder.value).toBe(false);
  const outside = child({ ...task(), to: 'jean', context: 'read this' });
  expect(outside).toMatchObject({ ok: true, value: { for: 'jean', context: 'read this' } });
  expect(outside.ok && 'coder' in outside.value).toBe(false);
});

test.each<[string, object, RegExp]>([
  ['repo', { repo: '/other' }, /^repo must be \/repo, as task build hands it off$/],
  ['machine', { machine: 'm2' }, /^machine must be m1/],
  ['cwd', { cwd: 'web' }, /^cwd must be left out/],
  ['queue', { queue: 'night' }, /^queue must be fleet/],
  ['producer', { producer: 'somebody' }, /^producer must be left out/],
  ['credential', { credential: 'dear' }, /^credential must be cheap/],
  ['scope', { scope: { allow: ['src/a', 'etc'] } }, /^scope.allow must be within src\/\*\*, docs: etc is not/],
  ['artifacts', { artifacts: ['out/*.png'] }, /^artifacts must be within/],
  ['limits', { limits: { total: '2h' } }, /^limits.total must be at most 1h/],
  ['tokens', { limits: { tokens: 1_001 } }, /^limits.tokens must be at most 1000/],
  ['deliver', { deliver: 'merge' }, /^deliver must be branch or less/],
  ['env', { env: ['TOKEN', 'OTHER'] }, /^env must not have OTHER/],
  ['priority', { priority: 0 }, /^priority must be 40 or more/],
  ['retry', { retry: { maxAttempts: 9 } }, /^retry.maxAttempts must be at most 3/],
  ['into', { deliver: 'branch', into: 'release' }, /^into must be left out/],
  ['held-out', { verify: { commands: ['true'], heldOut: [{ path: 'x' }] } }, /^verify.heldOut must be left out/],
  ['unknown', { colour: 'red' }, /^colour is not a known field/],
])('wider is refused: %s', (_name, fields, message) => {
  expect(child(task(fields))).toMatchObject({ ok: false, message: expect.stringMatching(message) });
});

test.each<[string, Partial<TaskInput>, object, RegExp]>([
  [
    'leave to change tests',
    { scope: {} },
    { scope: { allow: ['src'] } },
    /^scope.allow must be left out, as task build names/,
  ],
  ['outputs that are tests', { scope: {} }, { type: 'research', artifacts: ['x'] }, /^artifacts of a task of type/],
  ['a label that leads to another credential', {}, { labels: ['big'] }, /^labels must not have big/],
  ['a dearer model', {}, { model: 'opus' }, /^model must be left out/],
  ['more tries', { verify: { commands: ['x'] } }, { verify: { retries: 5 } }, /^verify.retries must be left out/],
  ['the only place in a repository', {}, { overlap: 'serialize' }, /^overlap must be left out/],
])('an agent gives its follow-up no %s; a person may', (_name, above, fields, message) => {
  expect(child(task(fields), { above })).toMatchObject({ ok: false, message: expect.stringMatching(message) });
  expect(child(task(fields), { above, by: 'person' })).toMatchObject({ ok: true });
});

test('one that may leave outputs is checked as its parent is', () => {
  const above = { verify: { commands: ['npm test'] } };
  const made = child(task({ type: 'research', artifacts: ['docs/a.md'] }), { above });
  expect(made).toMatchObject({ ok: true, value: { verify: { commands: ['npm test'] } } });
});

test('an agent has no webhook of its own called, a person may name one', () => {
  const followUp = { ...task(), callback: { webhook: 'http://example.com/x' } };
  expect(child(followUp)).toMatchObject({
    ok: false,
    message: expect.stringContaining('callback.webhook must be left out'),
  });
  expect(child(followUp, { by: 'person' })).toMatchObject({ ok: true, value: { callback: followUp.callback } });
});

test('an agent has its own task told, and no other one', () => {
  expect(child({ ...task(), callback: { task: 'build' } })).toMatchObject({ ok: true });
  expect(child({ ...task(), callback: { task: 'other' } })).toMatchObject({
    ok: false,
    message: expect.stringContaining('callback.task must be build or left out'),
  });
});

test('what a label or a reviewer holds is held for its follow-ups', () => {
  const above = { labels: ['production', 'docs'], review: { coder: 'codex' } };
  const made = child(task({ labels: ['docs'], review: { coder: 'claude' } }), { above });
  expect(made).toMatchObject({ value: { labels: ['production', 'docs'], review: { coder: 'codex' } } });
});

test('a read-only task hands off read-only tasks', () => {
  const above = { type: 'research' as const, scope: {} };
  expect(child(task(), { above })).toMatchObject({ ok: true, value: { type: 'research', scope: { allow: [] } } });
  expect(child(task({ type: 'code', scope: { allow: ['src'] } }), { above })).toMatchObject({
    ok: false,
    message: expect.stringContaining('must be within nothing: src is not'),
  });
});

test('rules: the first that matches, a forbidden one is refused by name', () => {
  const rules = {
    allow: [{ to: 'codex' }, { type: 'research' as const }],
    deny: [{ from: 'gem*' }, { from: 'claude', to: 'jean' }],
  };
  expect(child({ ...task(), to: 'codex' }, { rules })).toMatchObject({ ok: true, value: { approval: 'never' } });
  expect(child(task(), { rules })).toMatchObject({ ok: true, value: { approval: 'before-run' } });
  expect(child({ ...task(), to: 'jean' }, { rules })).toEqual({
    ok: false,
    message: 'handOff.deny[1] of the configuration forbids it',
  });
});

test('approval is never weaker than the parent’s', () => {
  const rules = { allow: [{}] };
  expect(child(task(), { rules, above: { approval: 'both' } })).toMatchObject({
    ok: true,
    value: { approval: 'both' },
  });
  expect(child(task({ approval: 'before-deliver' }))).toMatchObject({ ok: true, value: { approval: 'both' } });
  expect(child(task(), { rules, above: { approval: 'before-deliver' } })).toMatchObject({
    value: { approval: 'before-deliver' },
  });
});

test('depth and number are bounded', () => {
  expect(child(task(), { depth: 3 })).toEqual({
    ok: false,
    message: 'handOff.depth is 3: task build is as far down as it goes',
  });
  expect(child(task(), { children: 20 })).toMatchObject({
    ok: false,
    message: expect.stringContaining('handOff.perTask is 20'),
  });
});

test('what only people say of a follow-up is refused of an agent, and taken of a person', () => {
  const refused: [object, string][] = [
    [{ base: 'refs/fleet/build/wip' }, 'base must be left out (it starts where its parent does, or from its result'],
    [{ dependsOn: ['other'] }, 'dependsOn must be build or other follow-ups of it'],
    [{ dependsOn: ['build.x-1'] }, 'dependsOn must be build'],
    [{ limits: { costUsd: 1 } }, 'limits.costUsd must be left out'],
    [{ pr: { labels: ['automerge'] } }, 'pr must be left out'],
    [{ review: { coder: 'codex', model: 'small' } }, 'review must be left out'],
  ];
  for (const [fields, message] of refused) {
    expect(child(task(fields))).toMatchObject({ ok: false, message: expect.stringContaining(message) });
    expect(child(task(fields), { by: 'person' })).toMatchObject({ ok: true, value: fields });
  }
  expect(child(task({ dependsOn: ['build', 'build.1-2'] }))).toMatchObject({
    value: { dependsOn: ['build', 'build.1-2'], base: 'abc' },
  });
  expect(child(task(), { above: { deliver: 'pr', pr: { draft: true, until: 'merged' } } })).toMatchObject({
    value: { pr: { draft: true, until: 'merged' } },
  });
});

test('a rule that names a coder holds where nobody is named, and the parent’s is meant', () => {
  expect(child(task(), { rules: { allow: [{}], deny: [{ to: 'claude' }] } })).toEqual({
    ok: false,
    message: 'handOff.deny[0] of the configuration forbids it',
  });
});

test('a proposal is what waits only because no rule allows it', () => {
  const proposed = (...of: Parameters<typeof child>) => {
    const made = child(...of);
    return made.ok && made.value.proposed;
  };
  expect(proposed(task())).toBe(true);
  expect(proposed(task(), { by: 'person' })).toBeUndefined();
  expect(proposed(task(), { rules: { allow: [{}] } })).toBeUndefined();
  expect(proposed(task(), { above: { approval: 'both' } })).toBeUndefined();
  expect(proposed(task({ approval: 'before-run' }))).toBeUndefined();
  expect(proposed(task(), { above: { approval: 'before-deliver' } })).toBe(true);
});
