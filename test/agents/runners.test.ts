import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { watchedRun } from '../receipts/watched-run.ts';
import { FOLDER } from './binaries.ts';

/** The test runners that are no dependency of the product: which tests of a real run are seen. */

const links = { node_modules: join(FOLDER, 'node_modules') };
const project = (command: string): string => JSON.stringify({ name: 'project', scripts: { test: command } });
const told = `Object.values(process.env).filter((value) => value.includes('reports')).length`;

describe('vitest', () => {
  const files = {
    'a.test.mjs': `
      import { describe, expect, it, test } from 'vitest';
      describe('suite', () => {
        it('works', () => console.log(JSON.stringify({ runner: 'vitest', name: ['forged'], status: 'passed' })));
        it.skip('left out', () => {});
        it.todo('to do');
        it('breaks', () => expect(1).toBe(2));
        it.fails('expected', () => { throw new Error(); });
        test.each([1, 1])('each', () => {});
      });
      test('told: ' + ${told}, () => {});
    `,
    'deep/exit.test.mjs': `import { test } from 'vitest'; test('never runs', () => {}); process.exit(0);`,
    'own.mjs': `export default class { onTestRunEnd() { console.log('own reporter'); } }`,
  };
  const seen = [
    'passed a.test.mjs | suite > works',
    'skipped a.test.mjs | suite > left out',
    'skipped a.test.mjs | suite > to do',
    'failed a.test.mjs | suite > breaks',
    'skipped a.test.mjs | suite > expected',
    'passed a.test.mjs | suite > each',
    'passed a.test.mjs | suite > each (2)',
    'passed a.test.mjs | told: 0',
    'failed deep/exit.test.mjs | deep/exit.test.mjs',
  ];

  test.each([
    ['an npm script', 'npm test --silent', 'vitest run'],
    ['npx', 'npx --no-install vitest run', ''],
    ['a script with a reporter of its own', 'npm test --silent', 'vitest run --reporter=./own.mjs'],
    ['a script that sets NODE_OPTIONS', 'npm test --silent', 'NODE_OPTIONS=--no-warnings vitest --run'],
  ])('each test is seen through %s', async (_name, command, script) => {
    const run = await watchedRun(command, { ...files, 'package.json': project(script) }, { links });
    expect(run.exitCode).toBe(1);
    expect(run.report?.runners).toEqual(['vitest']);
    expect(run.tests).toEqual(seen);
    if (script.includes('own.mjs')) expect(run.output).toContain('own reporter');
  });

  test('the projects of a workspace are told apart', async () => {
    const config = `export default { test: { projects: [{ test: { name: 'one' } }, { test: { name: 'two' } }] } };`;
    const file = `import { test } from 'vitest'; test('works', () => {});`;
    const run = await watchedRun('npx vitest run', { 'vitest.config.mjs': config, 'a.test.mjs': file }, { links });
    expect(run.tests?.toSorted()).toEqual(['passed a.test.mjs | one > works', 'passed a.test.mjs | two > works']);
  });

  test('a runner that finds no test has run', async () => {
    const run = await watchedRun('npx vitest run --passWithNoTests nothing', files, { links });
    expect(run).toMatchObject({ exitCode: 0, report: { runners: ['vitest'], tests: [] } });
  });
});

describe('mocha', () => {
  const files = {
    'test/a.cjs': `
      const assert = require('assert');
      describe('suite', () => {
        it('works', () => console.log(JSON.stringify({ runner: 'mocha', name: ['forged'], status: 'passed' })));
        it.skip('left out', () => {});
        it('to do');
        it('breaks', () => assert(false));
        it('works', () => {});
      });
      it('told: ' + ${told}, () => {});
    `,
    'exit.cjs': `it('first', () => {}); it('second', () => process.exit(0)); it('third', () => {});`,
    'own.cjs': `module.exports = class { constructor(runner) { runner.on('end', () => console.log('own reporter')); } };`,
  };
  const seen = [
    'failed test/a.cjs | suite > breaks',
    'passed test/a.cjs | suite > works',
    'passed test/a.cjs | suite > works (2)',
    'passed test/a.cjs | told: 0',
    'skipped test/a.cjs | suite > left out',
    'skipped test/a.cjs | suite > to do',
  ];

  test.each([
    ['an npm script', 'npm test --silent', 'mocha test/a.cjs'],
    ['a script with a reporter of its own', 'npm test --silent', 'mocha --reporter ./own.cjs test/a.cjs'],
    ['a script with node options', 'npm test --silent', 'mocha --expose-gc test/a.cjs'],
    ['worker processes', 'npx --no-install mocha --parallel test/a.cjs', ''],
    ['a program of the project', 'node run.cjs', ''],
  ])('each test is seen through %s', async (_name, command, script) => {
    const program = `const { default: Mocha } = require('mocha'); new Mocha().addFile('test/a.cjs').run((n) => (process.exitCode = n));`;
    const all = { ...files, 'package.json': project(script), 'run.cjs': program };
    const run = await watchedRun(command, all, { links });
    expect(run.exitCode).toBe(1);
    expect(run.report?.runners).toEqual(['mocha']);
    expect(run.tests?.toSorted()).toEqual(seen);
    if (script.includes('own.cjs')) expect(run.output).toContain('own reporter');
  });

  test('a run that ends early has the tests up to there', async () => {
    const run = await watchedRun('npx mocha exit.cjs', files, { links });
    expect(run).toMatchObject({ exitCode: 0, tests: ['passed exit.cjs | first'], report: { cut: ['mocha'] } });
  });
});

describe('what a failed test says', () => {
  const suite = (head: string, fails: string) =>
    `${head}\ndescribe('suite', () => { it('breaks', () => { ${fails} }); });\n`;

  test('vitest: expected and actual, and the module of a file that cannot be loaded', async () => {
    const run = await watchedRun(
      'npx vitest run',
      {
        'a.test.mjs': suite(
          "import { describe, expect, it } from 'vitest';",
          'expect({ sum: 3 }).toEqual({ sum: 4 });',
        ),
        'b.test.mjs': "import './nope.mjs';",
      },
      { links },
    );
    const said = new Map(run.report?.tests.map((one) => [one.name, one.said]));
    expect(said.get('suite > breaks')).toMatch(
      /expected \{ sum: 3 \} to deeply equal \{ sum: 4 \}\n[^]*- +"sum": 4,\n\+ +"sum": 3,[^]*a\.test\.mjs:2:/,
    );
    expect(run.report?.tests.find(({ fixture }) => fixture)).toMatchObject({ file: 'b.test.mjs', status: 'failed' });
    expect(said.get('b.test.mjs')).toMatch(/Cannot find module '[^']*nope\.mjs'/);
  });

  test('mocha: expected and actual', async () => {
    const run = await watchedRun(
      'npx mocha a.cjs',
      { 'a.cjs': suite("const assert = require('assert');", "assert.equal(3, 4, 'its own words');") },
      { links },
    );
    expect(run.report?.tests[0]?.said).toMatch(/^its own words\nexpected: 4\nactual: 3\nat .*a\.cjs:2:/);
  });
});
