import { setTimeout as pause } from 'node:timers/promises';
import { wrongInput, notFound } from '../../../domain/error.ts';
import { findFiles, type Found } from '../../../producers/ship/find-files.ts';
import { lookOnce, type Look, type Row } from '../../../producers/ship/look.ts';
import { command, durationMs, type Cli } from '../../command.ts';
import { table } from '../../output/table.ts';
import { fieldsOf, orderOf, TASK_FLAGS, type TaskFlags } from '../../input/task-input.ts';
import { oneLine, painter, paintState } from '../../output/text.ts';

type Flags = TaskFlags & { watch?: boolean; every?: number };

const EVERY_MS = 5_000;
/** They are of one task. */
const NOT_FOR_MANY = ['--id', '--key', '--title', '--needs'];

export const ship = command<Flags>({
  flags: [
    { flag: '--watch', about: 'go on until Ctrl-C: ship what is approved later, and keep each status up to date' },
    { flag: '--every <duration>', about: 'with --watch: between two looks (default: 5s)', parse: durationMs },
    ...TASK_FLAGS.filter(({ flag }) => !NOT_FOR_MANY.includes(flag.split(' ')[0]!)),
  ],
  notes: `A file (.md, .yaml) is one task, as in a backlog. Approved is one whose front matter says "approved: true", or that lies in a
folder called "approved". It becomes a task once, on whichever machine; changed afterwards it needs "approved: 2".
How its task stands is written beside it: login.md.status. Flags are laid over what a file says. More: docs/ship.md.`,
  examples: [
    'fleet ship proposals/',
    `fleet ship 'proposals/**/*.md' --verify 'npm test' --deliver pr`,
    'fleet ship proposals/ --watch --every 1m',
  ],
  async run(cli, { args, flags }) {
    if (flags.every !== undefined && !flags.watch) throw wrongInput('--every needs --watch');
    if (args.length === 0) throw wrongInput('folder is required: a folder, a glob in quotes, or files');
    const found = await findAll(cli, args);
    if (found.length === 0 && !flags.watch)
      throw notFound(`${args.join(' ')} matches no file: proposals end in .md, .yaml or .yml`);
    const over = fieldsOf(flags);
    const look: Look = {
      fleet: await cli.fleet(),
      inputOf: (file, input) => orderOf(cli, { value: input, at: file, over }).input as { labels?: unknown },
      mayShip: () => true,
    };
    if (flags.watch) return watch(cli, { args, look, everyMs: flags.every ?? EVERY_MS });
    const rows = await lookOnce(found, look);
    cli.print(rows, () => drawn(cli, rows));
    for (const row of rows) if (row.note) cli.note(noteOf(row));
    return rows.some(({ is }) => is === 'refused') ? 1 : 0;
  },
});

async function findAll(cli: Cli, given: readonly string[]): Promise<Found[]> {
  const found: Found[] = [];
  for (const one of given) found.push(...(await findFiles(one, cli.cwd)));
  return found;
}

/** What is wrong now may go well at the next look, as when the server is away; at the first it ends the command. */
async function watch(cli: Cli, on: { args: readonly string[]; look: Look; everyMs: number }): Promise<void> {
  const stop = new AbortController();
  using _ = cli.onSignal(() => stop.abort());
  let seen = new Map<string, string>();
  let told: Map<string, string> | undefined;
  let trouble = '';
  while (!stop.signal.aborted) {
    const seenNow = new Map<string, string>();
    // A file that is being written: its text has to be the same at two looks.
    const mayShip = (file: string, text: string): boolean => {
      seenNow.set(file, text);
      return seen.get(file) === text;
    };
    try {
      const rows = await lookOnce(await findAll(cli, on.args), { ...on.look, mayShip });
      told = tell(cli, rows, told);
      trouble = '';
    } catch (error) {
      if (told === undefined || !(error instanceof Error)) throw error;
      if (error.message !== trouble) cli.note(`${oneLine(error.message)}: looking again`);
      trouble = error.message;
    }
    seen = seenNow;
    await pause(on.everyMs, undefined, { signal: stop.signal }).catch(() => undefined);
  }
}

/** Each file that stands otherwise than before; what nobody approved is not told of. */
function tell(cli: Cli, rows: readonly Row[], before: ReadonlyMap<string, string> = new Map()): Map<string, string> {
  const now = new Map(rows.map((row) => [row.file, JSON.stringify([row.task, row.state, row.note])]));
  for (const row of rows) {
    if (before.get(row.file) === now.get(row.file)) continue;
    if (row.task) cli.print(row, () => oneLine(`${row.file} ${row.task} ${row.state}`));
    if (row.note) cli.note(noteOf(row));
  }
  return now;
}

const noteOf = ({ file, note }: Row): string => oneLine(`${file} ${note}`, 400);

function drawn(cli: Cli, rows: readonly Row[]): string {
  const paint = painter(cli);
  const approved = rows.filter(({ is, task }) => is !== 'proposed' || task);
  const open = rows.length - approved.length;
  const lines = approved.map(({ file, is, task, state }) => [
    ...[oneLine(file, 80), is === 'there' ? '' : is],
    ...[task ?? '', state ? paintState(paint, state) : ''],
  ]);
  return [
    ...(lines.length > 0 ? [table(['file', '', 'task', 'state'], lines)] : []),
    ...(open > 0 ? [`${open} ${open === 1 ? 'file is' : 'files are'} not approved`] : []),
  ].join('\n');
}
