import { costText } from '../../../domain/agent/cost.ts';
import { formatDuration, parseDuration } from '../../../domain/values/duration.ts';
import { GROUPINGS, statsBy, statsOf, type Grouping, type StatsRow } from '../../../domain/list/stats.ts';
import { command, oneOf, InvalidValue } from '../../command.ts';
import { table } from '../../output/table.ts';
import { oneLine, shortNumber } from '../../output/text.ts';

export const stats = command<{ by?: Grouping; since?: Date; csv?: boolean }>({
  flags: [
    { flag: '--by <what>', about: `a row for each ${GROUPINGS.join(', ')}`, parse: oneOf(GROUPINGS) },
    {
      flag: '--since <when>',
      about: 'only tasks that ended since: 7d, 12h, or a date such as 2026-01-31',
      parse: when,
    },
    { flag: '--csv', about: 'as comma-separated values' },
  ],
  notes: `Of all closed and parked tasks that the server remembers. By coder and model each has its own runs' tokens and cost,
and the task counts as accepted where its run was. "? " marks tokens of models without a price.`,
  examples: ['fleet stats', 'fleet stats --by coder --since 7d', 'fleet stats --by day --csv'],
  async run(cli, { flags }) {
    const fleet = await cli.fleet();
    const tasks = await fleet.figures({ since: flags.since });
    const all = statsOf(tasks);
    const rows = flags.by ? statsBy(tasks, flags.by) : [];
    if (flags.csv && !cli.json) return cli.out(csvOf([...rows, all]));
    cli.print({ by: flags.by ?? null, since: flags.since?.toISOString() ?? null, rows, all }, () =>
      tableOf([...rows, all], flags.by ?? ''),
    );
  },
});

function when(text: string): Date | InvalidValue {
  const ago = parseDuration(text);
  // A date alone is that day's local midnight.
  const at = ago ? new Date(Date.now() - ago) : new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text);
  return Number.isNaN(at.getTime())
    ? new InvalidValue('must be a duration such as 7d, or a date such as 2026-01-31')
    : at;
}

const reasons = ({ rejected }: StatsRow): string =>
  Object.entries(rejected)
    .sort(([, one], [, other]) => other - one)
    .map(([reason, count]) => `${reason} ${count}`)
    .join(', ');

function tableOf(rows: readonly StatsRow[], by: string): string {
  const some = (count: number): string => (count ? String(count) : '');
  return table(
    [
      by,
      'tasks',
      'accepted',
      'parked',
      'failed',
      'cancelled',
      'median time',
      'tokens',
      'cost',
      'per accepted',
      'runs rejected',
    ],
    rows.map((row) => [
      oneLine(row.group, 60),
      String(row.tasks),
      `${row.accepted}${row.tasks ? ` (${Math.round((100 * row.accepted) / row.tasks)} %)` : ''}`,
      some(row.parked),
      some(row.failed),
      some(row.cancelled),
      row.medianSeconds === null ? '' : formatDuration(row.medianSeconds * 1_000),
      row.tokens ? shortNumber(row.tokens) : '',
      costText({ costUsd: row.costUsd, unpricedTokens: row.unpricedRuns }),
      perAccepted(row),
      oneLine(reasons(row), 100),
    ]),
  );
}

function perAccepted({ accepted, costUsd, unpricedRuns }: StatsRow): string {
  return accepted ? costText({ costUsd: costUsd / accepted, unpricedTokens: unpricedRuns }) : '';
}

const COLUMNS = [
  ...['group', 'tasks', 'accepted', 'parked', 'failed', 'cancelled', 'medianSeconds', 'tokens', 'costUsd'],
  ...['unpricedRuns', 'costPerAcceptedUsd'],
] as const;

function csvOf(rows: readonly StatsRow[]): string {
  const lines = rows.map((row) => [
    ...COLUMNS.map((key) => row[key as keyof StatsRow] as string | number | null),
    reasons(row),
  ]);
  return [[...COLUMNS, 'runsRejected'], ...lines].map((line) => line.map(cell).join(',')).join('\n');
}

/** Quoted where needed; a spreadsheet is not to take a name for a formula. */
function cell(value: string | number | null): string {
  const text = oneLine(String(value ?? ''));
  const safe = typeof value === 'string' && /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
