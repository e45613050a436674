import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { git, TestFleet } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let url: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  const shop = await fleet.repo('shop', { 'note.txt': 'hi\n' });
  await git(fleet.root, 'clone', '-q', '--bare', shop, `${fleet.root}/shop.git`);
  url = `file://${fleet.root}/shop.git`;
  await fleet.worker('one', {
    worker: { slots: 1 },
    coders: { own: { command: ['sh', '-c', 'echo made > own.txt'], protocol: 'none' } },
  });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const enqueue = (input: Partial<TaskInput>): Promise<string> =>
  fleet.fleet.enqueue({ objective: 'Add made.txt', repo: url, for: 'jean', verify: ['test -f made.txt'], ...input });
const stateIs = (id: string, state: string) => until(async () => (await fleet.fleet.view(id)).state === state);
const offered = (id: string) => until(async () => (await fleet.fleet.view(id)).message?.startsWith('waits for '));
const hold = async (id: string, leaseMs = 600_000) => {
  await offered(id);
  return fleet.fleet.claimFor(id, { as: 'jean', leaseMs });
};

/** What an agent somewhere else does: clones, commits on top of `from`, pushes a branch. Gives the commit. */
async function work(name: string, file: string, from = 'origin/main'): Promise<string> {
  const clone = `${fleet.root}/clone-${name}`;
  if (!existsSync(clone)) await git(fleet.root, 'clone', '-q', `${fleet.root}/shop.git`, clone);
  await git(clone, 'fetch', '-q', 'origin');
  await git(clone, 'switch', '-q', '-C', `jean/${name}`, from);
  await writeFile(`${clone}/${file}`, `by jean for ${name}\n`);
  await git(clone, 'add', '-A');
  await git(clone, '-c', 'user.name=Jean', '-c', 'user.email=jean@x', 'commit', '-q', '-m', `Add ${file}`);
  await git(clone, 'push', '-q', '-f', 'origin', `jean/${name}`);
  return git(clone, 'rev-parse', 'HEAD');
}

describe('a task for an agent outside the fleet', () => {
  test.concurrent('waits without a slot, is held, verified by a worker, and delivered with its own commits', async () => {
    const id = await enqueue({
      context: 'see p',
      scope: { allow: ['made.txt'] },
      verify: { commands: ['test -f made.txt'], heldOut: [] },
    });
    await offered(id);
    // A free slot is there, and used by others.
    const other = await fleet.fleet.enqueue({ objective: 'x', repo: url, coder: 'own' });
    expect(await fleet.settled(other)).toMatchObject({ state: 'done' });
    expect((await fleet.fleet.explain(id)).sentence).toBe(
      `it is for jean, an agent outside the fleet, and no worker claims it (waits for jean): fleet claim ${id} --as jean`,
    );
    const listed = await until(async () => (await fleet.fleet.listFor('jean')).find((report) => report.id === id));
    expect(listed).toMatchObject({ state: 'queued', for: 'jean', runs: [] });

    const held = await fleet.cli(['claim', id, '--as', 'jean', '--lease', '10m']);
    expect(held.stdout).toMatch(
      new RegExp(
        `^jean holds task ${id} until 20.*\nwork on ${url}, from [0-9a-f]{40}\n\nAdd made.txt\n\nWhat is known already:\nsee p\n\nIn a fresh .*:\n  test -f made.txt\n\nOnly .*:\n  made.txt$`,
      ),
    );
    expect(await fleet.fleet.view(id)).toMatchObject({ state: 'running', outside: { as: 'jean' } });
    const commit = await work('delivered', 'made.txt');
    const handed = await fleet.cli([
      'complete',
      id,
      '--as',
      'jean',
      '--branch',
      'jean/delivered',
      '--result',
      'made',
      '--wait',
    ]);
    expect(handed).toMatchObject({ code: 0, stdout: `task ${id} is done: the result is on branch fleet/${id}` });

    const done = await fleet.settled(id);
    expect(done).toMatchObject({ state: 'done', commit, outside: null, attempts: { used: 1 } });
    expect(done.runs).toMatchObject([{ coder: 'outside:jean', reason: null, exitCode: null }]);
    expect(done.receipts.map(({ kind, summary }) => [kind, summary.replace(commit.slice(0, 12), 'C')])).toEqual([
      ['exit', 'not seen: jean works outside the fleet and handed in C (refs/heads/jean/delivered)'],
      ['git', '1 commit, 1 file (1 added)'],
      ['scope', expect.any(String)],
      ['acceptance', expect.any(String)],
    ]);
    expect(await git(`${fleet.root}/shop.git`, 'log', '-1', '--format=%an %s', `fleet/${id}`)).toBe(
      'Jean Add made.txt',
    );
  });

  test.concurrent('comes back with the reasons where it is rejected, and is parked at the cap', async () => {
    const id = await enqueue({ retry: { maxAttempts: 2 } });
    await hold(id);
    const commit = await work('rejected', 'wrong.txt');
    const handed = await fleet.cli(['complete', id, '--as', 'jean', '--commit', commit, '--result', 'x', '--wait']);
    expect(handed).toMatchObject({ code: 1 });
    expect(handed.stdout).toMatch(/^task \S+ is queued: waits for jean \(not accepted: acceptance: /);
    expect(await fleet.fleet.view(id)).toMatchObject({ state: 'queued', attempts: { used: 1 }, handedIn: null });
    expect((await hold(id)).outside?.notAccepted).toMatch(/^acceptance: /);
    await fleet.fleet.completeFor(id, { as: 'jean', result: 'the same', commit });
    expect(await fleet.settled(id)).toMatchObject({
      state: 'parked',
      reason: 'receipts-rejected',
      attempts: { used: 2 },
    });
    // A person sends it back: it waits for jean again.
    await fleet.fleet.retry(id, 'the file is called made.txt');
    expect((await hold(id)).decision).toMatchObject({ why: 'the file is called made.txt' });
    await fleet.fleet.completeFor(id, { as: 'jean', result: 'ok', commit: await work('rejected', 'made.txt', 'HEAD') });
    expect(await fleet.settled(id)).toMatchObject({ state: 'done' });
  });

  test.concurrent('a commit that is not there, or does not stand on the base, is an attempt with a sentence', async () => {
    const id = await enqueue({});
    await hold(id);
    await fleet.fleet.completeFor(id, { as: 'jean', result: 'x', commit: 'c'.repeat(40) });
    const waits = (what: string) => until(async () => (await fleet.fleet.view(id)).message?.includes(what));
    await waits(`has no branch, tag or commit ${'c'.repeat(40)}`);
    await hold(id);
    const clone = `${fleet.root}/clone-orphan`;
    await git(fleet.root, 'clone', '-q', `${fleet.root}/shop.git`, clone);
    await git(clone, 'switch', '-q', '--orphan', 'jean/orphan');
    await writeFile(`${clone}/made.txt`, 'x\n');
    await git(clone, 'add', '-A');
    await git(clone, '-c', 'user.name=J', '-c', 'user.email=j@x', 'commit', '-q', '-m', 'Alone');
    await git(clone, 'push', '-q', 'origin', 'jean/orphan');
    await fleet.fleet.completeFor(id, { as: 'jean', result: 'x', commit: 'jean/orphan' });
    await waits("does not stand on the task's base");
    expect(await fleet.fleet.view(id)).toMatchObject({ state: 'queued', attempts: { used: 2 } });
    await fleet.fleet.cancel(id);
  });

  test.concurrent('a lease that is not renewed ends by itself; a renewed one goes on', async () => {
    const id = await enqueue({});
    const first = await hold(id, 10_000);
    const renewed = await fleet.fleet.claimFor(id, { as: 'jean', leaseMs: 20_000 });
    expect(Date.parse(renewed.outside!.until)).toBeGreaterThan(Date.parse(first.outside!.until));
    // More than half of it is left: that is good news, and leaves nothing in the task's history.
    const { historyLength } = await fleet.client.workflow.getHandle(id).describe();
    const again = await fleet.fleet.claimFor(id, { as: 'jean', leaseMs: 20_000 });
    expect(again.outside).toEqual(renewed.outside);
    expect((await fleet.client.workflow.getHandle(id).describe()).historyLength).toBe(historyLength);
    await until(async () => (await fleet.fleet.view(id)).message?.includes('whose lease ended at'));
    const { state, outside, message } = await fleet.fleet.view(id);
    expect({ state, outside }).toEqual({ state: 'queued', outside: null });
    expect(message).toBe(`waits for jean, whose lease ended at ${renewed.outside!.until}`);
    await expect(fleet.fleet.completeFor(id, { as: 'jean', result: 'x', commit: 'main' })).rejects.toThrow(
      `task ${id}: the lease of jean ended at ${renewed.outside!.until}: claim it again`,
    );
    await fleet.fleet.cancel(id);
  });

  test.concurrent('what cannot be is refused with one sentence', async () => {
    const id = await enqueue({});
    await offered(id);
    const said = async (...args: string[]) => {
      const { code, stderr } = await fleet.cli(args);
      return { code, said: stderr.replaceAll(id, 'ID').split('\n')[0] };
    };
    const wrong = (text: string) => ({ code: 2, said: `fleet: ${text}` });
    expect(await said('claim', id, '--as', 'bob')).toEqual(wrong('task ID: it is for jean, not for bob'));
    expect(await said('fail', id, '--as', 'jean', '--why', 'no')).toEqual(
      wrong('task ID: jean does not hold it, as it is queued: claim it first'),
    );
    await fleet.fleet.claimFor(id, { as: 'jean' });
    expect(await said('complete', id, '--as', 'jean', '--result', 'done')).toEqual(
      wrong('task ID: it is of type code: name the commit, or the branch, that has the work'),
    );
    const commit = await work('twice', 'made.txt');
    await fleet.fleet.completeFor(id, { as: 'jean', result: 'x', commit });
    expect((await said('complete', id, '--as', 'jean', '--result', 'y', '--commit', commit)).said).toMatch(
      /^fleet: task ID(: it was handed in by jean already, and is [a-z-]+| is done already)$/,
    );
    await fleet.settled(id);
    expect(await said('claim', id, '--as', 'jean')).toEqual(wrong('task ID is done already'));

    const ordinary = await fleet.fleet.enqueue({ objective: 'x', repo: url, approval: 'before-run' });
    await stateIs(ordinary, 'awaiting-approval');
    expect((await fleet.cli(['claim', ordinary, '--as', 'jean'])).stderr).toContain(
      'it is for no agent outside the fleet: workers claim it',
    );
    await fleet.fleet.cancel(ordinary);
  });

  test.concurrent('it starts from the result of the task that it depends on', async () => {
    const first = await fleet.fleet.enqueue({ objective: 'x', repo: url, coder: 'own' });
    const id = await enqueue({ dependsOn: [first] });
    const { commit: result } = await fleet.settled(first);
    expect((await hold(id)).base).toBe(result);
    const commit = await work('after', 'made.txt', result!);
    await fleet.fleet.completeFor(id, { as: 'jean', result: 'x', commit });
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', base: result, commit });
  });

  test.concurrent('failing parks it for a person, with the reason', async () => {
    const id = await enqueue({});
    await hold(id);
    await fleet.cli(['fail', id, '--as', 'jean', '--why', 'the service has no router']);
    expect(await fleet.settled(id)).toMatchObject({
      ...{ state: 'parked', reason: 'blocked-by-agent' },
      message: 'jean says that it failed: the service has no router',
    });
    await fleet.fleet.giveUp(id);
  });
});

test('a worker that is lost in the middle of a verification: the same commit is verified again, and nobody need come back', async () => {
  const lease = { heartbeat: '2s', grace: '30s', selfKill: '15s' };
  const coders = { own: { command: ['true'], protocol: 'none' as const } };
  const on = { worker: { queues: ['lost'], slots: 1 }, queues: ['lost'], coders };
  const first = await fleet.worker('lost-a', { ...on, lease });
  const go = `${fleet.root}/lost-go`;
  const id = await enqueue({ queue: 'lost', verify: [`until test -e ${go}; do sleep 0.05; done; test -f made.txt`] });
  await hold(id);
  const commit = await work('lost', 'made.txt');
  await fleet.fleet.completeFor(id, { as: 'jean', result: 'x', commit });
  await until(async () => (await strays(go)).length > 0);
  await first.stop('SIGKILL');
  await writeFile(go, '');
  await fleet.worker('lost-b', { ...on, lease });
  const done = await fleet.settled(id, 110_000);
  expect(done).toMatchObject({ state: 'done', commit, attempts: { used: 1 } });
  expect(done.runs.map(({ reason }) => reason)).toEqual(['host-lost', null]);
});
