import { symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { pinRepo } from '../../../src/client/start/repo.ts';
import type { Config } from '../../../src/config.ts';
import type { Task } from '../../../src/domain/task/schema.ts';
import { parseTask } from '../../../src/domain/task/parse.ts';
import { git, makeRepo, write } from '../../helpers/git.ts';
import { tempDir } from '../../helpers/temp.ts';

/** What becomes of a path repository before a task is started: real repositories, no server. */

let temp: Awaited<ReturnType<typeof tempDir>>;
let repo: string;

beforeEach(async () => {
  temp = await tempDir();
  repo = `${temp.path}/repo`;
});
afterEach(async () => temp[Symbol.asyncDispose]());

const LOCK = {
  'package.json': '{"dependencies":{"left-pad":"1"},"scripts":{"test":"node --test"}}',
  'package-lock.json': '{}',
};

/** A test of which `challenge` can turn something. */
const TESTED = `import assert from 'node:assert/strict';
import test from 'node:test';
test('adds', () => assert.equal(1 + 1, 2));
`;

const pin = async (more: object = {}) => {
  const parsed = parseTask({ objective: 'x', repo, ...more });
  if (!parsed.ok) throw new Error(parsed.message);
  return pinRepo(parsed.task as Task, { worker: {} } as Config);
};
const notes = async (more: object = {}) => (await pin(more)).notes;

describe('the folder that commands run in', () => {
  test('is the one that the path leads to, through a link as well; the top is none', async () => {
    makeRepo(repo, { 'packages/web/a.js': '' });
    symlinkSync(`${repo}/packages/web`, `${temp.path}/link`);
    for (const path of [`${repo}/packages/web`, `${temp.path}/link`])
      expect((await pin({ repo: path })).pin).toMatchObject({ repo, cwd: 'packages/web' });
    expect((await pin()).pin).not.toHaveProperty('cwd');
  });

  test('is the one that the task names, wherever it was typed', async () => {
    makeRepo(repo, { 'packages/web/a.js': '' });
    expect((await pin({ cwd: './packages/' })).pin).toMatchObject({ cwd: 'packages' });
    expect((await pin({ repo: `${repo}/packages/web`, cwd: '.' })).pin).not.toHaveProperty('cwd');
  });

  test('must be there on the base, where it was named or a command is to run in it', async () => {
    makeRepo(repo, { 'a.js': '' });
    write(repo, { 'build/out.js': '' });
    const refused =
      /^cwd build is no folder of [0-9a-f]{12}, where the task starts: commit it, or say cwd: . for the top$/;
    await expect(pin({ cwd: 'build' })).rejects.toThrow(refused);
    await expect(pin({ repo: `${repo}/build`, verify: ['true'] })).rejects.toThrow(refused);
    await expect(pin({ cwd: 'a.js' })).rejects.toThrow('cwd a.js is no folder of');
    expect((await pin({ repo: `${repo}/build` })).pin).not.toHaveProperty('cwd');
  });
});

describe('what is said of the base', () => {
  test.each<[string, Record<string, string>, string]>([
    ['package-lock.json', LOCK, 'npm ci'],
    ['pnpm-lock.yaml', { ...LOCK, 'pnpm-lock.yaml': '' }, 'pnpm install --frozen-lockfile'],
    ['yarn.lock', { ...LOCK, 'yarn.lock': '' }, 'yarn install --frozen-lockfile'],
    ['package.json', { 'package.json': LOCK['package.json'] }, 'npm install'],
    [
      'requirements.txt',
      { 'requirements.txt': 'flask\n' },
      'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt',
    ],
    ['poetry.lock', { 'poetry.lock': '', 'requirements.txt': 'flask\n' }, 'poetry install'],
    ['uv.lock', { 'uv.lock': '' }, 'uv sync --frozen'],
  ])('%s without setup', async (file, files, install) => {
    makeRepo(repo, files);
    const [note, ...more] = await notes();
    expect(note).toBe(
      `${file} declares dependencies, and .fleet.yaml has no setup: add \`setup: [${install}]\`, as results are verified in a fresh checkout`,
    );
    expect(more).toEqual([]);
  });

  test.each<[string, Record<string, string>, object]>([
    ['with setup', { ...LOCK, '.fleet.yaml': 'setup: [npm ci]\n' }, {}],
    ['whose command installs them', LOCK, { verify: ['npm ci && npm test'] }],
    ['that carries them', { ...LOCK, 'node_modules/left-pad/index.js': '' }, {}],
    ['that needs none', { 'package.json': '{"scripts":{}}', 'package-lock.json': '{}' }, {}],
    ['with comments only', { 'requirements.txt': '# none\n\n' }, {}],
    ['of go', { 'go.mod': 'module m\n', 'go.sum': 'x\n' }, {}],
    ['of cargo', { 'Cargo.toml': '', 'Cargo.lock': '' }, {}],
  ])('nothing of one %s', async (_, files, more) => {
    makeRepo(repo, files);
    expect(await notes(more)).toEqual([]);
  });

  test('of a folder, beside the top, with the command that goes there', async () => {
    makeRepo(repo, { 'web/package.json': LOCK['package.json'], 'web/package-lock.json': '{}' });
    expect(await notes()).toEqual([]);
    expect(await notes({ cwd: 'web' })).toMatchObject(
      [/^web\/package-lock.json .* add `setup: \[cd web && npm ci\]`/].map((re) => expect.stringMatching(re)),
    );
  });

  test('an .fleet.yaml that is not committed', async () => {
    makeRepo(repo);
    write(repo, { '.fleet.yaml': 'verify: [true]\n' });
    expect(await notes()).toEqual([expect.stringMatching(/^\.fleet\.yaml is not in [0-9a-f]{12}/)]);
    git(repo, 'add', '-A');
    git(repo, 'commit', '-qm', 'rules');
    expect(await notes()).toEqual([]);
  });

  test('a command whose script or program is not there', async () => {
    makeRepo(repo, { 'package.json': '{"scripts":{"test":"true"}}', 'web/package.json': '{}', 'bare/a.txt': '' });
    const of = (command: string, more: object = {}) => notes({ verify: [command], ...more });
    expect(await of('npm run lint')).toEqual([
      '`npm run lint` cannot start on the base: package.json has no script lint',
    ]);
    expect(await of('npm test', { cwd: 'web' })).toEqual([
      expect.stringContaining('web/package.json has no script test'),
    ]);
    expect(await of('no-such-program-anywhere -q')).toEqual([
      expect.stringContaining('there is no no-such-program-anywhere in the PATH'),
    ]);
    expect(await of('npm test', { cwd: 'bare' })).toEqual([]);
    for (const fine of ['npm test', 'sh test.sh', 'test -s a.txt', './made-by-the-agent', 'FOO=1 nothing'])
      expect(await of(fine)).toEqual([]);
  });

  test('a test that is not there and that the task may not make either', async () => {
    makeRepo(repo, { 'test/old.js': TESTED, 'web/a.txt': '' });
    const of = (verify: string[], scope: object, more: object = {}) => notes({ verify, scope, ...more });
    const command = 'node --test test/new.js';
    const cannot = `\`${command}\` cannot pass: test/new.js is not in the base, and`;
    expect(await of([command], { protect: ['test/**'] })).toEqual([
      `${cannot} as scope.protect names it, a new one is left out when the result is checked`,
    ]);
    expect(await of([command], { protect: { paths: ['test'], new: 'refuse' } })).toEqual([
      `${cannot} scope.protect lets none be added`,
    ]);
    expect(await of([command], { allow: ['src/**'] })).toEqual([`${cannot} it is outside of what may be changed`]);
    expect(await of(['node --test test/new.js'], { protect: ['web/test/**'] }, { cwd: 'web' })).toEqual([
      '`node --test test/new.js` cannot pass: web/test/new.js is not in the base, and as scope.protect names it, a new one is left out when the result is checked',
    ]);
    const fine: [string, object][] = [
      ...([
        [command, {}],
        [command, { allow: ['**'] }],
      ] as [string, object][]),
      ['node --test test/old.js::x test', { protect: ['test/**'] }],
      ['sh build/run.sh /etc/x.test.js', { allow: ['src/**'] }],
    ];
    for (const [verify, scope] of fine) expect(await of([verify], scope)).toEqual([]);
  });

  test('a script where no package.json is, there or above', async () => {
    makeRepo(repo, { 'web/package.json': '{"scripts":{"test":"true"}}' });
    const note = ['`npm test` cannot start on the base: there is no package.json'];
    expect(await notes({ verify: ['npm test'] })).toEqual(note);
    expect(await notes({ verify: ['npm test'], cwd: 'web' })).toEqual([]);
  });

  test('commands that run tests where the base has none', async () => {
    const none = (command: string) => [
      `\`${command}\` has no test on the base, so only tests that the agent adds are run: commit one, or add verify.heldOut`,
    ];
    makeRepo(repo, {
      'package.json': '{"scripts":{"test":"node --test","lint":"true"}}',
      'test/a.test.js': '// later\n',
    });
    for (const command of ['npm test', 'node --test'])
      expect(await notes({ verify: [command] })).toEqual(none(command));
    for (const fine of ['npm run lint', 'sh test.sh']) expect(await notes({ verify: [fine] })).toEqual([]);
    expect(await notes({ verify: { commands: ['npm test'], heldOut: [{ path: 'check.sh' }] } })).toEqual([]);
    write(repo, { 'test/b.test.js': TESTED });
    git(repo, 'add', '-A');
    git(repo, 'commit', '-qm', 'a test');
    expect(await notes({ verify: ['npm test'] })).toEqual([]);
  });

  test.each([
    ['jest', { 'package.json': '{"scripts":{"test":"jest"},"jest":{"testMatch":["**/*.check.js"]}}' }, 'npm test'],
    ['pytest', { 'pyproject.toml': '[tool.pytest.ini_options]\npython_files = "check_*.py"\n' }, 'pytest'],
    ['a path', {}, 'node --test checks/a.check.js'],
    ['a folder', {}, 'node --test checks/'],
    ['a script', { 'package.json': '{"scripts":{"test":"node --test checks"}}' }, 'npm test'],
  ])('none is missed whose file is named otherwise: by %s', async (_, more: Record<string, string>, command) => {
    makeRepo(repo, { ...more, 'checks/a.check.js': TESTED });
    expect(await notes({ verify: [command] })).not.toContainEqual(expect.stringContaining('no test on the base'));
  });

  test('tests of which nothing can be turned wrong, unless nothing is to be', async () => {
    makeRepo(repo, { 'shop.py': '', 'test_shop.py': 'import shop\n\ndef test_loads():\n    shop\n' });
    const deceived =
      'no test on the base compares with a value, so `challenge` can turn none wrong, and code that deceives `python3 -m unittest` may pass: add one that does, or verify.heldOut';
    expect(await notes({ verify: ['python3 -m unittest'] })).toEqual([deceived]);
    expect(await notes({ verify: { commands: ['python3 -m unittest'], challenge: 'off' } })).toEqual([]);
    write(repo, { 'test_torn.py': 'def test_torn(:\n' });
    git(repo, 'add', '-A');
    git(repo, 'commit', '-qm', 'a file that no parser reads');
    expect(await notes({ verify: ['python3 -m unittest'] })).toEqual([]);
  });

  test('tests that the base skips are tests all the same', async () => {
    makeRepo(repo, {
      'shop_test.go':
        'package shop\n\nimport "testing"\n\nfunc TestSum(t *testing.T) {\n\tt.Skip("later")\n\tif got := Sum(1, 2); got != 3 {\n\t\tt.Fatal(got)\n\t}\n}\n',
    });
    expect((await notes({ verify: ['go test ./...'] })).join('\n')).not.toContain('no test on the base');
  });

  test('tests that compare by ==', async () => {
    makeRepo(repo, { 'a.test.js': TESTED.replace('/strict', ''), 'b.test.js': TESTED });
    expect(await notes({ verify: ['node --test'] })).toEqual([
      "a.test.js compares by == (assert.equal), so '1' passes for 1: node:assert/strict is exact",
    ]);
  });

  test('files that are Git LFS pointers', async () => {
    const pointer = (n: number) =>
      `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(63)}${n}\nsize 12345\n`;
    const files = {
      'm/a.bin': pointer(1),
      'm/b.bin': pointer(2),
      'm/c.txt': 'version https://git-lfs.github.com/spec/v1 is the form\n',
    };
    makeRepo(repo, files);
    expect(await notes()).toEqual([]);
    write(repo, { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n' });
    // Without git-lfs itself: git would call its filter.
    git(repo, '-c', 'filter.lfs.clean=cat', '-c', 'filter.lfs.required=false', 'add', '-A');
    git(repo, 'commit', '-qm', 'lfs');
    expect(await notes()).toEqual([
      'm/a.bin, m/b.bin are Git LFS pointers: the agent and verification have that, not the content',
    ]);
  });
});
