import { writeFile } from 'node:fs/promises';
import { commandsPage } from './commands-page.ts';

await writeFile(new URL('../docs/commands.md', import.meta.url), await commandsPage());
