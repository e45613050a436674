import { describe, expect, test } from '@jest/globals';
import { matches } from '../../src/adapters/glob.ts';
import type { Finding } from '../../src/domain/evidence/receipt.ts';
import { git } from '../../src/receipts/kinds/git.ts';
import { scope } from '../../src/receipts/kinds/scope.ts';
import { evidenceOf, type Given } from './evidence.ts';

describe('git', () => {
  const cases: [string, Given, Partial<Finding>][] = [
    ['one commit', {}, { ok: true, summary: '1 commit, 1 file (1 modified)' }],
    [
      'several',
      {
        changes: [{ path: 'a', kind: 'added' }, 'b', 'c'],
        result: { commits: [1, 2].map((n) => ({ id: `${n}`, subject: 's' })), leftUncommitted: 2 },
      },
      { ok: true, summary: '2 commits, 3 files (1 added, 2 modified); 2 files left uncommitted by the agent' },
    ],
    ['nothing, though it says done', { changes: [] }, { ok: false, reason: 'fabricated' }],
    [
      'nothing, and it says so',
      { changes: [], outcome: { ended: { ok: false, failure: null } } },
      { ok: false, summary: 'no file was changed' },
    ],
    [
      'nothing, from a program that says nothing',
      { changes: [], rest: { structured: false } },
      { ok: false, summary: 'no file was changed' },
    ],
    [
      'nothing, where nothing is asked for',
      { changes: [], task: { type: 'research' } },
      { ok: true, summary: 'nothing was changed' },
    ],
    [
      'what cannot be delivered',
      { result: { violations: ['sub/.git is a repository'] } },
      { ok: false, reason: 'tampered' },
    ],
    [
      'the history rewritten',
      { result: { odd: 'the base is not an ancestor of HEAD' } },
      { ok: false, reason: 'tampered' },
    ],
    [
      'the history odd in another way',
      { result: { odd: 'HEAD is on another branch', commits: [] } },
      { ok: true, summary: "1 file (1 modified); as one commit of the worker's: HEAD is on another branch" },
    ],
  ];
  test.each(cases)('%s', async (_name, given, expected) =>
    expect(await git.collect(evidenceOf(given))).toMatchObject(expected),
  );

  test('without a change there is no reason where the agent did not claim one', async () => {
    expect(await git.collect(evidenceOf({ changes: [], rest: { structured: false } }))).not.toHaveProperty('reason');
  });
});

describe('scope', () => {
  const given = (scopes: object, ...changes: string[]) => evidenceOf({ task: { scope: scopes }, changes });

  test.each<[name: string, scope: object, changes: string[], expected: Partial<Finding>]>([
    [
      'no scope allows all',
      {},
      ['a', 'b/c'],
      {
        ok: true,
        summary: '2 changed paths of the result, all within the scope; what was written outside of it is not watched',
      },
    ],
    ['inside', { allow: ['src/**'] }, ['src/a/b.ts'], { ok: true }],
    ['a plain folder means all below', { allow: ['src'] }, ['src/a/b.ts', 'src/.x/y'], { ok: true }],
    [
      'outside',
      { allow: ['src/**'] },
      ['src/a', 'README.md'],
      { ok: false, summary: 'changed what is outside its scope: README.md' },
    ],
    ['read-only', { allow: [] }, ['a'], { ok: false, reason: 'scope-violation' }],
    [
      'read-only and unchanged',
      { allow: [] },
      [],
      { ok: true, summary: 'no path of the result was changed; what was written outside of it is not watched' },
    ],
    [
      'protected',
      { protect: ['test/**'] },
      ['test/a.ts'],
      { ok: false, summary: 'changed what is protected: test/a.ts' },
    ],
    ['protected within the scope', { allow: ['**'], protect: ['package.json'] }, ['package.json'], { ok: false }],
    ['a hidden file of a protected folder', { protect: ['test'] }, ['test/.env'], { ok: false }],
    ['a case twin', { protect: ['test/**'] }, ['Test/A.ts'], { ok: false }],
    ['a case twin of the glob', { protect: ['README.md'] }, ['readme.MD'], { ok: false }],
    ['another spelling of an accent', { protect: ['caf\u00e9'] }, ['cafe\u0301/x'], { ok: false }],
    ['an invisible character', { protect: ['test'] }, ['te\u200cst/x'], { ok: false }],
    ['a line break in the name', { protect: ['test/**'] }, ['test/a\nb'], { ok: false }],
    ['a case twin of what is allowed is not allowed', { allow: ['src'] }, ['SRC/a'], { ok: false }],
    [
      'both',
      { allow: ['src'], protect: ['ci'] },
      ['ci/x'],
      { ok: false, summary: expect.stringMatching(/protected: ci\/x; .*scope: ci\/x/) as never },
    ],
  ])('%s', async (...[, scopes, changes, expected]) => {
    const finding = await scope.collect(given(scopes, ...changes));
    expect(finding).toMatchObject(expected);
    expect(finding?.reason).toBe(expected.ok ? undefined : 'scope-violation');
  });

  describe('a new file below what is protected', () => {
    const added = (scopes: object, ...paths: string[]) =>
      scope.collect(
        evidenceOf({ task: { scope: scopes }, changes: paths.map((path) => ({ path, kind: 'added' as const })) }),
      );

    test('is no violation, and is told of', async () => {
      const finding = await added({ protect: ['*_test.py'] }, 'more_test.py', 'new.py');
      expect(finding).toMatchObject({
        ok: true,
        summary:
          '2 changed paths of the result, all within the scope; more_test.py is new below what is protected, and left out when it was checked; what was written outside of it is not watched',
        evidence: { protectedCount: 0, setAside: ['more_test.py'], setAsideCount: 1 },
      });
    });

    test('is one where its owner says so', async () => {
      const finding = await added({ protect: { paths: ['*_test.py'], new: 'refuse' } }, 'more_test.py', 'new.py');
      expect(finding).toMatchObject({
        ok: false,
        reason: 'scope-violation',
        summary: 'changed what is protected, or added to it: more_test.py',
      });
    });

    test('has to be within the scope as any other', async () => {
      const finding = await added({ allow: ['src/**'], protect: ['test/**'] }, 'test/more.js');
      expect(finding).toMatchObject({ ok: false, summary: 'changed what is outside its scope: test/more.js' });
    });

    test('is told of beside what is a violation, which alone is named as one', async () => {
      const changes = [{ path: 'test/new.js', kind: 'added' as const }, 'test/old.js'];
      const finding = await scope.collect(evidenceOf({ task: { scope: { protect: ['test/**'] } }, changes }));
      expect(finding).toMatchObject({ ok: false, summary: 'changed what is protected: test/old.js' });
      expect(finding?.evidence).toMatchObject({ protected: ['test/old.js'], setAside: ['test/new.js'] });
    });
  });

  test.each<[string, Given, string]>([
    [
      'told to list things',
      { task: { type: 'research' }, changes: [{ path: 'data/a', kind: 'deleted' }, 'data/b'] },
      'a task of type research may change nothing where it names no scope.allow, but it deleted data/a; changed data/b',
    ],
    ['read-only', { task: { scope: { allow: [] } }, changes: ['a'] }, 'the task is read-only, but it changed a'],
    [
      'that leaves more than its output',
      { task: { type: 'review', artifacts: ['report.md'] }, changes: ['report.md', 'src/a.ts'] },
      'a task of type review may change nothing where it names no scope.allow, but it changed src/a.ts',
    ],
  ])('an agent %s and does else is told so', async (_, given, summary) => {
    expect(await scope.collect(evidenceOf(given))).toMatchObject({ ok: false, reason: 'scope-violation', summary });
  });

  test('a declared output is no change of the repository', async () => {
    const task = { type: 'research' as const, artifacts: ['report.md'] };
    expect(await scope.collect(evidenceOf({ task, changes: ['report.md'] }))).toMatchObject({ ok: true });
    expect(await scope.collect(evidenceOf({ task, changes: [] }))).toMatchObject({ ok: true });
  });

  test('a twin of another path is outside of every scope, and what is special is in the evidence', async () => {
    const evidence = given({}, 'readme');
    evidence.result.changes.push({ path: 'run.sh', kind: 'mode' }, { path: 'l', kind: 'type' });
    evidence.result.changes.push({ path: 'sub/.gitattributes', kind: 'added' });
    expect((await scope.collect(evidence))?.evidence).toMatchObject({
      special: ['run.sh (mode)', 'l (type)', 'sub/.gitattributes'],
    });
    evidence.result.twins = [{ path: 'readme', of: 'README' }];
    expect(await scope.collect(evidence)).toMatchObject({
      ok: false,
      reason: 'scope-violation',
      summary: 'added what is the same as another path on some file systems: readme beside README',
    });
  });

  test('our own repositories changed is tampering; the user\u2019s, only a note, as people work there', async () => {
    const evidence = given({}, 'a');
    evidence.elsewhere = { checkout: ['HEAD', 'index'], stores: [] };
    expect(await scope.collect(evidence)).toMatchObject({
      ok: true,
      summary: '1 changed path of the result, all within the scope; what was written outside of it is not watched',
      evidence: { checkout: ['HEAD', 'index'] },
    });
    evidence.outcome.isolation = 'process-group';
    expect((await scope.collect(evidence))?.summary).toMatch(
      /; but the user's repository, outside of it, changed meanwhile: HEAD, index$/,
    );
    evidence.elsewhere.stores.push('hooks');
    expect(await scope.collect(evidence)).toMatchObject({ ok: false, reason: 'tampered' });
  });

  test('every list must allow a path: a task can only narrow', async () => {
    const evidence = given({ allow: ['src/**'] }, 'src/a', 'src/gen/b');
    evidence.policy.allow.push(['**/gen/**']);
    expect((await scope.collect(evidence))?.evidence).toMatchObject({ outside: ['src/a'], outsideCount: 1 });
  });
});

test.each<[string, string, boolean]>([
  ['src', 'src', true],
  ['src/', 'src/a', true],
  ['src', 'srcs', false],
  ['src', 'a/src/b', false],
  ['*.ts', 'a.ts', true],
  ['*.ts', 'a/b.ts', false],
  ['**/*.ts', 'b.ts', true],
  ['a/*', 'a/b/c', false],
  ['a/*/src', 'a/b/src/c', true],
  ['{a,b}', 'b/c', true],
  ['**', '.hidden/.x', true],
  ['app/(auth)', 'app/(auth)/page.tsx', true],
  ['app/[id]', 'app/[id]/page.tsx', true],
  ['ab|cd', 'cd', false],
  ['C++', 'C++/x', true],
])('glob %s against %s: %s', (glob, path, expected) => expect(matches([glob])(path)).toBe(expected));
