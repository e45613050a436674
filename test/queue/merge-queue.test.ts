import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { git, TestFleet } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { doing, scripted } from '../helpers/scripted.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.start();
  await fleet.worker('one', { worker: { slots: 6 }, coders: { scripted } });
});
afterAll(() => fleet[Symbol.asyncDispose]());

/** A bare repository by URL. */
async function remote(name: string, files: Record<string, string>): Promise<{ bare: string; repo: string }> {
  const from = await fleet.repo(`${name}-from`, files);
  const bare = `${fleet.root}/${name}.git`;
  await git(fleet.root, 'clone', '-q', '--bare', from, bare);
  return { bare, repo: `file://${bare}` };
}
const merge = (script: string, input: Partial<TaskInput>): Promise<string> =>
  fleet.fleet.enqueue({ objective: doing(script), coder: 'scripted', deliver: 'merge', ...input });
const settled = (ids: readonly string[]) => Promise.all(ids.map((id) => fleet.settled(id)));
/** How often the target's history has a merge of each task. */
const merges = async (repo: string, ids: readonly string[], target = 'main'): Promise<number[]> => {
  const log = await git(repo, 'log', '--first-parent', '--format=%s', target);
  return ids.map((id) => log.split('\n').filter((line) => line === `Merge fleet/${id} into ${target}`).length);
};

describe('the merge queue', () => {
  test.concurrent('merges each result once, into the default branch, and checks what comes of it', async () => {
    const { bare, repo } = await remote('each', { 'a.txt': 'a\n', '.fleet.yaml': 'verify: [test -e a.txt]\n' });
    const names = ['one', 'two', 'three', 'four'];
    const ids = await Promise.all(
      names.map((name) => merge(`echo ${name} > ${name}.txt`, { repo, verify: [`test -s ${name}.txt`] })),
    );
    const reports = await settled(ids);
    expect(reports.map(({ state, merge: place }) => [state, place])).toEqual(ids.map(() => ['done', null]));
    expect(await merges(bare, ids)).toEqual([1, 1, 1, 1]);
    expect(await git(bare, 'ls-tree', '--name-only', 'main')).toBe(
      '.fleet.yaml\na.txt\nfour.txt\none.txt\nthree.txt\ntwo.txt',
    );
  });

  test.concurrent('two that are only wrong together: the later one is told, and goes on from the target', async () => {
    const files = { 'x.txt': 'x\n', '.fleet.yaml': "verify: ['! { test -e a.txt && test -e b.txt; }']\n" };
    const { bare, repo } = await remote('together', files);
    const one = (mine: string, other: string) =>
      `if test -e ${other}.txt; then rm -f ${mine}.txt; echo ok > ${mine}.else; else echo ${mine} > ${mine}.txt; fi`;
    const ids = await Promise.all([
      merge(one('a', 'b'), { repo }),
      merge('echo c > c.txt', { repo }),
      merge(one('b', 'a'), { repo }),
      merge('echo d > d.txt', { repo }),
    ]);
    const reports = await settled(ids);
    expect(reports.map(({ state }) => state)).toEqual(ids.map(() => 'done'));
    expect(await merges(bare, ids)).toEqual([1, 1, 1, 1]);
    const [second, ...none] = reports.filter(({ runs }) => runs.length === 2);
    expect(none).toEqual([]);
    expect(second!.runs[0]).toMatchObject({ reason: 'merge-failed', counts: false });
    expect(second!.runs[0]!.message).toMatch(/^merged with main \([0-9a-f]{12}\), it does not pass: /);
    expect(second!.runs[1]).toMatchObject({ reason: null, resumedFrom: second!.runs[0]!.runId });
    // What it made since is on the target's commit, and only its own.
    expect(await git(bare, 'diff', '--name-only', `${second!.base}..${second!.commit}`)).toMatch(/^[ab]\.else$/);
  });

  test.concurrent('a conflict goes back once with both sides marked; the second time it is parked', async () => {
    const { bare, repo } = await remote('conflict', { 'a.txt': 'a\n' });
    const both = "if grep -q '<<<<<<<' a.txt; then sed -i '/^[<=>]\\{7\\}/d' a.txt; else echo NAME > a.txt; fi";
    const first = await merge(both.replace('NAME', 'first'), { repo });
    const base = await git(bare, 'rev-parse', 'main');
    await fleet.settled(first);
    const second = await merge(both.replace('NAME', 'second'), { repo, base });
    const report = await fleet.settled(second);
    expect(report).toMatchObject({ state: 'done', runs: [{ reason: 'merge-failed' }, { reason: null }] });
    expect(report.runs[0]!.message).toMatch(/^it conflicts with main \([0-9a-f]{12}\) in a\.txt/);
    expect(await git(bare, 'show', 'main:a.txt')).toBe('first\nsecond');
    expect(await merges(bare, [first, second])).toEqual([1, 1]);

    // Somebody changes the target again while it is at work on that.
    const go = `${fleet.root}/conflict-go`;
    const wait = `case $FLEET_RUN in 2-*) until test -e ${go}; do sleep 0.05; done;; esac`;
    const third = await merge(`echo mine-$FLEET_RUN > a.txt; ${wait}`, { repo, base });
    await fleet.running(third, 2);
    await push(bare, 'other\n');
    await writeFile(go, '');
    const parked = await fleet.settled(third);
    expect(parked).toMatchObject({ state: 'parked', reason: 'merge-failed' });
    expect(parked.runs.map(({ reason }) => reason)).toEqual(['merge-failed', 'merge-failed']);
  });

  test.concurrent('a result that has no commit in common with the target is made again from the target', async () => {
    const { bare, repo } = await remote('unrelated', { 'a.txt': 'a\n' });
    const author = ['-c', 'user.name=T', '-c', 'user.email=t@localhost'];
    const alone = await git(bare, ...author, 'commit-tree', 'main^{tree}', '-m', 'Alone');
    await git(bare, 'branch', 'alone', alone);
    const id = await merge('echo more > more.txt', { repo, base: 'alone', into: 'main' });
    const { state, runs } = await fleet.settled(id);
    expect([state, runs.map(({ reason }) => reason)]).toEqual(['done', ['merge-failed', null]]);
    expect(runs[0]!.message).toMatch(
      /^it conflicts with main \([0-9a-f]{12}\) in all of it: the two have no commit in/,
    );
    expect(await git(bare, 'log', '--format=%H', 'main')).not.toContain(alone);
  });

  test.concurrent('each task knows its place; one that is cancelled leaves, also while it is being checked', async () => {
    const go = `${fleet.root}/places-go`;
    const held = `test ! -e later.txt || until test -e ${go}; do sleep 0.05; done`;
    const { bare, repo } = await remote('places', { 'a.txt': 'a\n', '.fleet.yaml': `verify: ['${held}']\n` });
    const base = await git(bare, 'rev-parse', 'main');
    await push(bare, 'a\n', 'later.txt');
    const make = (name: string) => merge(`echo ${name} > ${name}.txt`, { repo, base });
    const first = await make('b');
    const before = await until(() => merging('places'));
    const ids = [first, await make('c'), await make('d')];
    const views = () => Promise.all(ids.map((id) => fleet.fleet.view(id)));
    const placed = await until(async () => {
      const all = await views();
      return all.every(({ merge: at }) => at) && all;
    });
    expect(placed.map(({ state }) => state)).toEqual(ids.map(() => 'awaiting-checks'));
    expect(placed.map(({ merge: at }) => at!.place).sort((a, b) => a - b)).toEqual([1, 2, 3]);
    expect(placed[0]!.merge).toEqual({ into: 'main', place: 1 });
    const { stdout } = await fleet.cli(['merges']);
    for (const id of ids) expect(stdout).toContain(id);
    expect((await fleet.cli(['task', first])).stdout).toMatch(/Merge +place 1 in the merge queue of main/);

    await fleet.fleet.cancel(first);
    await until(async () => (await fleet.fleet.view(first)).state === 'cancelled');
    // What is under way is begun anew without it.
    await until(async () => ![undefined, before].includes(await merging('places')));
    await writeFile(go, '');
    expect((await settled(ids)).map(({ state }) => state)).toEqual(['cancelled', 'done', 'done']);
    expect(await merges(bare, ids)).toEqual([0, 1, 1]);
    expect(await git(bare, 'branch', '--list', `fleet/${first}`)).toBe('');
  });

  test.concurrent('goes on where the workers of the queue that asked first have left', async () => {
    const { bare, repo } = await remote('left', { 'a.txt': 'a\n' });
    const other = await fleet.worker('other', { worker: { queues: ['other'] }, coders: { scripted } });
    const first = await merge('echo x > x.txt', { repo, queue: 'other' });
    expect(await fleet.settled(first)).toMatchObject({ state: 'done' });
    await other.stop();
    const second = await merge('echo y > y.txt', { repo });
    expect(await fleet.settled(second)).toMatchObject({ state: 'done' });
    expect(await merges(bare, [first, second])).toEqual([1, 1]);
  });

  test.concurrent('a path repository: into a branch that nobody has checked out, and into no other', async () => {
    const repo = await fleet.repo('path');
    await git(repo, 'branch', 'integration');
    await expect(merge('echo x > x.txt', { repo })).rejects.toThrow(
      /^main is checked out in .*\/path, which the fleet/,
    );
    await expect(merge('echo x > x.txt', { repo, into: 'gone' })).rejects.toThrow(/has no branch gone/);
    const head = await git(repo, 'rev-parse', 'main');
    const id = await merge('echo x > x.txt', { repo, into: 'integration', verify: ['test -s x.txt'] });
    expect(await fleet.settled(id)).toMatchObject({ state: 'done' });
    expect(await merges(repo, [id], 'integration')).toEqual([1]);
    expect(await git(repo, 'rev-parse', 'main')).toBe(head);
    expect(await git(repo, 'status', '--porcelain')).toBe('');

    // Checked out after it was enqueued.
    const late = await merge('git worktree list > /dev/null; echo y > y.txt', { repo, into: 'integration' });
    await git(repo, 'worktree', 'add', '-q', `${fleet.root}/path-held`, 'integration');
    const parked = await fleet.settled(late);
    expect(parked).toMatchObject({ state: 'parked', reason: 'repo-unavailable' });
    expect(parked.message).toContain('is checked out in');
    // Once that is mended, the same result goes on.
    await git(repo, 'worktree', 'remove', `${fleet.root}/path-held`);
    await fleet.fleet.accept(late, 'it is free again');
    const done = await until(async () => {
      const view = await fleet.fleet.view(late);
      return view.state === 'done' && view;
    });
    expect(done).toMatchObject({
      merged: { into: 'integration', commit: await git(repo, 'rev-parse', 'integration') },
    });
    expect(done.runs).toHaveLength(1);
    expect(await merges(repo, [late], 'integration')).toEqual([1]);
  });

  test.concurrent('a target that somebody checks out while results are checked is not moved under them', async () => {
    const go = `${fleet.root}/switched-go`;
    const repo = await fleet.repo('switched');
    const base = await git(repo, 'rev-parse', 'main');
    await git(repo, 'switch', '-q', '-c', 'integration');
    await writeFile(`${repo}/later.txt`, '');
    await git(repo, 'add', '-A');
    await git(repo, '-c', 'user.name=J', '-c', 'user.email=j@x', 'commit', '-q', '-m', 'Later');
    await git(repo, 'switch', '-q', 'main');
    // Where it is merged: only there is that file.
    const held = `test ! -e later.txt || until test -e ${go}; do sleep 0.05; done`;
    const id = await merge('echo x > x.txt', { repo, base, into: 'integration', verify: [held] });
    await until(async () => (await strays(go)).length > 0);
    await git(repo, 'worktree', 'add', '-q', `${fleet.root}/switched-held`, 'integration');
    await writeFile(go, '');
    const parked = await fleet.settled(id);
    expect(parked).toMatchObject({ state: 'parked', reason: 'repo-unavailable' });
    expect(parked.message).toContain('integration is checked out in');
    expect(await git(`${fleet.root}/switched-held`, 'status', '--porcelain')).toBe('');
  });

  test.concurrent('one whose checks make no sense on the target any more holds up no other', async () => {
    const proved = 'verify: [test -e a.txt]\n';
    const { bare, repo } = await remote('misfit', { 'a.txt': 'a\n', '.fleet.yaml': proved });
    const [misfit, other] = await Promise.all([
      merge('echo x > x.txt', { repo, verify: { retries: 1 }, approval: 'before-deliver' }),
      merge('echo y > y.txt', { repo, approval: 'before-deliver' }),
    ]);
    for (const id of [misfit, other])
      await until(async () => (await fleet.fleet.view(id)).state === 'awaiting-approval');
    await push(bare, 'limits: { total: 1h }\n', '.fleet.yaml');
    for (const id of [misfit, other]) await fleet.fleet.approve(id, { by: 'jo', why: '' });
    expect(await fleet.settled(other)).toMatchObject({ state: 'done' });
    const parked = await fleet.settled(misfit);
    expect(parked).toMatchObject({ state: 'parked', reason: 'repo-unavailable' });
    expect(parked.message).toMatch(/verify\.retries/);
    expect(await merges(bare, [other, misfit])).toEqual([1, 0]);
  });
});

/** What the queue of that repository has under way. */
async function merging(name: string): Promise<string | undefined> {
  for await (const { workflowId } of fleet.client.workflow.list({ query: "WorkflowType = 'mergeQueue'" })) {
    if (!workflowId.startsWith(`merge/${name}-`)) continue;
    const pending = await fleet.pending(workflowId);
    return pending?.started ? pending.activityId : undefined;
  }
  return undefined;
}

/** As a person who pushes to main. */
async function push(bare: string, text: string, file = 'a.txt'): Promise<void> {
  const dir = `${bare}-clone-${Date.now()}`;
  await git(fleet.root, 'clone', '-q', bare, dir);
  await writeFile(`${dir}/${file}`, text);
  await git(dir, 'add', '-A');
  await git(dir, '-c', 'user.name=P', '-c', 'user.email=p@x', 'commit', '-qm', 'Mine');
  await git(dir, 'push', '-q', 'origin', 'HEAD:main');
}
