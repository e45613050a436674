import { afterAll, describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROWS, type Row } from './rows.ts';
import { versionOf, type Subject } from './subject.ts';

/** What the suite found of a coder: `yes`, `no: <why>`, or with what is to be said of it. */
export interface Found {
  name: string;
  package: string;
  version: string;
  rows: Record<string, string>;
}

export const foundFile = (name: string): string =>
  join(import.meta.dirname, 'found', `${name.replaceAll(/[^a-z0-9]+/g, '-')}.json`);

function foundBefore(name: string): Found | undefined {
  const file = foundFile(name);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Found) : undefined;
}

/** The conformance suite for one coder. RECORD=1 writes what it found of the rows that ran, which `npm run docs:coders` makes a table of. */
export function conformance(subject: Subject): void {
  const rows: Record<string, string> = {};
  const names = Object.keys(ROWS) as Row[];

  describe(subject.name, () => {
    for (const name of names) {
      const { title, run } = ROWS[name];
      const why = subject.cannot?.[name];
      const note = subject.notes?.[name];
      if (why) {
        rows[name] = `no: ${why}`;
        continue;
      }
      test(`${name}: ${title}`, async () => {
        await run(subject);
        rows[name] = note ? `yes: ${note}` : 'yes';
      });
    }

    test('the table in the docs says the same', () => {
      if (process.env['RECORD']) return;
      const found = foundBefore(subject.name);
      expect(found?.version).toBe(versionOf(subject));
      expect(found?.rows).toMatchObject(rows);
    });
  });

  afterAll(() => {
    if (!process.env['RECORD']) return;
    const { name, package: from } = subject;
    const all: Record<string, string> = { ...foundBefore(name)?.rows, ...rows };
    const ordered = Object.fromEntries(names.flatMap((row) => (all[row] ? [[row, all[row]]] : [])));
    const found = { name, package: from, version: versionOf(subject), rows: ordered };
    writeFileSync(foundFile(name), `${JSON.stringify(found, null, 2)}\n`);
  });
}
