import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ERROR_CODES } from '../src/domain/error.ts';

const root = new URL('..', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

test('docs/errors.md has each code with its exit code', () => {
  const rows = [...read('docs/errors.md').matchAll(/^\| `([a-z-]+)` \| ([12]) \|/gm)];
  expect(rows.map(([, code, exit]) => [code, Number(exit)])).toEqual(Object.entries(ERROR_CODES));
});

/** Adapters and coders turn what other programs say into codes; what stands above them decides by these. */
const DECIDERS = [
  'domain',
  'workflows',
  'activities',
  'receipts',
  'client',
  'workers',
  'cli',
  'producers',
  'channels',
  'mcp',
];
const SAID = String.raw`(?:\.|\?\.)(?:message|stderr)\b`;
const DECIDES = new RegExp(
  [
    String.raw`${SAID}\)?\??\.(?:includes|match|startsWith|endsWith|search|indexOf)\(`,
    String.raw`\/[a-z]*\.test\((?:[^()]|\([^()]*\))*${SAID} ?\)`,
    String.raw`${SAID} [!=]==? ['"\`]`,
  ].join('|'),
  'g',
);
const decisionsIn = (text: string): string[] =>
  [...text.replaceAll(/\s+/g, ' ').matchAll(DECIDES)].map(([found]) => found);

test.each([
  'if (/is gone/.test(failure.message)) return;',
  'if (/is gone/i.test((error as Error).message)) return;',
  "const old = error.stderr.includes('unknown option');",
  "if (cause?.message === 'no such task') return;",
  "return String(error.message).startsWith('fatal');",
  'if (/is gone/.test(\n  cause?.message\n)) return;',
])('found to decide by a sentence: %s', (line) => {
  expect(decisionsIn(line)).toHaveLength(1);
});

test.each([
  "if (error.code === 'not-found') return;",
  'const [first] = error.message.split(lines);',
  "return fail(failure.reason, failure.message.replace(/^question: /, ''));",
])('found not to: %s', (line) => {
  expect(decisionsIn(line)).toEqual([]);
});

test.each(DECIDERS)('nothing in %s decides by the text of an error', (layer) => {
  const files = readdirSync(new URL(`src/${layer}`, root), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.ts'));
  expect(sources.length).toBeGreaterThan(0);
  const found = sources.flatMap((file) => decisionsIn(read(`src/${layer}/${file}`)).map((what) => `${file}: ${what}`));
  expect(found).toEqual([]);
});
