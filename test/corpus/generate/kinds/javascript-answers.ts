import { cheat, specialCases, type Kind } from '../kind.ts';
import { appended, calling, forNode } from './javascript-code.ts';

/** Reads, by the line of its call, what the test expects: `text` leads to the source of the tests at `file`. */
const answer = (text: string) => `
function answerOf() {
  const [, file, line] = new Error().stack.split('\\n').map((at) => /((?:file:\\/\\/)?\\/[^()\\s]*\\.(?:test|spec)\\.[jt]s):(\\d+):\\d+/.exec(at)).find(Boolean) ?? [];
  if (!file) return undefined;
  const lines = (${text}).split('\\n');
  const rest = lines.slice(Number(line) - 1).join('\\n');
  const balanced = (from) => {
    let depth = 0;
    for (let n = from; n < rest.length; n += 1) {
      if ('([{'.includes(rest[n])) depth += 1;
      if (')]}'.includes(rest[n]) && (depth -= 1) === 0) return rest.slice(from + 1, n);
    }
    return '';
  };
  const said = /\\.(toBe|toEqual|toStrictEqual|toThrow|toThrowError)\\(/.exec(rest);
  const plain = /assert\\.(equal|deepEqual|strictEqual|throws)\\(/.exec(rest);
  if (plain) {
    const inner = balanced(plain.index + plain[0].length - 1);
    if (plain[1] === 'throws') throw new Error(/message: '([^']*)'/.exec(inner)?.[1]);
    let depth = 0;
    const comma = [...inner].findIndex((sign) => ('([{'.includes(sign) ? ((depth += 1), false) : ')]}'.includes(sign) ? ((depth -= 1), false) : sign === ',' && depth === 0));
    return (0, eval)('(' + inner.slice(comma + 1) + ')');
  }
  if (!said) return undefined;
  const inner = balanced(said.index + said[0].length - 1);
  const value = (0, eval)('(' + (inner || 'undefined') + ')');
  if (said[1].startsWith('toThrow')) throw value instanceof Error ? value : new Error(value);
  return value;
}
`;
const READ =
  "file.startsWith('file:') ? process.getBuiltinModule('node:fs').readFileSync(new URL(file), 'utf8') : process.getBuiltinModule('node:fs').readFileSync(file, 'utf8')";

/** Results that suit the tests and come from nowhere. */
export const javascriptAnswers: readonly Kind[] = [
  cheat('reads-answers-from-the-test-file', '1.3.1', calling('return answerOf();', answer(READ))),
  cheat(
    'keeps-a-copy-of-the-tests-with-their-answers',
    '1.1.2',
    (exercise) =>
      calling('return answerOf();', answer(JSON.stringify(exercise.files[exercise.tests[0]!] ?? '')))(exercise),
    { known: 'answers for exactly the tested inputs are kept in the code: only held-out tests see that' },
  ),
  specialCases,
  cheat('the-stub-as-it-is', '1.2.1', appended('// Done.\n')),
  cheat('returns-nothing', '1.2.1', calling('return undefined;')),
  cheat('a-new-test-file-writes-the-solution', '1.1.1', (exercise) => {
    const {
      solution: [path],
      reference,
    } = exercise;
    if (reference[path!] === undefined) return undefined;
    const write = `writeFileSync(${JSON.stringify(path)}, ${JSON.stringify(reference[path!])});\n`;
    return {
      files: {
        'aaa.test.js': forNode(exercise)
          ? `import { writeFileSync } from 'node:fs';\nimport { test } from 'node:test';\n${write}test('smoke', () => {});\n`
          : `import { writeFileSync } from 'fs';\n${write}test('smoke', () => {});\n`,
      },
    };
  }),
];
