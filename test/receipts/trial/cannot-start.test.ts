import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Policy } from '../../../src/domain/repository/repo-policy.ts';
import { acceptance } from '../../../src/receipts/kinds/acceptance.ts';
import { TrialLab } from '../trial-lab.ts';

/** Commands that fail before they check anything, told from those that only the work is missing for. */

let lab: TrialLab;
beforeEach(() => void (lab = new TrialLab()));
afterEach(() => lab.remove());

const judge = (before: Record<string, string>, after: Record<string, string | null>, policy: Partial<Policy>) => {
  const base = lab.commit(before);
  return acceptance.collect(lab.evidence({ base, commit: lab.commit(after), policy }));
};
const CHANGE = { 'other.txt': 'x\n' };
const hopeless = {
  ok: false,
  reason: 'check-cannot-start',
  summary: expect.stringMatching(/^no change can pass it, as it fails on the base in the same way/),
};

describe('no change could pass', () => {
  test.each<[string, Record<string, string>, Partial<Policy>]>([
    ['a program that is not there', {}, { verify: ['no-such-runner --all'] }],
    ['one inside of a script', { 'check.sh': 'no-such-runner\nexit 127\n' }, { verify: ['sh check.sh'] }],
    ['one behind a pipe that hides it', {}, { verify: ['no-such-runner | grep -q passed'] }],
    ['one that installing would bring', {}, { verify: ['node_modules/.bin/jest', 'true'] }],
    ['one in a folder', { 'web/a.txt': '' }, { verify: ['cd web && no-such-runner ./...'] }],
    ['a file that may not be executed', { 'check.sh': 'exit 0\n' }, { verify: ['./check.sh'] }],
    ['setup that nobody has seen pass', {}, { setup: ['echo unreachable; exit 3'], verify: ['true'] }],
  ])('%s', async (_, before, policy) => {
    const checks = {
      failToPass: [],
      control: false,
      retries: 3,
      results: [],
      heldOut: [],
      challenge: 'auto' as const,
      where: 'here' as const,
    };
    const finding = await judge({ 'a.txt': '', ...before }, CHANGE, { checks, ...policy });
    expect(finding).toMatchObject({ ...hopeless, evidence: { attempts: 1 } });
  });

  test.each<[string, string, object]>([
    ['ends with 1 may pass again', 'test ! -e $OUTAGE', { reason: 'setup-failed' }],
    ['ends with 127 lacks a program', 'no-such-installer', { reason: 'check-cannot-start' }],
    ['hides a program that it does without', 'no-such-cache; test ! -e $OUTAGE', { reason: 'setup-failed' }],
  ])('setup that passed when the run began and now %s', async (_, command, reason) => {
    const base = lab.commit({ 'a.txt': '' });
    const commit = lab.commit(CHANGE);
    const policy = { setup: [command.replace('$OUTAGE', lab.dir)], verify: ['true'] };
    const finding = await acceptance.collect(lab.evidence({ base, commit, policy, rest: { setUp: true } }));
    expect(finding).toMatchObject({ ok: false, ...reason, evidence: { attempts: 1 } });
  });

  test('tests that none of can be loaded, with what to add', async () => {
    const manifest = { dependencies: { 'left-pad': '1.3.0' }, scripts: { test: 'node --test' } };
    const before = {
      'package.json': JSON.stringify(manifest),
      'a.test.mjs': "import pad from 'left-pad';\npad('a', 3);\n",
    };
    for (const verify of [['node --test'], ['node a.test.mjs']]) {
      const finding = await judge(before, CHANGE, { verify });
      // A file of the base by its name is known to be there.
      expect(finding).toMatchObject(hopeless);
      expect(finding?.summary).toContain('add `setup: [npm install]`');
      expect(finding?.summary).toContain('left-pad');
    }
  });
});

describe('the work is only not done yet', () => {
  const TEST = (body: string) =>
    `import test from 'node:test';\nimport assert from 'node:assert';\ntest('adds', () => { ${body} });\n`;
  test.each<[string, Record<string, string>, Record<string, string | null>, string[]]>([
    ['a plain check', {}, CHANGE, ['grep -q right a.txt']],
    ['a plain check that says so', {}, CHANGE, ['echo not yet; exit 1']],
    ['a script that is to be written', {}, CHANGE, ['bash new-check.sh']],
    ['a program that is to be written', {}, CHANGE, ['./bin/tool --version']],
    ['a test that fails on both', { 'a.test.mjs': TEST('assert.equal(1, 2)') }, CHANGE, ['node --test']],
    ['a test file that is to be written', {}, CHANGE, ['node --test test/new.test.mjs']],
    ['what the change itself has broken', { 'check.sh': '#!/bin/sh\nexit 0\n' }, { 'check.sh': null }, ['./check.sh']],
    [
      'tests that a change keeps from loading in another way',
      { 'a.test.mjs': "import './lib.mjs';\n" },
      { 'lib.mjs': 'this is no code' },
      ['node --test'],
    ],
  ])('%s', async (_, before, after, verify) => {
    // Nothing is put back that would mend what was broken.
    const finding = await judge({ 'a.txt': '', ...before }, after, { verify, allow: [['**']] });
    expect(finding).toMatchObject({ ok: false });
    expect(finding).not.toHaveProperty('reason');
  });
});
