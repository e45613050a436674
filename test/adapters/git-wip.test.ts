import { expect, test } from '@jest/globals';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Checkpoints } from '../../src/activities/launch/checkpoint.ts';
import { saveWork } from '../../src/activities/save/save-work.ts';
import { unshareWork } from '../../src/activities/save/push-wip.ts';
import { identify } from '../../src/adapters/program/process.ts';
import { git, makeLab, write, type Lab } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';
import { until } from '../helpers/until.ts';
import { goOn, makeWorkLab } from '../helpers/work.ts';

const REF = 'refs/fleet/t1/wip';

/** The lab's repository as a bare remote, and two workers that each have their own home. */
async function twoWorkers(dir: string) {
  const one = await makeLab(`${dir}/one`);
  const bare = `${dir}/remote.git`;
  git(dir, 'clone', '-q', '--bare', one.repo, bare);
  const two = { ...(await makeLab(`${dir}/two`)), base: one.base, baseDir: one.baseDir };
  const task = { repo: `file://${bare}` };
  return { one, two, bare, a: makeWorkLab(one, task), b: makeWorkLab(two, task), task };
}

async function work(lab: Lab, at: ReturnType<typeof makeWorkLab>, { n, text }: { n: number; text: string }) {
  const { tree } = lab.home.run('t1', `${n}-a`);
  if (!at.runs.has(`${n}-a`)) await at.run(n);
  write(tree, { 'b.txt': text });
  return saveWork(at.deps, { taskId: 't1', runId: `${n}-a` });
}

test('another machine goes on from what was pushed; the mirror and the base have nothing of it', async () => {
  await using temp = await tempDir();
  const { one, two, bare, a, b, task } = await twoWorkers(temp.path);
  const saved = await work(one, a, { n: 1, text: 'by a' });
  expect(saved).toMatchObject({ pushed: true });
  expect(git(bare, 'rev-parse', `${REF}^`)).toBe(saved!.commit);
  expect(JSON.parse(git(bare, 'show', `${REF}:meta.json`))).toMatchObject({ runId: '1-a', n: 1, coder: 'claude' });
  const next = await goOn(two, b, { task });
  expect(next.resumed).toMatchObject({ runId: '1-a', saved: { pushed: true, commit: saved!.commit } });
  expect(git(next.tree, 'status', '--porcelain')).toBe('?? b.txt');
  expect(() => git(one.baseDir, 'cat-file', '-e', saved!.commit)).toThrow();
});

test('a later checkpoint replaces an earlier one; an older run never replaces a newer one’s', async () => {
  await using temp = await tempDir();
  const { one, two, bare, a, b } = await twoWorkers(temp.path);
  await work(one, a, { n: 1, text: 'first' });
  await work(one, a, { n: 1, text: 'second' });
  expect(git(bare, 'show', `${REF}^:b.txt`)).toBe('second');
  expect(await work(two, b, { n: 2, text: 'newer' })).toMatchObject({ pushed: true });
  expect(await work(one, a, { n: 1, text: 'late' })).toMatchObject({ pushed: false });
  expect(git(bare, 'show', `${REF}^:b.txt`)).toBe('newer');
  expect(a.said).toEqual([]);
});

test('a task that says resume: false, and a worker that lost contact, push nothing', async () => {
  await using temp = await tempDir();
  const { one, bare, a, task } = await twoWorkers(temp.path);
  const off = makeWorkLab(one, { ...task, resume: false });
  expect(await work(one, off, { n: 1, text: 'x' })).toMatchObject({ pushed: false });
  a.deps.inContact = () => false;
  expect(await work(one, a, { n: 2, text: 'x' })).toMatchObject({ pushed: false });
  expect(git(bare, 'for-each-ref', 'refs/fleet')).toBe('');
});

test('a remote that refuses is said once, and what is kept here is kept', async () => {
  await using temp = await tempDir();
  const { one, bare, a } = await twoWorkers(temp.path);
  writeFileSync(`${bare}/hooks/pre-receive`, '#!/bin/sh\nexit 1\n');
  chmodSync(`${bare}/hooks/pre-receive`, 0o755);
  const saved = await work(one, a, { n: 1, text: 'x' });
  expect(saved).toMatchObject({ pushed: false });
  expect(await work(one, a, { n: 1, text: 'y' })).toMatchObject({ pushed: false });
  expect(a.said).toEqual([expect.stringContaining('remote.git did not take work in progress: ')]);
  expect((await goOn(one, a)).resumed).toMatchObject({ runId: '1-a' });
});

test('a remote that is gone, or holds something else there, is as good as none', async () => {
  await using temp = await tempDir();
  const { two, bare, b, task } = await twoWorkers(temp.path);
  git(bare, 'update-ref', REF, 'HEAD');
  expect((await goOn(two, b, { n: 2, task })).found).toBeNull();
  rmSync(bare, { recursive: true });
  expect((await goOn(two, b, { n: 3, task })).found).toBeNull();
});

test('nothing of a task that is over stays on the remote', async () => {
  await using temp = await tempDir();
  const { one, bare, a } = await twoWorkers(temp.path);
  await work(one, a, { n: 1, text: 'x' });
  await unshareWork(a.deps, { taskId: 't1', runId: '1-a' });
  expect(git(bare, 'for-each-ref', 'refs/fleet')).toBe('');
  await unshareWork(a.deps, { taskId: 't1', runId: '1-a' });
});

test('no checkpoint is still on its way to the remote when its run is over', async () => {
  await using temp = await tempDir();
  const { one, bare, a } = await twoWorkers(temp.path);
  const { tree } = await a.run(1);
  write(tree, { 'b.txt': 'x' });
  const pushing = `${bare}/pushing`;
  writeFileSync(`${bare}/hooks/pre-receive`, `#!/bin/sh\necho $$ >${pushing}\nwhile :; do sleep 0.1; done\n`);
  chmodSync(`${bare}/hooks/pre-receive`, 0o755);
  Object.assign(a.deps.config, { worker: { checkpoint: '1s' } });
  const checkpoints = new Checkpoints(a.deps, { taskId: 't1', runId: '1-a' });
  await until(() => (checkpoints.tick(), existsSync(pushing) && readFileSync(pushing, 'utf8').endsWith('\n')));
  await checkpoints.settled();
  await until(() => identify(Number(readFileSync(pushing, 'utf8'))) === undefined);
  expect(a.said).toEqual([]);
  expect(existsSync(`${one.home.vaultOf('repo')}/refs/fleet/t1/1-a`)).toBe(true);
});

test('a remote that cannot be reached for a while is tried again', async () => {
  await using temp = await tempDir();
  const { one, bare, a } = await twoWorkers(temp.path);
  const ssh = `${temp.path}/ssh`;
  writeFileSync(ssh, '#!/bin/sh\necho "ssh: connect to host example.org port 22: No route to host" >&2\nexit 255\n');
  chmodSync(ssh, 0o755);
  const url = `ssh://example.org${bare}`;
  const at = makeWorkLab(one, { repo: url });
  const before = process.env['GIT_SSH_COMMAND'];
  try {
    process.env['GIT_SSH_COMMAND'] = ssh;
    expect(await work(one, at, { n: 1, text: 'x' })).toMatchObject({ pushed: false });
    writeFileSync(ssh, '#!/bin/sh\nshift\neval "$@"\n');
    expect(await work(one, at, { n: 1, text: 'y' })).toMatchObject({ pushed: true });
  } finally {
    if (before === undefined) delete process.env['GIT_SSH_COMMAND'];
    else process.env['GIT_SSH_COMMAND'] = before;
  }
  expect(git(bare, 'show', `${REF}^:b.txt`)).toBe('y');
  expect(a.said).toEqual([]);
});
