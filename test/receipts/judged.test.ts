import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { acceptance } from '../../src/receipts/acceptance.ts';
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
      'sub/conftest.py': 'z',
      '.npmrc': 'z',
      'node_modules/a/b.js': 'z',
    };
    delete (gone as Record<string, string>)['test/helper'];
    await judged({ ...fresh, ...gone });
    for (const path of Object.keys(fresh)) expect(existsSync(seen(path))).toBe(true);
    for (const path of Object.keys(gone)) expect(existsSync(seen(path))).toBe(false);
  });
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
