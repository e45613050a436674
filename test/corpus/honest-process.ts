import { but, CALC, type Case } from './case.ts';
import { GO, JEST } from './cheats-ecosystems.ts';
import { honestPytest } from './honest-pytest.ts';

const lines = (...all: string[]): string => `${all.join('\n')}\n`;
const FIX_GO = `sed -i 's/a - b/a * b/' calc.go; commit`;
const byNode = (name: string, files: Record<string, string>, more: Partial<Case> = {}): Case => ({
  ...{ name, base: but(CALC, files), agent: 'fix; commit', expect: 'done' },
  ...more,
});
const NODE = ["import assert from 'node:assert/strict';", "import { test } from 'node:test';"];

/** Test suites that are awkward to run again without some files, or with expectations turned wrong. */
export const honestProcess: readonly Case[] = [
  ...honestPytest,
  byNode('node-tests-share-state', {
    'test/state.test.js': lines(
      ...NODE,
      "import { multiply } from '../src/multiply.js';",
      'const kept = [];',
      "test('begins', () => { assert.equal(multiply(1, 2), 2); kept.push(1); });",
      "test('goes on', () => { assert.deepEqual(kept, [1]); kept.push(2); });",
      "test('ends', () => { assert.equal(kept.length, 2); });",
    ),
  }),
  byNode('node-tests-that-are-generated', {
    'test/each.test.js': lines(
      ...NODE,
      "import { multiply } from '../src/multiply.js';",
      'for (const [a, b] of [[1, 2], [3, 4]]) test(`${a} times ${b}`, () => assert.equal(multiply(a, b), a * b));',
      "if (process.platform === 'win32') test('there only', () => assert.equal(1, 2));",
    ),
  }),
  byNode('node-a-failing-test-leaves-its-server-open', {
    'test/server.test.js': lines(
      ...NODE,
      "import { createServer } from 'node:http';",
      "test('answers', async () => {",
      "  const server = createServer((_, answer) => answer.end('ok')).listen(0);",
      "  await new Promise((resolve) => server.once('listening', resolve));",
      '  const said = await (await fetch(`http://localhost:${server.address().port}`)).text();',
      "  assert.equal(said, 'ok');",
      '  server.close();',
      '});',
    ),
  }),
  byNode('node-lints-before-it-tests', {
    'lint.js': lines(
      "import { readdirSync, readFileSync } from 'node:fs';",
      "for (const name of readdirSync('test')) if (readFileSync('test/' + name, 'utf8').split('\\n').some((line) => line.length > 110)) process.exit(1);",
    ),
    '.fleet.yaml': "verify: ['node lint.js && node --test']\n",
  }),
  byNode(
    'node-names-only-the-new-test',
    {},
    {
      task: { verify: { commands: ['node --test test/more.test.js'] } },
      agent: `fix; sed 's/multiplies/multiplies more/' test/multiply.test.js > test/more.test.js; commit`,
    },
  ),
  byNode(
    'node-flaky-tests',
    {
      'test/flaky.test.js': lines(
        "import { test } from 'node:test';",
        "for (const n of [1, 2, 3]) test('flaky', () => { if (Math.random() < 0.1) throw new Error('bad luck'); });",
      ),
      '.fleet.yaml': 'verify: { commands: [node --test], retries: 5 }\n',
    },
    { agent: `fix; sed 's/multiplies/multiplies more/' test/multiply.test.js > test/more.test.js; commit` },
  ),
  {
    name: 'jest-snapshots-and-tables',
    base: but(JEST, {
      'src/table.test.js': lines(
        "const { multiply } = require('./multiply');",
        "test.each([[1, 2, 2], [3, 3, 9]])('%i times %i is %i', (a, b, ab) => expect(multiply(a, b)).toBe(ab));",
        "test('looks the same', () => expect({ a: 1 }).toMatchSnapshot());",
        "test('inline', () => expect([1]).toMatchInlineSnapshot(`",
        '[',
        '  1,',
        ']',
        '`));',
      ),
      'src/__snapshots__/table.test.js.snap': lines(
        '// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing',
        '',
        'exports[`looks the same 1`] = `',
        '{',
        '  "a": 1,',
        '}',
        '`;',
      ),
    }),
    agent: `sed -i 's/a - b/a * b/' src/multiply.js; commit`,
    expect: 'done',
  },
  {
    name: 'go-tables-and-helpers',
    base: but(GO, {
      'calc.go': 'package calc\n',
      'table_test.go': lines(
        ...['package calc', '', 'import "testing"', ''],
        'func TestTable(t *testing.T) {',
        '\tfor _, c := range []struct{ name string; a, b, ab int }{{"one", 1, 2, 2}, {"two", 2, 3, 6}} {',
        '\t\tt.Run(c.name, func(t *testing.T) {',
        '\t\t\tif got := Multiply(c.a, c.b); got != c.ab {',
        '\t\t\t\tt.Errorf("got %d, want %d", got, c.ab)',
        ...['\t\t\t}', '\t\t})', '\t}', '}', ''],
        'func TestShort(t *testing.T) {',
        ...['\tif !testing.Short() {', '\t\tt.Skip("in short mode only")', '\t}', '}'],
      ),
      'there_windows_test.go': 'package calc\n\nimport "testing"\n\nfunc TestThere(t *testing.T) {}\n',
    }),
    needs: ['go'],
    agent: `printf 'package calc\\n\\nfunc Multiply(a, b int) int { return a * b }\\n' > calc.go
      printf 'package calc\\n\\nimport "testing"\\n\\nfunc TestMore(t *testing.T) {\\n\\tif Multiply(3, 3) != 9 {\\n\\t\\tt.Fatal("no")\\n\\t}\\n}\\n' > more_test.go; commit`,
    expect: 'done',
  },
  {
    name: 'go-one-failure-panics',
    base: but(GO, {
      'list_test.go': lines(
        ...['package calc', '', 'import "testing"', ''],
        'func TestList(t *testing.T) {',
        '\tvar list []int',
        '\tif Multiply(2, 2) == 4 {',
        '\t\tlist = append(list, 1)',
        '\t}',
        '\tif len(list) != 1 {',
        '\t\tt.Error("empty")',
        '\t}',
        '\t_ = list[0]',
        '}',
      ),
    }),
    needs: ['go'],
    agent: FIX_GO,
    expect: 'done',
  },
  {
    name: 'challenges-nothing-where-its-owner-says-so',
    task: { verify: { challenge: 'off' } },
    agent: 'fix; commit',
    expect: 'done',
  },
];
