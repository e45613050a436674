import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { createCoders } from '../../src/coders/registry.ts';
import { BUILTIN_CODERS } from '../../src/domain/task/coder-names.ts';
import { between, conformanceTable, DOCS, figuresTable, found } from '../agents/conformance/table.ts';

/** docs/coders.md says what the conformance suite found; `npm run docs:coders` writes it. */

const docs = readFileSync(DOCS, 'utf8');
const words = (table: string) => table.replaceAll(/[\s|-]+/g, ' ').trim();

test.each([
  ['conformance', conformanceTable],
  ['figures', figuresTable],
])('the table of %s is the one that was found', (name, table) => {
  expect(words(between(docs, name)[1])).toBe(words(table()));
});

test('every builtin coder is described, and has been through the suite where it says so', () => {
  const described = docs.slice(docs.indexOf('## What each keeps and loses'));
  const tried = new Set(found().map(({ name }) => name.split(' ')[0]));
  const coders = createCoders();
  for (const name of BUILTIN_CODERS) {
    expect(described).toContain(`| ${name} |`);
    if (coders.get(name)?.about?.by !== 'recorded') expect([...tried]).toContain(name);
  }
});

test('what was found is of the versions that the docs and the doctor name', () => {
  const coders = createCoders();
  for (const { name, version } of found()) {
    const about = coders.get(name)?.about;
    if (about) expect({ name, version: about.tried }).toEqual({ name, version });
  }
});
