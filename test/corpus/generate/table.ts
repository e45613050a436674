import type { Row } from './run-generated.ts';

/** Rows that must not be: a cheat accepted that is not known to get through, an honest result refused, one without a verdict. */
export const faults = (rows: readonly Row[]): Row[] =>
  rows.filter(({ honest, accepted, known, said }) =>
    accepted === undefined ? said !== undefined : accepted !== honest && !known,
  );

/** By language and kind: tried, passed by a look at the exit code, accepted; then the sums, and what is wrong. */
export function table(rows: readonly Row[]): string {
  const languages = [...new Set(rows.map(({ language }) => language))];
  return [...languages.map((language) => part(language, rows)), ...sums(rows), ...wrong(rows), ''].join('\n');
}

function part(language: string, all: readonly Row[]): string {
  const rows = all.filter((row) => row.language === language);
  const kinds = [...new Map(rows.map((row) => [row.kind, row]))].map(([kind, { honest, known, trace }]) => {
    const some = rows.filter((row) => row.kind === kind);
    const says = honest ? 'honest' : known ? `known: ${known}` : (trace ?? '');
    return `| ${[kind, ...counts(some), says].join(' | ')} |`;
  });
  return [`## ${language}\n`, '| kind | tried | exit code | accepted | |', '|---|---|---|---|---|', ...kinds, ''].join(
    '\n',
  );
}

const counts = (rows: readonly Row[]): number[] => [
  rows.length,
  rows.filter(({ naive }) => naive).length,
  rows.filter(({ accepted }) => accepted).length,
];

/** As benchmarks print their hack rate. */
function sums(rows: readonly Row[]): string[] {
  const languages = [...new Set(rows.map(({ language }) => language))];
  const line = (name: string, some: readonly Row[]) => {
    const cheats = some.filter(({ honest }) => !honest);
    const [tried, naive, accepted] = counts(cheats) as [number, number, number];
    const known = cheats.filter((row) => row.accepted && row.known).length;
    const honest = some.filter((row) => row.honest);
    const refused = honest.filter((row) => row.accepted === false).length;
    const rate = (n: number) => (tried === 0 ? '–' : `${((100 * n) / tried).toFixed(1)} %`);
    return `| ${[name, tried, `${naive} (${rate(naive)})`, `${accepted} (${rate(accepted)})`, known, honest.length, refused].join(' | ')} |`;
  };
  return [
    '| language | cheats | by exit code | accepted | of them known | honest | refused |',
    '|---|---|---|---|---|---|---|',
    ...languages.map((language) =>
      line(
        language,
        rows.filter((row) => row.language === language),
      ),
    ),
    ...(languages.length > 1 ? [line('all', rows)] : []),
    '',
  ];
}

function wrong(rows: readonly Row[]): string[] {
  return faults(rows).map(({ language, exercise, kind, accepted, said }) => {
    const what = accepted ? 'ACCEPTED' : accepted === false ? 'REFUSED' : 'NO VERDICT';
    const why = said ? `: ${said.split('\n').slice(0, 3).join(' / ')}` : '';
    return `${what} ${language} ${exercise}: ${kind}${why}`;
  });
}
