import { describe, expect, test } from '@jest/globals';
import type { Cli } from '../../../src/cli/command.ts';
import { asFlags, fieldsOf, orderFromFlags, ordersFromLines } from '../../../src/cli/input/task-input.ts';

const here = { cwd: '/work/repo' } as Cli;

describe('tasks from a command line', () => {
  test('flags become the fields of a task', () => {
    const flags = {
      allow: ['src/**'],
      protect: ['test/**'],
      verify: ['npm test'],
      idle: '5m',
      cost: 2,
      maxAttempts: 1,
      label: ['a', 'b'],
    };
    expect(fieldsOf(flags)).toEqual({
      scope: { allow: ['src/**'], protect: { paths: ['test/**'] } },
      verify: { commands: ['npm test'] },
      limits: { idle: '5m', costUsd: 2 },
      retry: { maxAttempts: 1 },
      labels: ['a', 'b'],
    });
  });

  test('the repository is the one given, seen from here, or the one around here where the type needs one', () => {
    const repoOf = (flags: object) => (orderFromFlags(here, { objective: 'x', flags }).input as { repo?: string }).repo;
    expect(repoOf({})).toBe('/work/repo');
    expect(repoOf({ type: 'review' })).toBe('/work/repo');
    expect(repoOf({ type: 'research' })).toBeUndefined();
    expect(repoOf({ repo: '../other' })).toBe('/work/other');
    expect(repoOf({ repo: 'https://host/x.git' })).toBe('https://host/x.git');
    expect(repoOf({ repo: 'git@host:x.git' })).toBe('git@host:x.git');
  });

  test('what a line says is overlaid by the flags, and may carry its id', () => {
    const line = JSON.stringify({
      id: 'a',
      objective: 'x',
      type: 'message',
      verify: ['make'],
      limits: { idle: '1m' },
      scope: { allow: ['a'] },
    });
    const [order] = ordersFromLines(here, `\n${line}\n`, fieldsOf({ total: '1h', allow: ['b'], verify: ['npm test'] }));
    expect(order).toEqual({
      id: 'a',
      at: 'line 2',
      input: {
        objective: 'x',
        type: 'message',
        verify: { commands: ['npm test'] },
        limits: { idle: '1m', total: '1h' },
        scope: { allow: ['b'] },
      },
    });
  });

  test('a flag is laid over a part of what a line says in short', () => {
    const line = JSON.stringify({ objective: 'x', type: 'message', scope: { protect: ['test/**'] } });
    const [order] = ordersFromLines(here, line, fieldsOf({ protectNew: 'refuse' }));
    expect(order?.input).toMatchObject({ scope: { protect: { paths: ['test/**'], new: 'refuse' } } });
  });

  test.each([
    ['limits.idle must be a duration', '--idle must be a duration'],
    ['scope.allow[2] has an unbalanced bracket', '--allow has an unbalanced bracket'],
    ['verify.commands[0] must not be empty', '--verify must not be empty'],
    ['scope.protect.paths[0] must be relative', '--protect must be relative'],
    ['objective must not be empty', 'objective must not be empty'],
    ['there is a task x already', 'there is a task x already'],
    ['colour is not a known field', 'colour is not a known field'],
  ])('%s is told as %s', (message, told) => expect(asFlags(message)).toBe(told));
});
