import { describe, expect, test } from '@jest/globals';
import { checkersOf, isChecker } from '../../../src/receipts/trial/checkers.ts';

describe('by its name', () => {
  test.each([
    ...['check.sh', 'ci.sh', 'runtests.py', 'run_tests.py', 'runTests.js', 'manage.py', 'a.bats', 'verify'],
    ...['.ci/run', 'ci/build.sh', 'Tests/all.py', 'tools/validate.sh', 'scripts/check/run.mjs', 'web/scripts/test.mjs'],
    ...['scripts/run-all.mjs', 'tools/runner.py', 'hack/all.sh', 'src/check.js', 'pre-lint.sh', 'smoke-1.sh'],
  ])('%s checks', (path) => expect(isChecker(path)).toBe(true));

  test.each([
    ...['cipher.py', 'city.js', 'checkout.js', 'testimony.py', 'protest.js', 'linter.js', 'latest.sh', 'circle.sh'],
    ...['city/run.sh', 'src/validate.js', 'src/ci/index.js', 'lib/check/main.js', 'scripts/build-all.mjs', 'run.js'],
    ...['scripts/build.sh', 'attestation.py', 'contest/index.js', 'invalidate.sh', 'specimen.py', 'all.js'],
  ])('%s does not', (path) => expect(isChecker(path)).toBe(false));
});

const NPM = (scripts: Record<string, string>) => JSON.stringify({ scripts });
const MAKE = `CHECK := scripts/check.sh
.PHONY: all test lint

all: test
\t@echo done
test: build smoke ## all of it
\tsh ./tools/run-all.sh \\
\t  && $(CHECK)
lint:
\tsh scripts/lint.sh
smoke:
\t$(MAKE) -C . deeper
deeper:; true
\tsh scripts/verify.sh
`;

test.each<[string, { verify: string; manifests?: Record<string, string>; is: string[] }]>([
  [
    'a word',
    { verify: 'CI=1 sh ./check.sh && "$PWD/tools/validate.sh" | tail', is: ['check.sh', 'tools/validate.sh'] },
  ],
  ['a folder is none', { verify: 'eslint check', is: [] }],
  ['without an ending', { verify: 'node scripts/check', is: ['scripts/check.mjs'] }],
  ['a module', { verify: 'python3 -m tools.runtests -v', is: ['tools/runtests.py'] }],
  ['after cd', { verify: 'cd tools && sh validate.sh', is: ['tools/validate.sh'] }],
  ['an expression', { verify: 'node -e "import(\'./scripts/check.mjs\')"', is: ['scripts/check.mjs'] }],
  [
    'by npm',
    {
      verify: 'npm test',
      manifests: { 'package.json': NPM({ test: 'node scripts/check.mjs' }) },
      is: ['scripts/check.mjs'],
    },
  ],
  [
    'by what runs before it, and by another script',
    {
      verify: 'npm t',
      manifests: {
        'package.json': NPM({
          pretest: 'sh check.sh',
          test: 'run-s "it:*"',
          'it:a': 'sh tools/validate.sh',
          lint: 'sh scripts/lint.sh',
        }),
      },
      is: ['check.sh', 'tools/validate.sh'],
    },
  ],
  [
    'by a script of a package, and one of the top',
    {
      verify: 'npm test --workspaces',
      manifests: {
        'package.json': NPM({ lint: 'sh scripts/lint.sh' }),
        'web/package.json': NPM({ test: 'sh test.sh; sh ../check.sh' }),
      },
      is: ['web/test.sh', 'check.sh'],
    },
  ],
  [
    'not by a script that nothing runs',
    { verify: 'npm test', manifests: { 'package.json': NPM({ lint: 'sh check.sh' }) }, is: [] },
  ],
  [
    'not by one that another program runs',
    { verify: 'node --test test', manifests: { 'package.json': NPM({ test: 'sh check.sh' }) }, is: [] },
  ],
  ['nor by one that cannot be read', { verify: 'npm test', manifests: { 'package.json': '{' }, is: [] }],
  [
    'by make, with variables and what it needs',
    {
      verify: 'make test',
      manifests: { Makefile: MAKE },
      is: ['tools/run-all.sh', 'scripts/check.sh', 'scripts/verify.sh'],
    },
  ],
  [
    'by make alone',
    {
      verify: 'make',
      manifests: { Makefile: MAKE },
      is: ['tools/run-all.sh', 'scripts/check.sh', 'scripts/verify.sh'],
    },
  ],
  [
    'by one of its targets',
    { verify: 'make -s lint', manifests: { Makefile: MAKE }, is: ['scripts/lint.sh', 'scripts/check.sh'] },
  ],
  [
    'by npm and make',
    {
      verify: 'npm test',
      manifests: { 'package.json': NPM({ test: 'make lint' }), Makefile: MAKE },
      is: ['scripts/lint.sh', 'scripts/check.sh'],
    },
  ],
  ['what is under test is not', { verify: 'node src/check-out.js; python3 cipher.py; node src/cli.js test', is: [] }],
])('%s', (_name, { verify, manifests = {}, is }) => {
  const programs = [
    ...['check.sh', 'check/index.js', 'scripts/check.mjs', 'scripts/check.sh', 'scripts/lint.sh', 'scripts/verify.sh'],
    ...['tools/validate.sh', 'tools/runtests.py', 'tools/run-all.sh', 'web/test.sh', 'cipher.py', 'src/cli.js'],
  ];
  const base = [...programs, ...Object.keys(manifests)];
  const found = checkersOf([verify], { base, manifests: new Map(Object.entries(manifests)) });
  expect([...found].sort()).toEqual([...is].sort());
});
