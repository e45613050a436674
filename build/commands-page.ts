import type { Flag } from '../src/cli/command.ts';
import { COMMANDS, type Entry } from '../src/cli/commands.ts';
import { loadCommand } from '../src/cli/load-command.ts';
import { TASK_FLAGS } from '../src/cli/input/task-flags.ts';
import { usageOf } from '../src/cli/usage.ts';

/** docs/commands.md: all commands with their arguments, flags and examples, as `--help` has them. */
export async function commandsPage(): Promise<string> {
  const sections: string[] = [];
  for (const entry of COMMANDS) sections.push(await section(entry));
  return `# Commands

Made from the commands by \`npm run docs:commands\`.

Each command takes \`--json\`, which prints machine output on stdout, and \`--help\`. An error is one sentence on stderr, with \`--json\` one line of
JSON with [its code](errors.md). The exit code is 0, 1 for a bad outcome, 2 for bad use, or 130 after Ctrl-C. \`FLEET_DEBUG=1\` prints the stack of an error.

${sections.join('\n')}
## Flags of a task

${table(TASK_FLAGS)}`;
}

async function section(entry: Entry): Promise<string> {
  const { flags = [], notes, examples } = await loadCommand(entry.name);
  const own = flags.filter((flag) => !TASK_FLAGS.includes(flag));
  const shared = own.length < flags.length ? [`${sharedOf(flags)}\n`] : [];
  return [
    `## ${entry.name}\n`,
    `\`fleet ${usageOf(entry)}\`: ${entry.about}.\n`,
    ...(notes ? [`${plain(notes)}\n`] : []),
    ...(own.length > 0 ? [table(own)] : []),
    ...shared,
    `\`\`\`\n${examples.join('\n')}\n\`\`\`\n`,
  ].join('\n');
}

function sharedOf(flags: readonly Flag[]): string {
  const left = TASK_FLAGS.filter((flag) => !flags.includes(flag)).map(({ flag }) => `\`${flag.split(' ')[0]}\``);
  return `All [flags of a task](#flags-of-a-task)${left.length > 0 ? ` but ${left.join(', ')}` : ''}.`;
}

const table = (flags: readonly Flag[]): string =>
  `| Flag | |\n|---|---|\n${flags.map(({ flag, about }) => `| \`${flag.replaceAll('|', String.raw`\|`)}\` | ${plain(about)} |`).join('\n')}\n`;

/** As Markdown shows it, with nothing taken for markup. */
const plain = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 ? part : part.replaceAll(/[<*_|]/g, String.raw`\$&`)))
    .join('');
