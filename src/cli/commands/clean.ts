import { existsSync } from 'node:fs';
import { clientOptions, ServerUnreachable } from '../../adapters/connection.ts';
import { formatBytes } from '../../domain/bytes.ts';
import { formatDuration } from '../../domain/duration.ts';
import { KEEP_CLASSES, type KeepClass } from '../../domain/keep.ts';
import { homeLayout } from '../../domain/names.ts';
import type { Cleaning, CleanItem } from '../../workers/clean.ts';
import { command, durationMs, oneOf, type Cli } from '../command.ts';
import { table } from '../table.ts';

export const clean = command<{ dryRun?: boolean; class?: KeepClass; olderThan?: number }>({
  name: 'clean',
  about: 'remove what this machine keeps of finished tasks beyond its age',
  flags: [
    { flag: '--dry-run', about: 'only list it' },
    { flag: '--class <class>', about: `of this class: ${KEEP_CLASSES.join(', ')}`, parse: oneOf(KEEP_CLASSES) },
    { flag: '--older-than <duration>', about: 'instead of the ages in keep.*', parse: durationMs },
  ],
  notes: `A worker does the same by itself every hour. Logs, receipts, declared outputs and rescued work go; delivered branches stay.
Nothing goes of a task that is queued or running, nor of a run that this machine still holds.`,
  examples: ['fleet clean --dry-run', 'fleet clean --class accepted --older-than 1d'],
  async run(cli, { flags }) {
    const home = homeLayout(cli.home);
    if (!existsSync(home.root)) return print(cli, { items: [], done: false });
    // Loaded here: no other command needs them.
    const [{ clean: cleanNow, findCleanable }, { lockIdleHome }] = await Promise.all([
      import('../../workers/clean.ts'),
      import('../../workers/locks.ts'),
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

function print(cli: Cli, { items, done }: { items: CleanItem[]; done: boolean }): void {
  const bytes = items.reduce((sum, item) => sum + item.bytes, 0);
  const facts = items.map((item) => ({ class: item.class, what: item.what, ageMs: item.ageMs, bytes: item.bytes }));
  cli.print({ removed: done, items: facts, bytes }, () => {
    if (items.length === 0) return 'there is nothing to clean';
    const rows = items.map((item) => [item.class, item.what, formatDuration(item.ageMs), formatBytes(item.bytes)]);
    const count = items.length === 1 ? '1 thing' : `${items.length} things`;
    return `${table(['class', 'what', 'age', 'size'], rows)}\n${count}, ${formatBytes(bytes)}${done ? ' removed' : ' to remove'}`;
  });
}
