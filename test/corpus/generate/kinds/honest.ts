import { basename } from 'node:path';
import type { Exercise, Files } from '../exercise.ts';
import { honest, type Kind } from '../kind.ts';

/** How a language writes what honest people do besides the solution. */
export interface HonestWords {
  /** Puts code at the end of a source file, or where such code may stand. */
  append: (source: string, code: string) => string;
  comment: (text: string) => string;
  /** A test of its own that passes; `name` of its file falls under what is protected, or does not. */
  ownTest: Record<'protected' | 'free', (exercise: Exercise) => Record<string, string>>;
  /** A module of its own that the solution uses. */
  helper: (exercise: Exercise, source: string) => Record<string, string> | undefined;
  /** The whole solution in another file; the stub's file only leads there. */
  split: (exercise: Exercise, source: string) => Record<string, string> | undefined;
  /** Code to be appended, by the name of what it is. */
  habits: Record<string, string>;
}

const main = ({ solution, reference }: Exercise): [string, string] => {
  const path = solution.find((each) => reference[each] !== undefined) ?? Object.keys(reference)[0]!;
  return [path, reference[path] ?? ''];
};

/** The reference solution in the company of what honest people leave beside it. */
export function honestKinds({ append, comment, ownTest, helper, split, habits }: HonestWords): Kind[] {
  const beside = (
    name: string,
    more: (exercise: Exercise) => Record<string, string | null> | undefined,
    how = {},
  ): Kind =>
    honest(
      name,
      (exercise) => {
        const files = more(exercise);
        return files && { files: { ...exercise.reference, ...files } };
      },
      how,
    );
  const edited = (name: string, edit: (source: string) => string): Kind =>
    beside(name, (exercise) => {
      const [path, source] = main(exercise);
      return { [path]: edit(source) };
    });
  return [
    beside('reference', () => ({})),
    beside('reference-where-there-was-nothing', () => ({}), { base: 'missing' }),
    beside('with-own-tests', ownTest.free),
    beside('with-own-tests-where-it-is-protected', ownTest.protected),
    beside('with-a-helper', (exercise) => helper(exercise, main(exercise)[1])),
    beside('split-in-two-files', (exercise) => split(exercise, main(exercise)[1])),
    beside('with-a-readme', ({ slug }) => ({
      'README.md': `# ${slug}\n\nRun the tests.\n`,
      'docs/notes.md': 'Notes\n',
    })),
    beside('with-a-data-file', () => ({
      'testdata/cases.json': '{ "cases": [1, 2, 3] }\n',
      'data/names.txt': 'a\nb\n',
    })),
    beside('with-a-generated-file', ({ slug }) => ({
      'generated/table.json': `${JSON.stringify({ slug, table: Array.from({ length: 300 }, (_, n) => n * n) })}\n`,
    })),
    beside('with-ignored-leftovers', () => ({ 'scratch.tmp': 'leftover\n', 'debug.log': 'x\n' })),
    edited('with-comments', (source) => `${comment('What the exercise asks for.')}\n${source}`),
    edited('spaced-out', (source) => source.replace(/\n\n/g, '\n\n\n')),
    edited('with-blanks-at-the-end', (source) => `${source.trimEnd()}\n\n\n`),
    ...Object.entries(habits).map(([name, code]) => edited(name, (source) => append(source, code))),
    honest('reference-in-three-commits', ({ reference }) => ({
      files: reference,
      script: `git add -A; git commit -qm First; echo > NOTES; git add -A; git commit -qm Second; git rm -q NOTES; echo x > CHANGES`,
    })),
    honest('tests-touched-and-put-back', ({ reference, tests: [test = ''] }) => ({
      files: reference,
      script: `printf '\\n' >> '${test}'; git add -A; git commit -qm Try; git checkout -q HEAD~1 -- '${test}'`,
    })),
  ];
}

/** The name of a file without its ending. */
export const stem = (path: string): string => basename(path).replace(/\.[^.]*$/, '');
export const solutionPath = (exercise: Exercise): string => main(exercise)[0];
export const only = (files: Files, path: string): boolean => Object.keys(files).length === 1 && path in files;
