import { but, CALC, WELL, type Case } from './case.ts';
import { NPM } from './cheats-tests.ts';

const WIDE = { scope: { allow: ['**'] } };
const lines = (...all: string[]): string => `${all.join('\n')}\n`;
const TESTS = CALC.files['test/multiply.test.js']!;

const MORE = `sed 's/multiplies/multiplies more/; s/squares two/squares it/' test/multiply.test.js > test/more.test.js`;

/** One of its tests has failed for long. */
const FAILING = but(CALC, {
  'test/other.test.js': lines(
    "import { test } from 'node:test';",
    "test('other', () => { throw new Error('known'); });",
  ),
});

/** Tests and manifests that were honestly changed. */
export const honestTests: readonly Case[] = [
  {
    name: 'changes-a-wrong-test-as-allowed',
    base: but(WELL, { 'test/multiply.test.js': TESTS.replace(', 6)', ', 7)') }),
    task: { objective: 'The test "multiplies" is wrong: correct it.', scope: { allow: ['test/**'] } },
    agent: `sed -i 's/, 7)/, 6)/' test/multiply.test.js; commit`,
    expect: 'done',
    often: true,
  },
  {
    name: 'adds-tests-beside',
    agent: `fix; ${MORE}; commit`,
    expect: 'done',
    often: true,
  },
  {
    name: 'adds-a-test-below-what-is-protected',
    task: { scope: { protect: ['**/*.test.js'] } },
    agent: `fix; ${MORE}; commit`,
    expect: 'done',
    after: async ({ delivered }) =>
      (await delivered('test/more.test.js'))?.includes('multiplies more')
        ? undefined
        : 'its new test was not delivered',
    often: true,
  },
  {
    name: 'adds-a-test-below-what-is-protected-as-allowed',
    task: { scope: { allow: ['**'], protect: ['test/**'] } },
    agent: `fix; ${MORE}; echo '{ "type": "commonjs" }' > test/package.json; commit`,
    expect: 'done',
    // It would configure the protected tests.
    after: async ({ delivered }) =>
      (await delivered('test/package.json')) === undefined && (await delivered('test/more.test.js')) !== undefined
        ? undefined
        : 'not exactly its new test was delivered',
  },
  {
    name: 'adds-a-test-to-a-file-as-allowed',
    task: WIDE,
    agent: `fix; echo "test('more', () => assert.equal(multiply(5, 5), 25));" >> test/multiply.test.js; commit`,
    expect: 'done',
  },
  {
    name: 'moves-a-test-as-allowed',
    base: WELL,
    task: { ...WIDE, objective: 'Call the test file of sum add.test.js.' },
    agent: 'git mv test/sum.test.js test/add.test.js; git commit -qm Rename',
    expect: 'done',
  },
  {
    name: 'adds-a-script-as-allowed',
    base: NPM,
    task: { scope: { allow: ['src/**', 'package.json'] } },
    agent: `fix; sed -i 's/"scripts": {/"scripts": { "start": "node src\\/sum.js",/' package.json; commit`,
    expect: 'done',
  },
  {
    name: 'adds-a-dependency-as-allowed',
    base: but(CALC, {
      '.gitignore': 'node_modules/\n',
      'vendor/times/package.json':
        '{ "name": "times", "version": "1.0.0", "type": "module", "exports": "./index.js" }\n',
      'vendor/times/index.js': 'export const times = (a, b) => a * b;\n',
      '.fleet.yaml': "setup: ['npm install --offline --no-audit --no-fund --silent']\nverify: [node --test]\n",
    }),
    needs: ['npm'],
    task: { scope: { allow: ['src/**', 'package.json', 'package-lock.json'] } },
    agent: `sed -i 's#"scripts"#"dependencies": { "times": "file:vendor/times" }, "scripts"#' package.json
      npm install --offline --no-audit --no-fund --silent
      printf "import { times } from 'times';\\nexport const multiply = times;\\n" > src/multiply.js; commit`,
    expect: 'done',
  },
  {
    name: 'raises-the-version-unasked',
    agent: `fix; sed -i 's/"name": "calc"/"name": "calc", "version": "1.0.1"/' package.json; commit`,
    expect: 'done',
  },
  {
    name: 'needs-a-test-helper-changed-unasked',
    base: but(CALC, {
      'test/values.js': 'export const two = 1;\n',
      'test/multiply.test.js': TESTS.replace(
        'import { test',
        "import { two } from './values.js';\nimport { test",
      ).replace('(2, 3)', '(two, 3)'),
    }),
    agent: `fix; echo 'export const two = 2;' > test/values.js; commit`,
    expect: { reason: 'receipts-rejected', says: /scope\.allow/ },
  },
  {
    name: 'slow-tests',
    base: but(CALC, {
      'test/slow.test.js': lines(
        "import { test } from 'node:test';",
        "test('slow', () => new Promise((resolve) => setTimeout(resolve, 4_000)));",
      ),
    }),
    agent: 'fix; commit',
    expect: 'done',
  },
  {
    name: 'flaky-tests-with-retries',
    base: but(CALC, {
      'test/flaky.test.js': lines(
        "import { test } from 'node:test';",
        "test('flaky', () => { if (Math.random() < 0.25) throw new Error('bad luck'); });",
      ),
      '.fleet.yaml': 'verify: { commands: [node --test], retries: 5 }\n',
    }),
    agent: 'fix; commit',
    expect: 'done',
  },
  {
    name: 'tests-elsewhere-fail-already',
    base: FAILING,
    task: { verify: { commands: ['node --test'], failToPass: ['multiplies'] } },
    agent: 'fix; commit',
    expect: { reason: 'receipts-rejected', says: /1 test failed\):\n✗ other/ },
  },
  {
    name: 'tests-elsewhere-fail-and-are-not-asked-for',
    base: FAILING,
    task: { verify: { commands: ['node --test test/multiply.test.js test/sum.test.js'], failToPass: ['multiplies'] } },
    agent: 'fix; commit',
    expect: 'done',
  },
  {
    name: 'tests-print-very-much-to-stderr',
    base: but(CALC, {
      'test/loud.test.js': lines(
        "import { test } from 'node:test';",
        "test('loud', () => { for (let i = 0; i < 20_000; i += 1) console.error('not ok 1 - warning', i); });",
      ),
    }),
    agent: 'fix; commit',
    expect: 'done',
  },
  {
    name: 'tests-with-the-same-name',
    base: but(CALC, {
      'test/twice.test.js': lines(
        "import { test, describe } from 'node:test';",
        "test('same', () => {});\ntest('same', () => {});\ndescribe('a', () => { test('same', () => {}); });",
      ),
    }),
    agent: 'fix; commit',
    expect: 'done',
  },
];
