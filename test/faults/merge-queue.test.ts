import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FAILPOINTS } from '../../src/adapters/failpoint.ts';
import { git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { doing, scripted } from '../helpers/scripted.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const LEASE = { heartbeat: '3s', grace: '45s', selfKill: '30s' };
const start = (name: string, queue: string, coders: object, env: Record<string, string> = {}): Promise<TestWorker> =>
  fleet.worker(name, { lease: LEASE, worker: { slots: 3, queues: [queue] }, coders }, { env });

async function remote(name: string, files: Record<string, string> = { 'a.txt': 'a\n' }) {
  const from = await fleet.repo(`${name}-from`, files);
  const bare = `${fleet.root}/${name}.git`;
  await git(fleet.root, 'clone', '-q', '--bare', from, bare);
  return { bare, repo: `file://${bare}` };
}
const merge = (name: string, input: { repo: string; queue: string; into?: string; base?: string }) =>
  fleet.fleet.enqueue({
    objective: doing(`echo ${name} > ${name}.txt`),
    coder: 'scripted',
    deliver: 'merge',
    ...input,
  });

/** Each is merged once, and the target has what all of them made. */
async function mergedOnce(repo: string, ids: readonly string[], target = 'main'): Promise<void> {
  const reports = await Promise.all(ids.map((id) => fleet.settled(id, 180_000)));
  expect(reports.map(({ state, runs }) => [state, runs.length])).toEqual(ids.map(() => ['done', 1]));
  const log = (await git(repo, 'log', '--format=%s', target)).split('\n');
  for (const id of ids) expect(log.filter((line) => line === `Merge fleet/${id} into ${target}`)).toHaveLength(1);
}

describe('a worker that dies while it merges loses and doubles nothing', () => {
  test.concurrent.each(FAILPOINTS.merge.flatMap((point) => [[point, 'url'] as const, [point, 'path'] as const]))(
    'at %s, of a repository by %s',
    async (point, kind) => {
      const name = `${kind}-${point.replace('.', '-')}`;
      const { bare, repo } = await remote(name);
      if (kind === 'path') await git(bare, 'branch', 'integration');
      const place = kind === 'url' ? { repo } : { repo: bare, into: 'integration' };
      const first = await start(name, name, { scripted }, { FLEET_FAILPOINT: point });
      const ids = await Promise.all(['b', 'c'].map((file) => merge(file, { ...place, queue: name })));
      expect(await first.exited).toBeNull();
      await first.stop();
      await using _again = await start(name, name, { scripted });
      await mergedOnce(bare, ids, kind === 'url' ? 'main' : 'integration');
    },
    240_000,
  );

  test.concurrent('one that does not come back: another worker goes on, that has made none of it', async () => {
    const go = `${fleet.root}/other-go`;
    const held = `test ! -e later.txt || until test -e ${go}; do sleep 0.05; done`;
    const { bare, repo } = await remote('other', { '.fleet.yaml': `verify: ['${held}']\n` });
    const base = await git(bare, 'rev-parse', 'main');
    const clone = `${fleet.root}/other-clone`;
    await git(fleet.root, 'clone', '-q', bare, clone);
    await writeFile(`${clone}/later.txt`, 'x\n');
    await git(clone, 'add', '-A');
    await git(clone, '-c', 'user.name=P', '-c', 'user.email=p@x', 'commit', '-qm', 'Later');
    await git(clone, 'push', '-q', 'origin', 'HEAD:main');

    const first = await start('maker', 'other', { scripted });
    const id = await merge('b', { repo, base, queue: 'other' });
    const merging = () => fleet.client.workflow.list({ query: "WorkflowType = 'mergeQueue'" });
    await until(
      async () => {
        for await (const { workflowId } of merging())
          if (workflowId.includes('other-') && (await fleet.pending(workflowId))?.started) return true;
        return false;
      },
      { timeoutMs: 60_000 },
    );
    await using _second = await start('second', 'other', {});
    await first.stop('SIGKILL');
    await writeFile(go, '');
    await mergedOnce(bare, [id]);
  }, 240_000);
});

describe('a task that is cancelled while its merge is pushed ends as what is true, within 30 s', () => {
  let worker: TestWorker;
  beforeAll(async () => {
    worker = await start('pushed', 'pushed', { scripted });
  }, 120_000);
  afterAll(() => worker.stop());

  /** Cancelled as soon as the remote's hook runs for the target. */
  async function cancelled({ name, hook, script }: { name: string; hook: string; script: string }) {
    const { bare, repo } = await remote(name);
    const begun = `${fleet.root}/${name}.begun`;
    writeFileSync(`${bare}/hooks/${hook}`, `#!/bin/sh\ngrep -q refs/heads/main || exit 0\ntouch ${begun}\n${script}\n`);
    chmodSync(`${bare}/hooks/${hook}`, 0o755);
    const id = await merge('b', { repo, queue: 'pushed' });
    await until(() => existsSync(begun), { timeoutMs: 120_000 });
    const at = performance.now();
    await fleet.fleet.cancel(id);
    const handle = fleet.client.workflow.getHandle(id);
    await handle.result().catch(() => undefined);
    expect(performance.now() - at).toBeLessThan(30_000);
    return { bare, id, view: await fleet.fleet.view(id) };
  }

  test.concurrent('done, once the target has its result', async () => {
    const { bare, id, view } = await cancelled({ name: 'taken', hook: 'post-receive', script: 'sleep 15' });
    const commit = await git(bare, 'rev-parse', 'main');
    expect(view).toMatchObject({ state: 'done', merge: null, merged: { into: 'main', commit } });
    expect(await git(bare, 'log', '-1', '--format=%s', 'main')).toBe(`Merge fleet/${id} into main`);
  }, 240_000);

  test.concurrent('cancelled, where the remote refuses it then', async () => {
    const { bare, view } = await cancelled({ name: 'refused', hook: 'pre-receive', script: 'sleep 4; exit 1' });
    expect(view).toMatchObject({ state: 'cancelled', message: null, merge: null });
    expect(await git(bare, 'log', '-1', '--format=%s', 'main')).toBe('Base');
  }, 240_000);

  test.concurrent('cancelled, and says that nobody knows, where the remote hangs', async () => {
    const { bare, view } = await cancelled({ name: 'hung', hook: 'pre-receive', script: 'exec sleep 3600' });
    expect(view).toMatchObject({ state: 'cancelled', merge: null });
    expect(view.message).toMatch(/^it was cancelled while it may have been merged into main, /);
    await until(async () => (await strays(bare)).length === 0, { timeoutMs: 30_000 });
  }, 240_000);
});
