import { describe, expect, test } from '@jest/globals';
import { repositoryOf } from '../../../src/domain/repository/github.ts';
import { judgePull, nextLook, type PullLook, type PullWish } from '../../../src/domain/deliver/pull-request.ts';
import { pullBody, pullTitle } from '../../../src/domain/deliver/pull-body.ts';

const LOOK: PullLook = {
  ...{ state: 'open', url: 'https://github.com/a/b/pull/1', head: 'c0ffee', conflict: null },
  ...{ checks: 'pending', failed: [], unfinished: 1, requested: [] },
};
const WISH: PullWish = { until: 'green', commit: 'c0ffee', heard: [], waitedMs: 0, settleMs: 120_000 };
const judged = (look: Partial<PullLook>, wish: Partial<PullWish> = {}) =>
  judgePull({ ...LOOK, ...look }, { ...WISH, ...wish });

const FAILED = { name: 'unit', conclusion: 'failure', said: 'src/a.ts:3: expected 1', url: 'https://ci/1' };
const RED = { checks: 'red' as const, failed: [FAILED], unfinished: 0 };
const REVIEW = { id: 7, by: 'jean', body: 'Not so.', comments: [{ path: 'a.ts', line: 3, body: 'rename it' }] };

describe('what a look at a pull request means', () => {
  test.each([
    ['merged, whatever else', { state: 'merged', ...RED }, {}, 'done'],
    ['opened is enough', {}, { until: 'opened' }, 'done'],
    ['checks run', {}, {}, 'wait'],
    ['green', { checks: 'green', unfinished: 0 }, {}, 'done'],
    ['green, but it is to be merged', { checks: 'green', unfinished: 0 }, { until: 'merged' }, 'wait'],
    ['no checks yet', { checks: 'none', unfinished: 0 }, { waitedMs: 119_000 }, 'wait'],
    ['no checks at all', { checks: 'none', unfinished: 0 }, { waitedMs: 120_000 }, 'done'],
    ['red, others run', { ...RED, unfinished: 2 }, {}, 'wait'],
    ['red, of the commit before', { ...RED, head: 'beef' }, {}, 'wait'],
    ['green, of the commit before', { checks: 'green', unfinished: 0, head: 'beef' }, {}, 'wait'],
    ['merged at another commit', { state: 'merged', head: 'beef' }, {}, 'done'],
    ['a review that was heard', { requested: [REVIEW] }, { heard: [7] }, 'wait'],
  ] as [string, Partial<PullLook>, Partial<PullWish>, string][])('%s', (_name, look, wish, expected) => {
    expect(judged(look, wish)).toBe(expected);
  });

  test('at a commit of somebody else: held for a person', () => {
    const failure = judged({ ...RED, head: 'beef' }, { waitedMs: 5 * 60_000 }) as { message: string };
    expect(failure).toMatchObject({ reason: 'repo-unavailable' });
    expect(failure.message).toMatch(/\/pull\/1 is at beef, which is not this task's c0ffee: /);
  });

  test('closed by a person: held for a person', () => {
    expect(judged({ state: 'closed' })).toMatchObject({ reason: 'pull-closed' });
  });

  test('red checks go back with their names, what they say and where', () => {
    const { reason, message } = judged(RED) as { reason: string; message: string };
    expect(reason).toBe('checks-failed');
    expect(message).toMatch(/unit \(failure\)[^]*https:\/\/ci\/1\nsrc\/a\.ts:3: expected 1/);
    expect(judged({ ...RED, unfinished: 1 }, { waitedMs: 11 * 60_000 })).toMatchObject({ reason: 'checks-failed' });
    const long = judged({ ...RED, failed: [{ ...FAILED, said: 'x'.repeat(9_000) }] }) as { message: string };
    expect(long.message.length).toBeLessThan(2_000);
  });

  test('requested changes go back, with what was said at which line; also where checks are red', () => {
    const failure = judged({ ...RED, requested: [REVIEW] });
    expect(failure).toEqual({
      reason: 'changes-requested',
      message: 'jean asks for changes: Not so.\na.ts:3: rename it',
    });
  });

  test('a conflict with the target names the commit to go on from', () => {
    expect(judged({ conflict: 'f'.repeat(40) })).toMatchObject({ reason: 'merge-failed', conflict: 'f'.repeat(40) });
  });
});

test('a wait of days takes few looks', () => {
  let [looks, waited] = [0, 0];
  for (; waited < 7 * 86_400_000; looks += 1) waited += nextLook(waited, 15_000);
  expect(looks).toBeLessThan(450);
  expect(nextLook(0, 15_000)).toBe(15_000);
  expect(nextLook(40 * 60_000, 15_000)).toBe(5 * 60_000);
});

test('the body says what was asked, who made it and what the receipts show; what others wrote stays a quotation', () => {
  const text = {
    ...{ id: 't1', title: 'Do it\n', objective: 'Do it\n# not a heading, @jean', coder: 'claude', model: 'opus' },
    commit: 'c0ffee',
    receipts: [
      { kind: 'exit' as const, ok: true, summary: 'ended | with 0' },
      { kind: 'acceptance' as const, ok: true, summary: '`npm test` <b>\npassed' },
    ],
    verdict: { digest: 'd1'.repeat(32), acceptance: true },
  };
  expect(pullTitle(text)).toBe('Do it');
  expect(pullBody(text)).toBe(
    [
      '> Do it\n> # not a heading, @\u200bjean',
      'Made by claude / opus for the task `t1`, at c0ffee.',
      '| receipt | ok | shows |\n|---|---|---|\n| exit | yes | ended \\| with 0 |\n| acceptance | yes | \\`npm test\\` \\<b> passed |',
      `Verdict \`${'d1'.repeat(32)}\`.`,
    ].join('\n\n'),
  );
  expect(pullBody({ ...text, verdict: { digest: 'd', acceptance: false } })).toContain('without an acceptance command');
});

test('what others wrote closes no issue, and shows no picture, link or HTML of theirs', () => {
  const written =
    'Closes #1, fixes: a/b#2\nResolves https://github.com/a/b/issues/3 ![x](http://evil/x.png) <img src=x>';
  const text = {
    ...{ id: 't1', title: 'Closes #1: fix it', objective: written, coder: 'claude', model: '![m](http://evil) @jean' },
    ...{ commit: 'c0ffee', receipts: [{ kind: 'exit' as const, ok: true, summary: written }], verdict: null },
  };
  expect(pullTitle(text)).toBe('Closes\u200b #1: fix it');
  const body = pullBody(text);
  expect(body).not.toMatch(/(close[sd]?|fix(e[sd])?|resolve[sd]?):?\s/i);
  expect(body).not.toMatch(/(?<!\\)(!\[|<img)|@jean/);
  expect(body).toContain(String.raw`\!\[x\](http://evil/x.png)`);
});

describe('which repository a URL is', () => {
  const config = { api: 'https://api.github.com', repositories: { 'file:///srv/app.git': 'acme/app' } };
  test.each([
    'https://github.com/acme/app',
    'https://github.com/acme/app.git',
    'git@github.com:acme/app.git',
    'ssh://git@github.com:22/acme/app',
    'file:///srv/app.git',
  ])('%s', (url) => expect(repositoryOf(config, url)).toEqual({ owner: 'acme', repo: 'app' }));

  test('of an enterprise host, as its api is configured', () => {
    const ghe = { api: 'https://ghe.corp/api/v3', repositories: {} };
    expect(repositoryOf(ghe, 'https://ghe.corp/acme/app')).toEqual({ owner: 'acme', repo: 'app' });
  });

  // The token would go there.
  test.each([
    'https://evil.example/acme/app',
    'https://github.com.evil.example/acme/app',
    '/srv/app',
    'https://github.com/acme',
  ])('no other: %s', (url) => expect(repositoryOf(config, url)).toHaveProperty('wrong'));
});
