import { expect, test } from '@jest/globals';
import type { Fleet } from '../../src/client.ts';
import type { Cli } from '../../src/cli/command.ts';
import { taskDiff } from '../../src/cli/commands/task/task-files.ts';

const PATCH = 'diff --git a/x b/x\n-\u001b[31mred\r\n+\u0007bell\u200b\r\n\\ No newline at end of file';

/** What a command writes to stdout where the worker's file says `text`. */
async function written(text: string, tty: boolean): Promise<string> {
  let out = '';
  const fleet = {
    findRun: async () => ({}),
    readRun: async (_run: unknown, { offset }: { offset: number }) => ({
      ...{ text: offset === 0 ? text : '', next: text.length, end: offset > 0, gap: 0 },
    }),
  } as unknown as Fleet;
  const cli = { tty, json: false, fleet: async () => fleet, raw: (said: string) => (out += said), note: () => {} };
  await taskDiff.run(cli as unknown as Cli, { args: ['a'], flags: {} as Record<string, never> });
  return out;
}

test('a patch goes into a file or a pipe as it is', async () => expect(await written(PATCH, false)).toBe(PATCH));

test('on a terminal it is made harmless', async () =>
  expect(await written(PATCH, true)).toBe('diff --git a/x b/x\n-red\n+bell\n\\ No newline at end of file\n'));
