import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Candidate } from '../../src/domain/list/compare.ts';
import { agent, git, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';
import { usageCoder } from '../helpers/usage-coder.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

let fleet: TestFleet;
const coders = {
  ...{ cheap: usageCoder(100, 10, 0.1), dear: usageCoder(2_000, 200, 0.5), fail: usageCoder(500, 50, 'fail') },
  ...{ one: agent('wait-for-file.sh'), two: agent('wait-for-file.sh'), three: agent('wait-for-file.sh') },
};

beforeAll(async () => {
  fleet = await TestFleet.start();
  await fleet.worker('compare', { worker: { slots: 6 }, coders });
});
afterAll(() => fleet[Symbol.asyncDispose]());

interface Compared {
  id: string;
  candidates: Candidate[];
  winner: string | null;
  branch: string | null;
  dropped: string[];
}
const compare = async (...args: string[]) => {
  const { stdout, stderr, code } = await fleet.cli(['compare', '--json', ...args]);
  return { code, stderr, ...(stdout ? (JSON.parse(stdout) as Compared) : { candidates: [] as Candidate[] }) };
};
const head = (repo: string, ref: string) => git(repo, 'rev-parse', ref);
const tasks = async () => (await fleet.fleet.list({ all: true })).length;

test('the accepted one that cost least is the best, and is delivered once; the others stay until they are dropped', async () => {
  const repo = await fleet.repo('best');
  const args = ['Make it', '--coders', 'dear,cheap:m1,fail', '--repo', repo, '--max-attempts', '1', '--id', 'cmp'];
  const first = await compare(...args, '--best');
  expect(first).toMatchObject({
    ...{ code: 0, id: 'cmp', winner: 'cmp-cheap-m1', branch: 'fleet/cmp', dropped: [] },
    candidates: [
      { spec: 'dear', accepted: true, tokens: 2_200, costUsd: 0.5, files: 1, lines: { added: 1, removed: 0 } },
      { spec: 'cheap:m1', model: 'm1', accepted: true, tokens: 110, costUsd: 0.1, attempts: 1 },
      { spec: 'fail', accepted: false, state: 'parked', reason: 'fabricated', unpricedTokens: 550, branch: null },
    ],
  });
  expect(await head(repo, 'fleet/cmp')).toBe(await head(repo, 'fleet/cmp-cheap-m1'));
  expect(await head(repo, 'fleet/cmp-dear')).not.toBe(await head(repo, 'fleet/cmp'));
  const count = await tasks();

  const again = await fleet.cli(['compare', '--id', 'cmp', '--best', '--drop']);
  expect(again.code).toBe(0);
  expect(again.stdout).toMatch(/^ +dear +default-model +accepted +1 .*\$0\.50 +1 +\+1 -0/m);
  expect(again.stdout).toMatch(/^\* +cheap:m1 +m1 +accepted/m);
  expect(again.stdout).toContain('best: cheap:m1, delivered to branch fleet/cmp\nremoved: fleet/cmp-dear');
  expect(await tasks()).toBe(count);
  expect((await git(repo, 'branch', '--list', 'fleet/*')).split('\n').map((line) => line.trim())).toEqual([
    'fleet/cmp',
    'fleet/cmp-cheap-m1',
  ]);
});

test('a repository that is a URL gets the winner as a branch too', async () => {
  const repo = await fleet.repo('remote');
  const url = `file://${repo}`;
  const end = await compare('Make it', '--coders', 'dear,cheap', '--repo', url, '--id', 'far', '--best', '--drop');
  expect(end).toMatchObject({ code: 0, winner: 'far-cheap', branch: 'fleet/far', dropped: ['fleet/far-dear'] });
  expect(await head(repo, 'fleet/far')).toBe(await head(repo, 'fleet/far-cheap'));
});

test('killed in the middle and run again: the same tasks, and a new one from the same base', async () => {
  const repo = await fleet.repo('killed');
  const base = await head(repo, 'HEAD');
  const args = ['compare', 'Wait for it', '--repo', repo, '--id', 'again', '--json', '--coders'];
  const env = { ...fleet.server.env, FLEET_HOME: `${fleet.root}/client` };
  const first = spawn(process.execPath, [MAIN, ...args, 'one,two'], { env, stdio: 'ignore' });
  await fleet.running('again-one');
  first.kill('SIGKILL');
  await once(first, 'exit');
  await writeFile(`${repo}/later.txt`, 'later');
  await git(repo, 'add', '-A');
  await git(repo, '-c', 'user.name=T', '-c', 'user.email=t@localhost', 'commit', '-qm', 'Later');

  const second = fleet.cli([...args, 'one,two,three']);
  for (const id of ['again-one', 'again-two', 'again-three']) {
    const { work } = await fleet.running(id);
    await writeFile(`${work}/go`, '');
  }
  const { stdout, code } = await second;
  expect(code).toBe(0);
  const { candidates } = JSON.parse(stdout) as Compared;
  expect(candidates.map(({ id, accepted, attempts }) => ({ id, accepted, attempts }))).toEqual(
    ['again-one', 'again-two', 'again-three'].map((id) => ({ id, accepted: true, attempts: 1 })),
  );
  for (const { branch } of candidates) expect(await head(repo, `${branch}~1`)).toBe(base);
  const other = await fleet.cli(['compare', 'Something else', '--repo', repo, '--id', 'again', '--coders', 'one,two']);
  expect(other).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('comparison again is there already, with another objective'),
  });
});

test('none accepted: nothing is delivered, and the exit code says so', async () => {
  const repo = await fleet.repo('none');
  const end = await compare(
    ...['Make it', '--coders', 'fail,cheap', '--repo', repo, '--verify', 'false', '--max-attempts', '1', '--best'],
  );
  expect(end).toMatchObject({ code: 1, winner: null, branch: null });
  expect(end.stderr).toMatch(/comparison make-it-[0-9a-f]{6}: fleet compare --id make-it-/);
  expect(await git(repo, 'branch', '--list', 'fleet/*')).toBe('');
});

test.each([
  [['x', '--coders', 'cheap,nobody'], /coder nobody is unknown/],
  [['x', '--coders', 'cheap,dear,cheap'], /--coders must name each coder once: cheap is there twice/],
  [['x', '--coders', 'cheap'], /--coders must name two coders or more/],
  [['x', '--coders', 'cheap,'], /--coders must be coders, such as claude, or codex:o3: an empty one is none/],
  [['x'], /--coders is required/],
  [['--coders', 'cheap,dear'], /objective is required/],
  [['--id', 'nothing-there'], /there is no comparison nothing-there/],
  [['x', '--coders', 'cheap,dear', '--drop'], /--drop needs --best/],
  [['x', '--coders', 'cheap,dear', '--id', 'No'], /--id must be lower-case words/],
])('%j is refused, and nothing is started', async (args, said) => {
  const repo = await until(async () => fleet.repo(`bad-${Math.random()}`));
  const before = await tasks();
  const { code, stderr } = await fleet.cli(['compare', ...args, '--repo', repo]);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(said) });
  expect(await tasks()).toBe(before);
});
