import { describe, expect, test } from '@jest/globals';
import { COMMANDS } from '../../src/cli/commands.ts';
import { loadCommand } from '../../src/cli/load-command.ts';
import { spread } from '../../src/cli/run.ts';
import { cli } from './world.ts';

describe('the command line', () => {
  test.each([
    [
      ['task', 'a', 'log', '-f'],
      ['task log', 'a', '-f'],
    ],
    [
      ['task', '--json', 'a', 'wait', '--timeout', '5m'],
      ['task wait', '--json', 'a', '--timeout', '5m'],
    ],
    [
      ['task', 'log'],
      ['task', 'log'],
    ],
    [
      ['task', 'log', 'log'],
      ['task log', 'log'],
    ],
    [
      ['task', 'a', 'accept', '--why', 'log'],
      ['task accept', 'a', '--why', 'log'],
    ],
    [
      ['task', 'a'],
      ['task', 'a'],
    ],
    [
      ['config', 'set', 'a=b'],
      ['config set', 'a=b'],
    ],
    [
      ['worker', 'drain', 'a', '--wait'],
      ['worker drain', 'a', '--wait'],
    ],
    [
      ['worker', '--name', 'drain'],
      ['worker', '--name', 'drain'],
    ],
    [
      ['worker', '--slots', '4'],
      ['worker', '--slots', '4'],
    ],
    [
      ['enqueue', 'task', 'log'],
      ['enqueue', 'task', 'log'],
    ],
  ])('%j is read as %j', (typed, read) => expect(spread(typed)).toEqual(read));

  test('knows its version', async () => {
    expect(await cli(['--version'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      err: '',
    });
  });

  test('without a command shows what there is, as bad use', async () => {
    const ran = await cli([]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain('Usage: fleet');
  });

  test.each(COMMANDS)('$name has help with an example, and --json', async ({ name }) => {
    const { examples } = await loadCommand(name);
    const [group, action] = name.split(' ');
    const argv = action && group === 'task' ? ['task', 'some-id', action, '--help'] : [...name.split(' '), '--help'];
    const ran = await cli(argv);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain(examples[0]);
    expect(ran.out).toContain('--json');
    expect(ran.out).toContain(action && group === 'task' ? `fleet task <id> ${action}` : `fleet ${name}`);
  });
});
