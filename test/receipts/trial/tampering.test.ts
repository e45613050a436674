import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Policy } from '../../../src/domain/repository/repo-policy.ts';
import { acceptance } from '../../../src/receipts/kinds/acceptance.ts';
import { TrialLab } from '../trial-lab.ts';

let lab: TrialLab;
let base: string;

const RIGHT = 'exports.add = (a, b) => a + b;\n';
const WRONG = 'exports.add = (a, b) => a - b;\n';
const TEST = `const { test } = require('node:test');
const { equal } = require('node:assert');
const { add } = require('../src/add');
test('adds', () => equal(add(1, 1), 2));
test('adds nothing', () => equal(add(1, 0), 1));
`;
const BASE = {
  'package.json': '{"name":"calc","version":"1.0.0"}\n',
  'src/add.js': 'exports.add = () => 1;\n',
  'test/add.test.js': TEST.replace(/test\('adds',.*\n/, ''),
  'version.txt': '1\n',
  'gen/list.txt': 'src/add.js\n',
};

beforeEach(() => {
  lab = new TrialLab();
  base = lab.commit(BASE);
});
afterEach(() => lab.remove());

const judged = (files: Record<string, string | null>, policy: Partial<Policy> = {}) =>
  acceptance.collect(
    lab.evidence({ base, commit: lab.commit(files), policy: { verify: ['node --test test/'], ...policy } }),
  );
const SRC = "const fs = require('node:fs'); const at = __dirname + '/../src/";
const LEFT = ['src/__pycache__/a.pyc', '.pytest_cache/v/lastfailed', 'report.xml', 'test/out.txt', 'target/A.class'];
const ANY: Partial<Policy> = { allow: [['**']] };

describe('what a test mends while it runs is not what would be delivered', () => {
  // Files are run in order, each in a process of its own.
  const mends = `${SRC}add.js'; fs.writeFileSync(at, ${JSON.stringify(RIGHT)});\n${TEST}`;
  test.each<[string, Record<string, string | null>, Partial<Policy>, string]>([
    ['the source, as it is loaded', { 'src/add.js': WRONG, 'test/aaa.test.js': mends }, {}, 'src/add.js'],
    ['the source, by a task that may', { 'src/add.js': WRONG, 'test/aaa.test.js': mends }, ANY, 'src/add.js'],
    [
      'the source, and puts it back',
      {
        'src/add.js': WRONG,
        'test/aaa.test.js': `${mends}\nprocess.on('exit', () => { if (!process.env.NEVER) fs.writeFileSync(at, ${JSON.stringify(WRONG)}) });`,
      },
      { ...ANY, verify: ['node test/aaa.test.js'] },
      'src/add.js',
    ],
    [
      'the source, with a link in its place',
      {
        'src/add.js': WRONG,
        'src/right.txt': RIGHT,
        'test/aaa.test.js': `${SRC}add.js'; fs.rmSync(at); fs.symlinkSync('right.txt', at);\n${TEST}`,
      },
      {},
      'src/add.js',
    ],
    [
      'what is imported, by another file that comes first',
      {
        'src/add.js': WRONG.replace('exports', "module.exports = require('./how.json') && exports"),
        'src/how.json': '{}',
        'test/aaa.test.js': `${SRC}how.js'; fs.writeFileSync(at, ''); fs.writeFileSync(at.replace('how', 'add'), ${JSON.stringify(RIGHT)});\n${TEST}`,
      },
      {},
      'src/add.js',
    ],
  ])('%s', async (_what, files, policy, path) => {
    const finding = await judged(files, policy);
    expect(finding).toMatchObject({ ok: false, reason: 'tampered' });
    expect(finding?.summary).toMatch(
      new RegExp(`^changed while it was tested: ${path.replace('.', '\\.')}.*, by \`node `),
    );
  });

  test('by setup', async () => {
    const finding = await judged(
      { 'src/add.js': WRONG, 'tools/x.js': `${SRC}add.js'; fs.writeFileSync(at, ${JSON.stringify(RIGHT)})` },
      {
        setup: ['test ! -e tools/x.js || node tools/x.js'],
      },
    );
    expect(finding).toMatchObject({ ok: false, reason: 'tampered' });
    expect(finding?.summary).toMatch(/src\/add\.js, by `test ! -e/);
  });

  test('with code in the place of other code', async () => {
    const finding = await judged({
      'src/add.mjs': 'export const add = 1;\n',
      'src/add.js': RIGHT,
      'test/aaa.test.js': `${SRC}add.ts'; fs.writeFileSync(at, '');\n${TEST}`,
    });
    expect(finding).toMatchObject({ ok: false, reason: 'tampered', summary: expect.stringContaining('src/add.ts') });
  });
});

describe('what honest commands leave is no fault', () => {
  const sound = { 'src/add.js': RIGHT, 'test/more.test.js': TEST };
  const writes = (what: string) => ({
    ...sound,
    'test/more.test.js': `const fs = require('node:fs'); const top = __dirname + '/../';\n${what}\n${TEST}`,
  });
  test.each<[string, Record<string, string | null>, Partial<Policy>]>([
    [
      'new snapshots, coverage, caches',
      writes(
        `for (const at of ['coverage/lcov.info', 'test/__snapshots__/a.snap', 'src/__pycache__/add.pyc', '.cache/x.js']) { fs.mkdirSync(require('node:path').dirname(top + at), { recursive: true }); fs.writeFileSync(top + at, 'x'); }`,
      ),
      {},
    ],
    ['a lock file that setup writes', sound, { setup: ["echo '{}' > package-lock.json; echo x >> version.txt"] }],
    [
      'a lock file, or go.sum, that a command brings up to date',
      { ...sound, 'sub/package-lock.json': '{}', 'go.sum': 'x\n' },
      { ...ANY, verify: ['echo >> sub/package-lock.json; echo y >> go.sum', 'node --test test/'] },
    ],
    [
      'what the commands write in the base as well',
      { ...sound, 'src/new.js': '' },
      { verify: ['date +%N > version.txt; ls src > gen/list.txt', 'node --test test/'] },
    ],
    [
      'a new file beside those that they write in the base',
      { ...sound, 'gen/more.txt': 'x' },
      { verify: ['for f in gen/*; do date +%N > $f; done', 'node --test test/'] },
    ],
    [
      'a build, with its output beside the source',
      { ...sound, 'src/more.ts': '', 'src/two.ts': '' },
      { verify: ['for f in src/*.js src/*.ts; do [ ! -e $f ] || : > "${f%.*}.cjs"; done', 'node --test test/'] },
    ],
    [
      'a file that a test writes anew as it was',
      { ...sound, 'data/a.json': '{}', ...writes("fs.writeFileSync(top + 'data/a.json', '{}')") },
      {},
    ],
    [
      'a source that is read, and a test folder of its own',
      writes("fs.readFileSync(top + 'src/add.js'); fs.mkdtempSync(top + 'tmp-')"),
      {},
    ],
    [
      'what its own runs left, and the trial writes anew',
      {
        ...sound,
        ...Object.fromEntries(LEFT.map((path) => [path, 'old'])),
        'coverage/lcov-report/sorter.js': 'x',
        'dist/add.js': RIGHT,
      },
      {
        verify: [
          `for f in ${LEFT.join(' ')}; do [ ! -e $f ] || date +%N > $f; done; mkdir -p coverage/lcov-report dist; printf x > coverage/lcov-report/sorter.js; cp src/add.js dist/add.js`,
          'node --test test/',
        ],
      },
    ],
  ])('%s', async (_what, files, policy) => {
    const finding = await judged(files, policy);
    expect(finding?.ok || finding?.summary).toBe(true);
  });
});
