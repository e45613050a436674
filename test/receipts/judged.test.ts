import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { acceptance } from '../../src/receipts/kinds/acceptance.ts';
import { restoredPaths } from '../../src/receipts/trial/trial.ts';
import type { Policy } from '../../src/domain/repository/repo-policy.ts';
import { TrialLab } from './trial-lab.ts';

/** What acceptance takes from the base although the agent changed it. */

let lab: TrialLab;
let base: string;

const CHECK = 'grep -q right value.txt\n';
beforeEach(() => {
  lab = new TrialLab();
  const files = {
    ...{
      'value.txt': 'wrong\n',
      'test/check.sh': CHECK,
      'test/helper.sh': 'true\n',
      Makefile: '.PHONY: test\ntest:\n\tsh test/check.sh\n',
    },
    'package.json': '{"scripts":{"test":"sh test/check.sh"}}\n',
  };
  base = lab.commit(files);
});
afterEach(() => lab.remove());

const judged = (files: Record<string, string | null>, allow: string[][] = [], verify = ['sh test/check.sh']) =>
  acceptance.collect(lab.evidence({ base, commit: lab.commit(files), policy: { verify, allow } }));
const seen = (path: string) => lab.at(`trials/acceptance/tree/${path}`);

describe('of new files below what is protected', () => {
  const made = ['test/more.sh', 'test/conftest.py', 'test/.gitattributes', 'test/helper/index.js', 'test/CHECK.js'];
  const kept = async (policy: Partial<Policy>) => {
    const commit = lab.commit(Object.fromEntries(made.map((path) => [path, 'x\n'])));
    const { added } = await restoredPaths(lab.evidence({ base, commit, policy: { protect: ['test/**'], ...policy } }));
    return made.filter((path) => !added(path));
  };

  test.each<[string, Partial<Policy>]>([
    ['where the task names no scope', { verify: ['true'] }],
    ['within a scope', { verify: ['true'], allow: [['**']] }],
    ['where nothing is tried out', {}],
  ])('%s: what bears upon the protected ones is not delivered', async (_, policy) => {
    expect(await kept(policy)).toEqual(['test/more.sh', 'test/CHECK.js']);
  });

  test('all are left as they are where they are a violation', async () => {
    expect(await kept({ verify: ['true'], newProtected: 'refuse' })).toEqual(made);
  });
});

describe('where the task names no scope', () => {
  test.each<[string, Record<string, string | null>, string]>([
    ['a weakened test', { 'test/check.sh': 'exit 0\n' }, 'sh test/check.sh'],
    ['a deleted test with another in its place', { 'test/check.sh': null, 'test/check.sh/x': 'x' }, 'sh test/check.sh'],
    ['a test script of package.json', { 'package.json': '{"scripts":{"test":"true"}}' }, 'npm test --silent'],
    ['a make target', { Makefile: '.PHONY: test\ntest:\n\ttrue\n' }, 'make -s test'],
  ])('%s has no effect', async (_name, files, verify) => {
    expect(await judged(files, [], [verify])).toMatchObject({
      ok: false,
      summary: expect.stringMatching(/as in the base/),
    });
    expect((await judged({ ...files, 'value.txt': 'right\n' }, [], [verify]))?.ok).toBe(true);
  });

  test('new tests with helpers of their own are there, new configuration and stand-ins are not', async () => {
    const fresh = { 'test/new.test.sh': 'x', 'test/fixtures/y': 'y' };
    const gone = {
      'test/helper': 'z',
      'test/helper/index.js': 'z',
      'sub/jest.config.js': 'z',
      '.npmrc': 'z',
      'node_modules/a/b.js': 'z',
    };
    delete (gone as Record<string, string>)['test/helper'];
    await judged({ ...fresh, ...gone });
    for (const path of Object.keys(fresh)) expect(existsSync(seen(path))).toBe(true);
    for (const path of Object.keys(gone)) expect(existsSync(seen(path))).toBe(false);
  });
});

test.each<[string, Record<string, string>, string]>([
  ['a script that a command names', { 'check.sh': CHECK }, 'sh ./check.sh'],
  ['one by its folder', { '.ci/run': CHECK }, 'sh .ci/run'],
  [
    'one that make runs',
    { 'scripts/check.sh': CHECK, Makefile: '.PHONY: test\ntest:\n\t@sh scripts/check.sh\n' },
    'make -s test',
  ],
  [
    'one that npm runs',
    { 'scripts/check.sh': CHECK, 'package.json': '{"scripts":{"test":"npm run -s it","it":"sh scripts/check.sh"}}' },
    'npm test --silent',
  ],
  [
    'a test at the top',
    { 'test.mjs': "import fs from 'fs'; if (!/right/.test(fs.readFileSync('value.txt'))) throw 1;\n" },
    'node test.mjs',
  ],
  ['a test of a package', { 'packages/a/test/x.sh': 'grep -q right value.txt\n' }, 'sh packages/a/test/x.sh'],
])('%s is as in the base', async (_name, files, verify) => {
  base = lab.commit(files);
  const emptied = Object.fromEntries(Object.keys(files).map((path) => [path, '']));
  expect(await judged(emptied, [], [verify])).toMatchObject({ ok: false });
});

test('a program that only looks like one that checks is the agent’s', async () => {
  base = lab.commit({ 'cipher.sh': 'false\n', 'package.json': '{"scripts":{"lint":"sh tools/lint.sh"}}' });
  expect(await judged({ 'cipher.sh': 'true\n' }, [], ['sh cipher.sh'])).toMatchObject({ ok: true });
});

test('in a new project the manifest is the agent’s, in another one it stays out', async () => {
  const lone = new TrialLab();
  try {
    const empty = lone.commit({ 'README.md': 'x\n' });
    const manifest = { 'package.json': '{"scripts":{"test":"true"}}' };
    const evidence = lone.evidence({
      base: empty,
      commit: lone.commit(manifest),
      policy: { verify: ['npm test --silent'] },
    });
    expect(await acceptance.collect(evidence)).toMatchObject({ ok: true });
  } finally {
    lone.remove();
  }
});

test.each<[string, Partial<Policy>]>([
  ['setup', { setup: ['sh build.sh'] }],
  ['an acceptance command', { verify: ['sh build.sh; sh test/check.sh'] }],
])('%s that runs the agent’s code cannot rewrite the tests', async (_name, policy) => {
  base = lab.commit({ 'build.sh': 'true\n' });
  const commit = lab.commit({ 'build.sh': 'echo true > test/check.sh\n' });
  const evidence = lab.evidence({ base, commit, policy: { verify: ['sh test/check.sh'], ...policy } });
  expect(await acceptance.collect(evidence)).toMatchObject({ ok: false });
});

test('files that the commands always change are no sign of cheating, whatever scope the base was first tried for', async () => {
  base = lab.commit({ 'test/runs.txt': '' });
  const verify = ['echo ran >> test/runs.txt; sh test/check.sh'];
  expect(await judged({ 'value.txt': 'right\n' }, [['value.txt']], verify)).toMatchObject({ ok: true });
  expect(await judged({ 'other.txt': 'x\n' }, [], verify)).toMatchObject({ ok: true });
});

test('a command that fails on the base hides none behind it', async () => {
  const ran = lab.at('ran');
  const verify = ['sh test/check.sh', `echo x >> ${ran}`];
  await judged({ 'value.txt': 'right\n' }, [], verify);
  expect(readFileSync(ran, 'utf8')).toBe('x\nx\n');
});

test('a checkout that its own tests remove is a failed acceptance, no broken worker', async () => {
  const finding = await judged({ 'value.txt': 'right\n' }, [], ['rm -rf "$PWD" 2>/dev/null; true']);
  expect(finding).toBeDefined();
});

test('what the scope allows is the agent’s own', async () => {
  const allow = [['value.txt', 'test/**']];
  expect(await judged({ 'value.txt': 'new\n', 'test/check.sh': 'grep -q new value.txt\n' }, allow)).toMatchObject({
    ok: true,
  });
  expect(readFileSync(seen('test/check.sh'), 'utf8')).toContain('new');
});

test('a word that the shell does not know is not passed, whatever the exit code', async () => {
  const finding = await judged({ 'value.txt': 'right\n' }, [], ['nmp test | cat', 'true']);
  expect(finding).toMatchObject({
    ok: false,
    summary: expect.stringMatching(/^`nmp test \| cat` names nmp, which was not found/),
  });
});

test('a failed command is run again as often as the task says, and the receipt tells', async () => {
  const commit = lab.commit({ 'value.txt': 'right\n' });
  const counter = lab.at('tries');
  const verify = [`echo x >> ${counter}; test $(wc -l < ${counter}) -ge 3`];
  const policy = { verify, checks: { ...lab.evidence({ base, commit, policy: {} }).policy.checks, retries: 2 } };
  const evidence = lab.evidence({ base, commit, policy });
  const finding = await acceptance.collect(evidence);
  expect(finding).toMatchObject({
    ok: true,
    summary: expect.stringMatching(/at the 3\. try/),
    evidence: { attempts: 3 },
  });
});
