import { parseFile } from '../../../src/adapters/test-sources/parse.ts';
import { turnTests } from '../../../src/adapters/test-sources/index.ts';

/** What is read of a source, its tests as lines (`?`: a part that is computed), and it with every test turned. */
export async function readText(path: string, text: string) {
  const source = await parseFile({ path, text });
  const lines = source.tests.map(({ name, several, skipped, turns }) =>
    [
      name.map((part) => part ?? '?').join(' > '),
      ...(several ? ['several'] : []),
      ...(skipped ? ['skipped'] : []),
      turns.map(({ sure }) => (sure ? 'S' : 'u')).join(''),
    ].join(' | '),
  );
  return { source, lines, turned: turnTests(text, source, new Set(source.tests)) };
}
