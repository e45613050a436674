import { describe, expect, test } from '@jest/globals';
import { parseTask } from '../../../src/domain/task/parse.ts';

const ok = { objective: 'Fix it', repo: '/r' };

describe('bad input gets one sentence that names the field', () => {
  test.each([
    [{}, 'objective is required: say what the agent should do'],
    [{ ...ok, objective: '  ' }, 'objective must not be empty'],
    [{ objective: 'x' }, 'repo is required for a task of type code'],
    [{ ...ok, priority: 101 }, 'priority must be at most 100'],
    [{ ...ok, type: 'dance' }, 'type must be one of code, research, browser, message, review'],
    [{ ...ok, limits: { idle: 'soon' } }, 'limits.idle must be a duration such as 90s, 10m or 2h'],
    [{ ...ok, limits: { total: '0s' } }, /^limits.total must be a duration/],
    [{ ...ok, scope: { allow: ['../x'] } }, 'scope.allow[0] must be relative to the repository, without ".."'],
    [{ ...ok, scope: { protect: ['[a'] } }, 'scope.protect.paths[0] has an unbalanced bracket'],
    [{ ...ok, scope: { allow: ['*a*a*a*a*a*a*a*a*a'] } }, 'scope.allow[0] must have 8 wildcards at most'],
    [{ ...ok, verify: [''] }, 'verify.commands[0] must not be empty'],
    [{ ...ok, colour: 'red' }, 'colour is not a known field'],
    [{ ...ok, limits: { idel: '1m' } }, 'limits.idel is not a known field'],
    [{ ...ok, base: '--upload-pack=x' }, 'base must be a branch, tag or commit'],
    [{ ...ok, env: ['A=B'] }, 'env[0] must be names of environment variables'],
    [{ ...ok, retry: { maxAttempts: 0 } }, 'retry.maxAttempts must be at least 1'],
    [{ ...ok, limits: { verify: '30d' } }, 'limits.verify must be 20d at most'],
    [{ ...ok, limits: { total: '1h', idle: '2h' } }, 'limits must have total above idle: 1h is not more than 2h'],
    [{ ...ok, limits: { total: '60m', idle: '1h' } }, 'limits must have total above idle: 60m is not more than 1h'],
    [{ ...ok, repo: 'https://me:secret@host/x.git' }, /^repo must not carry a user name or password/],
    [{ ...ok, repo: 'https://token@host/x.git' }, /^repo must not carry a user name or password/],
    [{ ...ok, repo: 7 }, 'repo must be a string'],
    [null, 'input must be an object'],
  ])('%j', (input, message) => {
    const parsed = parseTask(input);
    expect(parsed.ok).toBe(false);
    if (!parsed.ok) expect(parsed.message).toMatch(message);
  });
});

test('fills in defaults, and takes a bare list of commands for verify', () => {
  const parsed = parseTask({ ...ok, verify: ['npm test'] });
  expect(parsed).toMatchObject({
    ok: true,
    task: {
      type: 'code',
      queue: 'fleet',
      priority: 50,
      verify: { commands: ['npm test'] },
      retry: { maxAttempts: 3, backoff: '30s' },
      deliver: 'branch',
      limits: {},
    },
  });
});

test('a task of another type needs no repository', () => {
  expect(parseTask({ objective: 'Find out', type: 'research' }).ok).toBe(true);
});

test.each(['https://host/x.git', 'ssh://git@host/x.git', 'git@host:x.git', '/srv/a@b'])('takes the repo %s', (repo) => {
  expect(parseTask({ ...ok, repo }).ok).toBe(true);
});

test.each([
  [{ coder: 'claude', repo: '/r' }, /^coder must not be set of a task that is for an agent outside the fleet/],
  [{ type: 'message', verify: ['true'] }, /^verify must not be set .* without a repo/],
  [{ type: 'message', artifacts: ['a'] }, /^artifacts must be empty .* without a repo/],
])('what an agent outside the fleet cannot be asked for: %j', (over, said) => {
  expect(parseTask({ objective: 'x', for: 'jean', ...over })).toMatchObject({
    ok: false,
    message: expect.stringMatching(said),
  });
});
