import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { commandsPage } from '../../build/commands-page.ts';

test('docs/commands.md is made of the commands as they are', async () => {
  expect(await readFile(new URL('../../docs/commands.md', import.meta.url), 'utf8')).toBe(await commandsPage());
});
