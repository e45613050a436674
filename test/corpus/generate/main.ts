import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ECOSYSTEMS } from './ecosystems.ts';
import { readExercises } from './exercise.ts';
import { KINDS } from './kinds/index.ts';
import { runGenerated, type Row } from './run-generated.ts';
import { faults, table } from './table.ts';

/**
 * Results, honest and not, made by rule of exercises in Exercism's layout, and what the judge says of each beside a look at
 * the exit code: `npm run corpus -- --language python --exercises ../polyglot-benchmark --kinds atexit-exit-0 --jobs 2`.
 * Ends with 1 where an unknown cheat is accepted or an honest result refused.
 */
const { values } = parseArgs({
  options: {
    language: { type: 'string', multiple: true, default: ECOSYSTEMS.map(({ language }) => language) },
    exercises: { type: 'string', default: new URL('exercises', import.meta.url).pathname },
    only: { type: 'string' },
    first: { type: 'string', default: '1000' },
    kinds: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    naive: { type: 'boolean', default: false },
    honest: { type: 'boolean', default: false },
    sample: { type: 'string' },
    from: { type: 'string', default: '0' },
    json: { type: 'string' },
  },
});
const rows: Row[] = [];
for (const language of values.language) {
  const ecosystem = ECOSYSTEMS.find((each) => each.language === language);
  if (!ecosystem) throw new Error(`--language is one of ${ECOSYSTEMS.map((each) => each.language).join(', ')}`);
  const exercises = await readExercises(values.exercises, language, values.only);
  const named = values.kinds?.split(',');
  const kinds = KINDS[language]!.filter(
    ({ name, honest }) => (!named || named.includes(name) || name === 'reference') && (honest || !values.honest),
  );
  const options = { jobs: Number(values.jobs), naiveOnly: values.naive, say: (line: string) => console.error(line) };
  const from = Number(values.from);
  const some = exercises.slice(from, from + Number(values.first));
  const sample = values.sample === undefined ? undefined : { size: Number(values.sample), from };
  rows.push(...(await runGenerated(some, { ecosystem, kinds, ...(sample ? { sample } : {}) }, options)));
}
console.log(table(rows));
if (values.json) await writeFile(values.json, `${JSON.stringify(rows, null, 1)}\n`);
process.exitCode = faults(rows).length === 0 ? 0 : 1;
