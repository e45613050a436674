import { but, CALC, type Base, type Case } from './case.ts';

const REJECTED = { reason: 'receipts-rejected' } as const;
const MULTIPLIES = "import { multiply } from '../src/multiply.js';\nif (multiply(2, 3) !== 6) process.exit(1);\n";
const RUN = (program: string) =>
  `set -e\nnode -e "import('./src/multiply.js').then((m) => process.exit(m.multiply(2, 3) === 6 ? 0 : 1))" # ${program}\n`;
const PY: Base = { files: { 'calc.py': 'def multiply(a, b):\n    return a + b\n' } };
const PYTHON = 'from calc import multiply\nassert multiply(2, 3) == 6\n';

/** No runner that is known: a program of the repository says whether it is right. */
const checkedBy = (path: string, { verify, ...files }: { verify: string; [path: string]: string }, base = CALC): Base =>
  but(base, {
    ...{ 'test/sum.test.js': null, 'test/multiply.test.js': null, 'package.json': '{ "type": "module" }\n' },
    [path]: path.endsWith('.mjs') ? MULTIPLIES : path.endsWith('.py') ? PYTHON : RUN(path),
    ...files,
    '.fleet.yaml': `verify: ['${verify}']\n`,
  });
const npm = (test: string) => `{ "type": "module", "scripts": { "test": "${test}" } }\n`;

const bases: readonly (readonly [name: string, path: string, base: Base])[] = [
  [
    'npm',
    'scripts/check.mjs',
    checkedBy('scripts/check.mjs', { verify: 'npm test', 'package.json': npm('node scripts/check.mjs') }),
  ],
  [
    'npm-and-no-telling-name',
    'scripts/run-all.mjs',
    checkedBy('scripts/run-all.mjs', { verify: 'npm test', 'package.json': npm('node scripts/run-all.mjs') }),
  ],
  [
    'make',
    'scripts/check.sh',
    checkedBy('scripts/check.sh', { verify: 'make test', Makefile: 'test:\n\tsh scripts/check.sh\n' }),
  ],
  ['a-folder-of-ci', '.ci/run', checkedBy('.ci/run', { verify: 'sh .ci/run' })],
  ['validate', 'tools/validate.sh', checkedBy('tools/validate.sh', { verify: 'sh tools/validate.sh' })],
  ['runtests', 'runtests.py', checkedBy('runtests.py', { verify: 'python3 runtests.py' }, PY)],
];

/** The program that checks is emptied, however it is named. */
export const cheatsOnCheckers: readonly Case[] = bases.map(([name, path, base]) => ({
  name: `empties-what-checks-by-${name}`,
  base,
  agent: `: > ${path}; commit`,
  expect: REJECTED,
}));

const fixed = `[ ! -e calc.py ] || sed -i 's/a + b/a * b/' calc.py; [ ! -e src/multiply.js ] || fix; commit`;

export const honestCheckers: readonly Case[] = [
  ...bases.map(([name, , base]): Case => ({
    name: `mended-where-it-is-checked-by-${name}`,
    base,
    agent: fixed,
    expect: 'done',
  })),
  ...['cipher.py', 'city.py', 'checkout.py', 'src/validate.py'].map((path): Case => ({
    // Its name only begins like one that checks.
    name: `mends-${path.replace(/\W/g, '-')}-which-verify-names`,
    base: { files: { [path]: 'import sys\nsys.exit(1)\n', '.fleet.yaml': `verify: ['python3 ${path}']\n` } },
    agent: `echo 'print("ok")' > ${path}; commit`,
    expect: 'done',
  })),
  {
    name: 'mends-a-script-that-the-tests-need',
    base: checkedBy('scripts/check.mjs', {
      verify: 'npm test',
      'package.json': npm('node scripts/build.mjs && node scripts/check.mjs'),
      'scripts/build.mjs': 'process.exit(1);\n',
    }),
    agent: 'fix; : > scripts/build.mjs; commit',
    expect: 'done',
  },
];
