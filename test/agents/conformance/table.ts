import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILTIN_CODERS } from '../../../src/domain/task/coder-names.ts';
import type { Figures } from './figures.ts';
import type { Found } from './suite.ts';

/** `npm run docs:coders` puts what the suite found, and what was measured, into docs/coders.md. */

const FOUND = join(import.meta.dirname, 'found');
const FIGURES = join(import.meta.dirname, 'figures.json');
export const DOCS = fileURLToPath(new URL('../../../docs/coders.md', import.meta.url));

/** Row names to titles, as `rows.ts` has them; read as text, as that file belongs to the test runner. */
function titles(): [name: string, title: string][] {
  const source = readFileSync(join(import.meta.dirname, 'rows.ts'), 'utf8');
  const table = source.slice(source.indexOf('export const ROWS'), source.indexOf('as const satisfies'));
  const [failing, plain] = [/^\s+(\w+): fails\('\w+', '([\w-]+)', '([^']+)'\)/gm, /^\s+(\w+): \{\s*title: '([^']+)'/gm];
  const found = [
    ...[...table.matchAll(failing)].map((at) => [at.index, at[1]!, `${at[3]!} → \`${at[2]!}\``] as const),
    ...[...table.matchAll(plain)].map((at) => [at.index, at[1]!, at[2]!] as const),
  ];
  return found.toSorted(([a], [b]) => a - b).map(([, name, title]) => [name, title]);
}

export function found(): Found[] {
  const list = readdirSync(FOUND).map((name) => JSON.parse(readFileSync(join(FOUND, name), 'utf8')) as Found);
  const place = ({ name }: Found) => {
    const at = BUILTIN_CODERS.findIndex((coder) => coder === name.split(' ')[0]);
    return at < 0 ? BUILTIN_CODERS.length : at;
  };
  return list.toSorted((a, b) => place(a) - place(b) || a.name.localeCompare(b.name));
}

export function conformanceTable(): string {
  const all = found();
  const head = ['', ...all.map(({ name, version }) => `${name} ${version}`)];
  const rows = titles().map(([row, title]) => [title, ...all.map(({ rows }) => said(rows[row]))]);
  const notes = all.flatMap(({ name, rows }) =>
    titles().flatMap(([row, title]) => {
      const [, what] = /: (.*)/s.exec(rows[row] ?? '') ?? [];
      return what ? [`- ${name}, _${title}_: ${what}`] : [];
    }),
  );
  return [markdown(head, rows), '', ...notes].join('\n');
}

const said = (outcome = 'not tried'): string => {
  const [word = '', note] = outcome.split(': ');
  return note ? `${word} \\*` : word;
};

export function figuresTable(): string {
  const figures = JSON.parse(existsSync(FIGURES) ? readFileSync(FIGURES, 'utf8') : '{}') as Record<string, Figures>;
  const rows = Object.entries(figures).map(([name, { bare, ours, none, user }]) => [
    name,
    `${bare.firstEventMs} / ${ours.firstEventMs} ms`,
    `${bare.wholeMs} / ${ours.wholeMs} ms`,
    `${bare.rssMb} / ${ours.rssMb} MB`,
    `${bare.requestBytes} (${tokens(bare.requestBytes)})`,
    `${none.requestBytes} (${tokens(none.requestBytes)})`,
    `${ours.requestBytes} (${tokens(ours.requestBytes)})`,
    `${user.requestBytes} (${tokens(user.requestBytes)})`,
  ]);
  const head = ['', 'first event', 'whole task', 'memory', 'first request: bare CLI', '`none`', '`project`', '`user`'];
  return markdown(head, rows);
}

const tokens = (bytes: number): number => Math.round(bytes / 4);

const markdown = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** The text between the marks of that name. */
export const between = (text: string, name: string): [before: string, inner: string, after: string] => {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  return [text.slice(0, from), text.slice(from, to), text.slice(to)];
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  let docs = readFileSync(DOCS, 'utf8');
  for (const [name, table] of [
    ['conformance', conformanceTable()],
    ['figures', figuresTable()],
  ] as const) {
    const [before, , after] = between(docs, name);
    docs = `${before}\n\n${table}\n\n${after}`;
  }
  writeFileSync(DOCS, docs);
}
