import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJunit } from '../../src/receipts/runners/junit-xml.ts';
import { readTests, watchTests } from '../../src/receipts/runners/index.ts';
import { cpuMsOf } from '../helpers/cpu.ts';
import { tempDir } from '../helpers/temp.ts';
import { watchedRun } from './watched-run.ts';

/** What is made of the files that a trial leaves, whoever wrote them. */

async function lab() {
  const temp = await tempDir();
  const [tree, dir] = [join(temp.path, 'tree'), join(temp.path, 'dir')];
  mkdirSync(tree);
  await watchTests(dir);
  return {
    tree,
    at: (name: string) => join(dir, 'reports', name),
    write: (name: string, text: string) => writeFileSync(join(dir, 'reports', name), text),
    read: (results: string[] = []) => readTests({ dir, tree, results }),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

const line = (name: string, more: object = {}) =>
  `${JSON.stringify({ runner: 'jest', name: [name], status: 'passed', ...more })}\n`;

describe('reports', () => {
  test('lines that are torn or make no sense are skipped', async () => {
    await using it = await lab();
    const odd = ['null', '[]', '{"runner":"jest","name":"a","status":"passed"}', '{"runner":1}', 'TAP version 13'];
    it.write(
      'jest-1.jsonl',
      `${line('a')}${odd.join('\n')}\n${line('b', { status: 'won' })}${line('c')}{"runner":"jes`,
    );
    expect((await it.read())?.tests.map(({ name }) => name)).toEqual(['a', 'c']);
  });

  test('names are the same in every checkout, files relative to it', async () => {
    await using it = await lab();
    it.write(
      'jest-1.jsonl',
      line(`in ${it.tree}/x\u001b[31m\n`, { file: `${it.tree}/src/a.js` }) + line('out', { file: '/usr/lib/a.js' }),
    );
    expect((await it.read())?.tests).toEqual([
      { name: 'in x [31m ', file: 'src/a.js', status: 'passed' },
      { name: 'out', status: 'passed' },
    ]);
  });

  test('a line that was added hides no failure and no skip', async () => {
    await using it = await lab();
    const more = line('b', { status: 'failed' }) + line('a') + line('c', { status: 'skipped' });
    it.write('jest-1.jsonl', line('a') + line('b') + line('c') + more);
    expect((await it.read())?.tests.map(({ name, status }) => `${name} ${status}`)).toEqual([
      ...['a passed', 'a (2) passed', 'b failed', 'b (2) failed', 'c skipped', 'c (2) skipped'],
    ]);
  });

  test('a link, a pipe, a folder or nothing at all is no report', async () => {
    await using it = await lab();
    writeFileSync(join(it.tree, 'mine'), line('forged'));
    symlinkSync(join(it.tree, 'mine'), it.at('link.jsonl'));
    mkdirSync(it.at('folder.jsonl'));
    mkdirSync(it.at('cargo-1'));
    execFileSync('mkfifo', [it.at('pipe.jsonl')]);
    expect(await it.read()).toBeNull();
  });

  test('too much is no report', async () => {
    await using it = await lab();
    it.write('jest-1.jsonl', line('a').repeat(100_001));
    expect(await it.read()).toBeNull();
    it.write('jest-1.jsonl', '');
    truncateSync(it.at('jest-1.jsonl'), 65 * 1024 * 1024);
    expect(await it.read()).toBeNull();
  });
});

test("Rust's tests are in the order of their names, however they ended", async () => {
  await using it = await lab();
  mkdirSync(it.at('cargo-1'));
  it.write('cargo-1/target', 'a\n/target/debug/deps/a-0123456789abcdef');
  it.write('cargo-1/log', 'failed tests::z2\nok tests::fine\nfailed tests::z1\nignored: not\nnow tests::slow\n');
  expect((await it.read())?.tests.map(({ name, status }) => `${name} ${status}`)).toEqual([
    ...['a > tests::fine passed', 'a > tests::slow skipped', 'a > tests::z1 failed', 'a > tests::z2 failed'],
  ]);
});

describe('JUnit XML', () => {
  const surefire = readFileSync(new URL('../fixtures/test-reports/surefire.xml', import.meta.url), 'utf8');
  const seen = [
    'failed - | com.acme.CalcTest > breaks',
    'passed - | com.acme.CalcTest > adds',
    'passed - | com.acme.CalcTest > each(String)[1]',
    'passed - | com.acme.CalcTest > each(String)[2]',
    'skipped - | com.acme.CalcTest > skips',
    'passed - | com.acme.CalcTest$Deep > inner',
    'failed - | com.acme.CalcTest$Deep > throwsUp',
  ];
  const forged = '<testsuite name="forged"><testcase classname="forged" name="forged"/></testsuite>';

  test('what a run writes is read, also what Maven and Gradle write unasked', async () => {
    const files = { 'pom.xml': '<project/>', 'api/build.gradle.kts': '', 'made.xml': surefire };
    for (const [folder, results] of [
      ['out', ['out/*.xml']],
      ['api/target/surefire-reports', []],
      ['api/build/test-results/test', []],
    ] as const) {
      const command = `mkdir -p ${folder} && cp made.xml ${folder}/TEST-a.xml`;
      const run = await watchedRun(command, files, { results: [...results] });
      expect(run).toMatchObject({ tests: seen, report: { runners: ['junit'] } });
    }
    expect(
      (
        await watchedRun('mkdir -p target/surefire-reports; cp made.xml target/surefire-reports', {
          'made.xml': surefire,
        })
      ).report,
    ).toBeNull();
  });

  test('what a checkout carries does not count, and other XML stays', async () => {
    const files = {
      'pom.xml': '<project/>',
      'junit.xml': forged,
      'target/surefire-reports/TEST-forged.xml': forged,
      'api/target/surefire-reports/TEST-forged.xml': `<?xml version="1.0"?>\n<testsuites>${forged}</testsuites>`,
    };
    const run = await watchedRun('test -f pom.xml', files, { results: ['**/*.xml'] });
    expect(run).toMatchObject({ exitCode: 0, report: { runners: [], tests: [] } });
  });

  test('a report is no link', async () => {
    const run = await watchedRun('ln -s kept/real junit.xml', { 'kept/real': forged }, { results: ['junit.xml'] });
    expect(run.tests).toEqual([]);
  });

  test.each<[string, string, string[]]>([
    ['a suite without classes', '<testsuite name="s"><testcase name="a"/></testsuite>', ['s > a passed']],
    [
      'a suite inside another',
      '<testsuite name="s"><testsuite name="t"><testcase name="a"/></testsuite><testcase name="b"/></testsuite>',
      ['t > a passed', 's > b passed'],
    ],
    ['a comment', '<testsuite><!-- <testcase name="no"/> --><testcase name="a"/></testsuite>', ['a passed']],
    ['entities', '<testcase name="&lt;&#65;&#x42;&amp;&quot;&bad;"/>', ['<AB&"&bad; passed']],
    ['an error behind output', '<testcase name="a"><system-out>x > y</system-out><error/></testcase>', ['a failed']],
    ['a failure behind a skip', '<testcase name="a"><skipped/><failure/></testcase>', ['a failed']],
    ['a test that was not run', '<testcase name="a" status="notrun"/>', ['a skipped']],
    ['a torn file', '<testsuite><testcase name="a"/><testcase name="b', ['a passed']],
    ['an open comment', '<testcase name="a"/><!-- <testcase name="b"/>', ['a passed']],
  ])('%s', (_name, xml, tests) =>
    expect(parseJunit(xml).map(({ name, status }) => `${name.join(' > ')} ${status}`)).toEqual(tests),
  );

  test('no text makes it slow', async () => {
    const ms = await cpuMsOf(() => {
      for (const part of ['<a b="c"', '<testcase name="', '<!--', '<a b="c" '.repeat(2) + '\n', '<', ' '])
        parseJunit(`<testsuite>${part.repeat(200_000)}`);
    });
    expect(ms).toBeLessThan(5_000);
  });
});

test('a JUnit report that is made to stall its parser does not', async () => {
  for (const unit of ['<failure>', '<testcase name="a"><failure>', '<testcase name="a"><failure> <error>']) {
    const xml = `<testsuite><testcase name="a">${unit.repeat(Math.ceil(3_000_000 / unit.length))}`;
    expect(await cpuMsOf(() => parseJunit(xml))).toBeLessThan(3_000);
  }
});
