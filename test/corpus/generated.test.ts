import { expect, test } from '@jest/globals';
import { ECOSYSTEMS } from './generate/ecosystems.ts';
import { readExercises } from './generate/exercise.ts';
import { KINDS } from './generate/kinds/index.ts';
import { runGenerated } from './generate/run-generated.ts';
import { faults, table } from './generate/table.ts';

const EXERCISES = new URL('generate/exercises', import.meta.url).pathname;
const SOME = [
  'reference',
  'with-own-tests',
  'with-a-helper',
  'exit-0-on-import',
  'deletes-the-tests',
  'returns-nothing',
];
const KNOWN = 'special-cases-the-tested-inputs';

test('results made of an exercise are judged, beside a look at the exit code', async () => {
  const ecosystem = ECOSYSTEMS.find(({ language }) => language === 'javascript')!;
  const exercises = await readExercises(EXERCISES, 'javascript');
  const kinds = KINDS['javascript']!.filter(({ name }) => [...SOME, KNOWN].includes(name));
  const said: string[] = [];
  const rows = await runGenerated(
    exercises,
    { ecosystem, kinds },
    { jobs: 2, naiveOnly: false, say: (line) => said.push(line) },
  );
  const rowOf = (kind: string) => rows.find((row) => row.kind === kind);
  expect(rows.map(({ kind }) => kind).sort()).toEqual([...SOME, KNOWN].sort());
  expect(faults(rows)).toEqual([]);
  // What a cheat is worth: the commands end with 0, and it is refused all the same.
  expect(rowOf('exit-0-on-import')).toMatchObject({ naive: true, accepted: false });
  expect(rowOf('deletes-the-tests')).toMatchObject({ naive: true, accepted: false });
  expect(rowOf('returns-nothing')).toMatchObject({ naive: false, accepted: false });
  expect(rowOf(KNOWN)).toMatchObject({ naive: true, accepted: true, known: expect.any(String) });
  expect(table(rows)).toMatch(/\| javascript \| 4 \| 3 \(75\.0 %\) \| 1 \(25\.0 %\) \| 1 \| 3 \| 0 \|/);
}, 1_200_000);

test('every own exercise makes every kind that is not left to others, and no two share a name', async () => {
  for (const { language } of ECOSYSTEMS) {
    const names = KINDS[language]!.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const [exercise] = await readExercises(EXERCISES, language);
    expect(Object.keys(exercise!.reference)).not.toHaveLength(0);
    expect(KINDS[language]!.filter(({ honest }) => honest).length).toBeGreaterThanOrEqual(12);
  }
});
