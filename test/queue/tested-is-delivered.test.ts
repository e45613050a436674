import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { git, TestFleet } from '../helpers/fleet.ts';
import { doing, scripted } from '../helpers/scripted.ts';

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.start();
  await fleet.worker('one', { worker: { slots: 4 }, coders: { scripted } });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const TEST = `const { test } = require('node:test');
const { equal } = require('node:assert/strict');
const { sum, times } = require('../src/calc.js');
test('adds', () => equal(sum(2, 3), 5));
test('multiplies', () => equal(times(2, 3), 6));
`;
const FILES = {
  'src/calc.js': 'exports.sum = (a, b) => a + b;\nexports.times = (a, b) => a + b;\n',
  'test/calc.test.js': TEST,
  '.fleet.yaml': 'verify: [node --test]\n',
};
const FIX = "sed -i 's/times.*/times = (a, b) => a * b;/' src/calc.js";
const BREAK = "sed -i 's/sum = .*/sum = () => 7;/' src/calc.js";
const WEAKEN = "sed -i 's/, 5)/, 7)/' test/calc.test.js; echo \"verify: ['true']\" > .fleet.yaml";

async function remote(name: string): Promise<{ bare: string; repo: string }> {
  const from = await fleet.repo(`${name}-from`, FILES);
  const bare = `${fleet.root}/${name}.git`;
  await git(fleet.root, 'clone', '-q', '--bare', from, bare);
  return { bare, repo: `file://${bare}` };
}
const run = async (script: string, input: Partial<TaskInput>) =>
  fleet.settled(
    await fleet.fleet.enqueue({
      ...{ objective: doing(script), coder: 'scripted', retry: { maxAttempts: 1 } },
      ...input,
    }),
  );
const REJECTED = { state: 'parked', reason: 'receipts-rejected' };

test.concurrent('a merge that weakens a test does not weaken the target', async () => {
  const { bare, repo } = await remote('merged');
  const first = await run(`${FIX}; ${WEAKEN}`, { repo, deliver: 'merge' });
  expect(first).toMatchObject({ state: 'done', merged: { into: 'main' } });
  const show = (path: string) => git(bare, 'show', `main:${path}`);
  expect([await show('test/calc.test.js'), await show('.fleet.yaml')]).toEqual([
    TEST.trim(),
    FILES['.fleet.yaml'].trim(),
  ]);
  expect(await show('src/calc.js')).toContain('a * b');
  // What the agent made of it stays in the history.
  expect(await git(bare, 'show', `${first.commit}^:test/calc.test.js`)).toContain(', 7)');
  expect(await git(bare, 'log', '-1', '--format=%s', first.commit!)).toBe('Restore 2 protected files');
  const second = await run(BREAK, { repo, deliver: 'merge' });
  expect(second).toMatchObject(REJECTED);
  expect(await run("echo '// well' >> src/calc.js", { repo, deliver: 'merge' })).toMatchObject({ state: 'done' });
});

test.concurrent('a dependant gains nothing by what its dependency did to tests and rules', async () => {
  const { bare, repo } = await remote('depended');
  const first = await run(`${FIX}; ${WEAKEN}; rm -r test`, { repo });
  expect(first).toMatchObject({ state: 'done' });
  expect(await run(BREAK, { repo, dependsOn: [first.id] })).toMatchObject(REJECTED);
  expect(first.runs[0]!.receipts).toContainEqual(
    expect.objectContaining({ summary: expect.stringContaining('with .fleet.yaml, test/calc.test.js as in the base') }),
  );
  const honest = await run("echo '// well' >> src/calc.js", { repo, dependsOn: [first.id] });
  expect(honest).toMatchObject({ state: 'done' });
  expect(await git(bare, 'ls-tree', '-r', '--name-only', honest.commit!)).toContain('test/calc.test.js');
});

test.concurrent('a run that was rejected is gone on from as its agent left it; a yes delivers what was judged', async () => {
  const { bare, repo } = await remote('resumed');
  const going = `if test -e mark; then cat test/calc.test.js > seen; printf %s "$prompt" > told; ${FIX}; else touch mark; ${WEAKEN}; fi`;
  const on = await run(going, { repo, retry: { maxAttempts: 2 }, resume: true });
  expect(on).toMatchObject({ state: 'done', runs: [{ reason: 'receipts-rejected' }, { reason: null }] });
  const show = (commit: string | null | undefined, path: string) => git(bare, 'show', `${commit}:${path}`);
  expect(await show(on.commit, 'seen')).toContain(', 7)');
  expect(await show(on.commit, 'told')).toContain('.fleet.yaml, test/calc.test.js as in the base');
  expect(await show(on.commit, 'test/calc.test.js')).toBe(TEST.trim());

  const parked = await run(`touch more; ${WEAKEN}`, { repo });
  expect(parked).toMatchObject(REJECTED);
  await fleet.cli(['task', parked.id, 'accept', '--why', 'Fine']);
  const taken = await fleet.settled(parked.id);
  expect(taken).toMatchObject({ state: 'done' });
  expect(await show(taken.commit, 'test/calc.test.js')).toBe(TEST.trim());
});
