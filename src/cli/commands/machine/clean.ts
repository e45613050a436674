import { existsSync } from 'node:fs';
import { clientOptions, ServerUnreachable } from '../../../adapters/temporal/connection.ts';
import { wrongInput } from '../../../domain/error.ts';
import { formatBytes } from '../../../domain/values/bytes.ts';
import { formatDuration } from '../../../domain/values/duration.ts';
import { KEEP_CLASSES, type KeepClass } from '../../../domain/worker/retention.ts';
import { homeLayout } from '../../../domain/names.ts';
import type { Cleaning, CleanItem } from '../../../workers/clean/clean.ts';
import type { NamedItem } from '../../../workers/clean/clean-named.ts';
import { command, durationMs, oneOf, type Cli } from '../../command.ts';
import { table } from '../../output/table.ts';

type Flags = { dryRun?: boolean; class?: KeepClass; olderThan?: number; yes?: boolean };

export const clean = command<Flags>({
  flags: [
    { flag: '--dry-run', about: 'only list it' },
    { flag: '--class <class>', about: `of this class: ${KEEP_CLASSES.join(', ')}`, parse: oneOf(KEEP_CLASSES) },
    { flag: '--older-than <duration>', about: 'instead of the ages in keep.*', parse: durationMs },
    { flag: '--yes', about: 'of named tasks: do not ask' },
  ],
  notes: `A worker does the same by itself every hour. Logs, receipts, declared outputs and saved work go; delivered branches stay.
What an open task may need, also a parked one, has no age: it goes only where its id is given, after a question, and its next
run then starts from the base.`,
  examples: [
    'fleet clean --dry-run',
    'fleet clean --class accepted --older-than 1d',
    'fleet clean add-health-k3x9qa --yes',
  ],
  async run(cli, { args, flags }) {
    const home = homeLayout(cli.home);
    if (args.length > 0) return cleanNamed(cli, args, flags);
    if (flags.yes) throw wrongInput('--yes is for tasks that are named: what is past its age goes unasked');
    if (!existsSync(home.root)) return print(cli, { items: [], done: false });
    // Loaded here: no other command needs them.
    const [{ clean: cleanNow, findCleanable }, { lockIdleHome }] = await Promise.all([
      import('../../../workers/clean/clean.ts'),
      import('../../../workers/health/locks.ts'),
    ]);
    // Where a worker runs, what it works with is its own to clean.
    using idle = lockIdleHome(home);
    const server = await serverOf(cli);
    const cleaning: Cleaning = {
      ...{ home, keep: cli.config().keep, server, basesInUse: idle ? new Set<string>() : null },
      ...{ only: flags.class, olderThanMs: flags.olderThan },
    };
    const items = await findCleanable(cleaning);
    print(cli, flags.dryRun ? { items, done: false } : { items: await cleanNow(cleaning, items), done: true });
    return server ? 0 : 1;
  },
});

/** Whatever its age, after a yes. */
async function cleanNamed(cli: Cli, ids: string[], { dryRun, yes, ...flags }: Flags): Promise<number> {
  if (flags.class !== undefined || flags.olderThan !== undefined)
    throw wrongInput('--class and --older-than are for tasks that are not named');
  const { findNamed } = await import('../../../workers/clean/clean-named.ts');
  const home = homeLayout(cli.home);
  const cleaning = { home, keep: cli.config().keep, server: await serverOf(cli), basesInUse: null };
  const found = await findNamed(cleaning, ids);
  const items = found.map((item) => ({ ...item, class: item.state ?? 'unknown' }));
  if (dryRun) {
    print(cli, { items, done: false });
    return 0;
  }
  const agreed = yes ?? (await cli.agreed(`${questionOf(found)} [y/N] `));
  if (!agreed) {
    cli.note(
      `nothing was removed${agreed === undefined ? `: fleet clean ${ids.join(' ')} --yes does without asking` : ''}`,
    );
    return agreed === undefined ? 2 : 1;
  }
  const gone: typeof items = [];
  for (const item of items) {
    if (await item.remove()) gone.push(item);
    else cli.note(`task ${item.taskId} has a run here by now, and keeps all`);
  }
  print(cli, { items: gone, done: true });
  for (const { taskId } of gone.filter(({ open }) => open))
    cli.note(`the next run of task ${taskId} starts from the base`);
  return gone.length === items.length ? 0 : 1;
}

function questionOf(items: readonly NamedItem[]): string {
  const lost = items.filter(({ runs }) => runs.length > 0);
  const open = lost.filter((item) => item.open);
  const named = (some: readonly NamedItem[]) =>
    some.map(({ taskId, state }) => `${taskId}${state ? ` (${state})` : ''}`).join(', ');
  return [
    ...(open.length > 0 ? [`the next run starts from the base, and nothing can be accepted, of ${named(open)}`] : []),
    ...(lost.length > open.length ? [`the saved work is lost of ${named(lost.filter((item) => !item.open))}`] : []),
    `remove what this machine keeps of ${items.length === 1 ? items[0]!.taskId : `${items.length} tasks`}?`,
  ].join('; ');
}

type Listed = Pick<CleanItem, 'what' | 'ageMs' | 'bytes'> & { class: string };

/** Undefined, and said so, where none answers. */
async function serverOf(cli: Cli): Promise<Cleaning['server']> {
  try {
    const { temporal } = await cli.fleet();
    const { address, namespace } = await clientOptions(cli.env);
    return { client: temporal, name: `${address}/${namespace}` };
  } catch (error) {
    if (!(error instanceof ServerUnreachable)) throw error;
    cli.note(`fleet: ${error.message}; without it nobody can tell which tasks are finished, so theirs is left alone`);
    return undefined;
  }
}

function print(cli: Cli, { items, done }: { items: Listed[]; done: boolean }): void {
  const bytes = items.reduce((sum, item) => sum + item.bytes, 0);
  const facts = items.map((item) => ({ class: item.class, what: item.what, ageMs: item.ageMs, bytes: item.bytes }));
  cli.print({ removed: done, items: facts, bytes }, () => {
    if (items.length === 0) return 'there is nothing to clean';
    const rows = items.map((item) => [item.class, item.what, formatDuration(item.ageMs), formatBytes(item.bytes)]);
    const count = items.length === 1 ? '1 thing' : `${items.length} things`;
    return `${table(['class', 'what', 'age', 'size'], rows)}\n${count}, ${formatBytes(bytes)}${done ? ' removed' : ' to remove'}`;
  });
}
