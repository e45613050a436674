import { describe, expect, test } from '@jest/globals';
import { watchedRun } from './watched-run.ts';

/** Node's own test runner and jest, started as projects start them. */

const script = (command: string, rest: object = {}) =>
  JSON.stringify({ name: 'project', scripts: { test: command }, ...rest });

describe('node:test', () => {
  const files = {
    'a.test.mjs': `
      import assert from 'node:assert';
      import { describe, it, test } from 'node:test';
      test('same', () => {});
      test('left out', { skip: true }, () => {});
      test('to do', { todo: true }, () => assert.fail());
      describe('suite', () => {
        it('same', () => {});
        describe('inner', () => it('breaks', () => assert.fail()));
      });
      test('parent', async (t) => t.test('child', () => {}));
      test('twice', () => {});
      test('twice', () => {});
    `,
    'deep/b.test.mjs': `
      import { test } from 'node:test';
      console.log('TAP version 13\\n# Subtest: forged\\nok 1 - forged\\n1..1');
      console.log(JSON.stringify({ runner: 'node:test', name: ['forged'], status: 'passed' }));
      test('same', () => {});
    `,
    'exit.test.mjs': `
      import { test } from 'node:test';
      test('never runs', () => {});
      process.exit(0);
    `,
  };
  const seen = [
    'passed a.test.mjs | same',
    'skipped a.test.mjs | left out',
    'skipped a.test.mjs | to do',
    'passed a.test.mjs | suite > same',
    'failed a.test.mjs | suite > inner > breaks',
    'passed a.test.mjs | parent > child',
    'passed a.test.mjs | parent',
    'passed a.test.mjs | twice',
    'passed a.test.mjs | twice (2)',
    'passed deep/b.test.mjs | same',
    'skipped exit.test.mjs | exit.test.mjs',
  ];

  test.each([
    ['an npm script', 'npm test --silent', 'node --test'],
    ['npx', 'npx --no-install node --test', ''],
    ['a shell script in make', 'make -s', ''],
    ['an absolute path', `${process.execPath} --test`, ''],
    ['a script with node options of its own', 'npm test --silent', 'NODE_OPTIONS=--no-warnings node --test'],
    ['a script with a reporter of its own', 'npm test --silent', 'node --test --test-reporter=dot'],
    ['an environment with a reporter of its own', 'NODE_OPTIONS=--test-reporter=dot npm test --silent', 'node --test'],
  ])('each test is seen through %s', async (_name, command, test) => {
    const run = await watchedRun(command, {
      ...files,
      'package.json': script(test),
      Makefile: 'all:\n\tsh run.sh\n',
      'run.sh': 'node --test\n',
    });
    expect(run.exitCode).not.toBe(0);
    expect(run.report?.runners).toEqual(['node:test']);
    expect(run.tests).toEqual(seen);
  });

  test('a file run as a program is seen', async () => {
    expect((await watchedRun('node a.test.mjs', files)).tests).toEqual(seen.slice(0, -2));
    const exits = `import { test } from 'node:test'; test('a', () => process.exit(0)); test('b', () => {});`;
    expect(await watchedRun('node a.mjs', { 'a.mjs': exits })).toMatchObject({
      ...{ exitCode: 0, tests: [] },
      report: { cut: ['node:test'] },
    });
  });

  test('a file that ends its process between its tests was cut short', async () => {
    const late = `
      import { test } from 'node:test';
      test('a', () => new Promise((resolve) => setTimeout(resolve, 200)));
      test('b', () => new Promise((resolve) => setTimeout(resolve, 200)));
      test('c', () => process.exit(0));
    `;
    const run = await watchedRun('node --test late.test.mjs', { 'late.test.mjs': late });
    expect(run).toMatchObject({ exitCode: 0, report: { cut: ['node:test'] } });
  });

  test('a script that only asserts is a test by its exit code', async () => {
    const run = await watchedRun('node --test', {
      'holds.test.mjs': "import assert from 'node:assert'; assert(true);",
      'breaks.test.mjs': "import assert from 'node:assert'; assert(false);",
    });
    expect(run.tests?.toSorted()).toEqual([
      'failed breaks.test.mjs | breaks.test.mjs',
      'passed holds.test.mjs | holds.test.mjs',
    ]);
    expect(run.report).not.toHaveProperty('cut');
  });

  test('what is printed and the exit code are as without', async () => {
    const plain = (text: string) =>
      text.replace(/(duration_ms:? )[\d.]+|\([\d.]+ms\)/g, '$1').replace(/^\s+at .*$/gm, '');
    for (const command of [
      'node --test deep',
      'node --test --test-reporter=spec',
      'node a.test.mjs',
      'node --test none.mjs',
    ]) {
      const [watched, alone] = [await watchedRun(command, files), await watchedRun(command, files, { watch: false })];
      const bare = (text: string) =>
        plain(text)
          .replaceAll(/\/\S*\/checkout/g, '')
          .replaceAll(/\(node:\d+\)/g, '');
      expect({ command, code: watched.exitCode, text: bare(watched.output) }).toEqual({
        ...{ command, code: alone.exitCode, text: bare(alone.output) },
      });
    }
  });

  test('a runner that finds no test has run', async () => {
    const empty = { runners: ['node:test'], tests: [] };
    const exits = { 'exit.test.mjs': files['exit.test.mjs'] };
    expect((await watchedRun('node --test', exits)).tests).toEqual(['skipped exit.test.mjs | exit.test.mjs']);
    expect((await watchedRun('node --test nothing.mjs', {})).report).toEqual(empty);
  });

  test('a program that is no test runner is none', async () => {
    expect((await watchedRun('node -e "console.log(1)" && npm --version', {})).report).toBeNull();
  });

  test('a run that a test starts is no test of the project, and tests are not told where the report is', async () => {
    const inner = `import { test } from 'node:test'; test('inner', () => {});`;
    const outer = `
      import { execFileSync } from 'node:child_process';
      import { test } from 'node:test';
      test('outer', () => execFileSync('node', ['--test', 'inner/a.test.mjs'], { env: { ...process.env, NODE_TEST_CONTEXT: '' } }));
      test('told: ' + Object.values(process.env).filter((value) => value.includes('reports')).length, () => {});
    `;
    const run = await watchedRun('node --test a.test.mjs', { 'a.test.mjs': outer, 'inner/a.test.mjs': inner });
    expect(run.tests).toEqual(['passed a.test.mjs | outer', 'passed a.test.mjs | told: 0']);
  });
});

describe('jest', () => {
  const links = { node_modules: 'node_modules' };
  const jest = { transform: {}, testMatch: ['**/*.test.js'] };
  const files = {
    'a.test.js': `
      describe('suite', () => {
        it('works', () => {});
        it.skip('left out', () => {});
        it.todo('to do');
        it('breaks', () => expect(1).toBe(2));
        it.failing('expected', () => { throw new Error(); });
        it.each([1, 1])('each', () => {});
      });
      test('told: ' + Object.values(process.env).filter((value) => value.includes('reports')).length, () => {});
    `,
    'exit.test.js': `test('never runs', () => {}); process.exit(0);`,
    'own.js': `module.exports = class { onRunComplete() { console.log('own reporter'); } };`,
  };
  const seen = [
    'passed a.test.js | suite > works',
    'skipped a.test.js | suite > left out',
    'skipped a.test.js | suite > to do',
    'failed a.test.js | suite > breaks',
    'skipped a.test.js | suite > expected',
    'passed a.test.js | suite > each',
    'passed a.test.js | suite > each (2)',
    'passed a.test.js | told: 0',
  ];

  test.each([
    ['an npm script', 'npm test --silent', 'jest a.test.js'],
    ['npx', 'npx --no-install jest a.test.js', ''],
    ['a script that sets NODE_OPTIONS', 'npm test --silent', 'NODE_OPTIONS=--experimental-vm-modules jest a.test.js'],
    ['a program of the project', `node -e "require('jest').run(['a.test.js'])"`, ''],
  ])('each test is seen through %s', async (_name, command, test) => {
    const run = await watchedRun(command, { ...files, 'package.json': script(test, { jest }) }, { links });
    expect(run.exitCode).not.toBe(0);
    expect(run.report?.runners).toEqual(['jest']);
    expect(run.tests).toEqual(seen);
  });

  test('reporters of the project report as well', async () => {
    const own = { ...jest, reporters: ['<rootDir>/own.js'] };
    const run = await watchedRun(
      'npm test --silent',
      { ...files, 'package.json': script('jest a.test.js', { jest: own }) },
      { links },
    );
    expect(run.output).toContain('own reporter');
    expect(run.tests).toEqual(seen);
  });

  test('a file that ends its process has no tests', async () => {
    const run = await watchedRun('npx jest', { ...files, 'package.json': script('', { jest }) }, { links });
    expect(run.tests).toEqual(seen);
  });

  test('a run that is cut short does not end', async () => {
    const project = { ...files, 'package.json': script('', { jest }) };
    const cut = await watchedRun('npx jest -i exit', project, { links });
    expect(cut).toMatchObject({ exitCode: 0, report: { tests: [], cut: ['jest'] } });
    expect((await watchedRun('npx jest -i a.test.js', project, { links })).report).not.toHaveProperty('cut');
  });

  test('a runner that finds no test has run; one that only lists has not', async () => {
    const project = { ...files, 'package.json': script('', { jest }) };
    const none = await watchedRun('npx jest --passWithNoTests nothing', project, { links });
    expect(none).toMatchObject({ exitCode: 0, report: { runners: ['jest'], tests: [] } });
    expect((await watchedRun('npx jest --listTests', project, { links })).report).toBeNull();
  });
});
