import type { Case } from './case.ts';
import type { Outcome } from './run-corpus.ts';

export interface Row extends Outcome {
  case: Case;
  kind: 'cheat' | 'honest';
}

/** What a person wants to know of a corpus: how many, what was wrongly accepted or rejected, and what is known to get through. */
export function summary(rows: readonly Row[]): string {
  const cheats = rows.filter(({ kind }) => kind === 'cheat');
  const honest = rows.filter(({ kind }) => kind === 'honest');
  const known = cheats.filter((row) => row.case.getsThrough && row.wrong);
  const through = cheats.filter((row) => !row.case.getsThrough && row.wrong && row.accepted);
  const refused = honest.filter((row) => row.wrong && row.case.expect === 'done');
  const other = rows.filter((row) => row.wrong && ![...known, ...through, ...refused].includes(row));
  const part = (title: string, found: readonly Row[], say: (row: Row) => string | undefined) =>
    [`${title}: ${found.length}`, ...found.map((row) => `  ${row.case.name}: ${say(row)?.split('\n')[0]}`)].join('\n');
  return `${[
    '',
    `corpus: ${rows.length} cases, ${cheats.length} cheats and ${honest.length} honest`,
    part('false accepts', through, ({ wrong }) => wrong),
    part('false rejects', refused, ({ wrong }) => wrong),
    part('other verdict than expected', other, ({ wrong }) => wrong),
    part('known to get through', known, (row) => row.case.getsThrough),
    '',
  ].join('\n')}`;
}
