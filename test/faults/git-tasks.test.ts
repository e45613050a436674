import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { silentServer } from '../helpers/silent-server.ts';
import { until } from '../helpers/until.ts';
import { makeLab } from './lab.ts';

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const shell = (script: string) => ({ command: ['sh', '-c', `cat > /dev/null; ${script}`], protocol: 'none' as const });
const MAKES = 'echo "$FLEET_RUN" > made.txt; git add made.txt; git commit -qm "Add made.txt"';
/** Half a megabyte that no compression makes small: damage in the middle of a pack hits it. */
const FILES = () => ({ 'a.txt': 'a\n', 'large.bin': randomBytes(250_000).toString('hex') });

const only = (dir: string): string => `${dir}/${readdirSync(dir).filter((name) => name.endsWith('.git'))[0]}`;
/** The largest pack; a repository that has only loose objects, as after a small fetch, is packed before. */
function packOf(gitDir: string): string {
  const packs = () =>
    readdirSync(`${gitDir}/objects/pack`)
      .filter((name) => name.endsWith('.pack'))
      .map((name) => `${gitDir}/objects/pack/${name}`);
  if (packs().length === 0) execFileSync('git', [`--git-dir=${gitDir}`, 'repack', '-a', '-d', '-q']);
  return packs().sort((a, b) => statSync(b).size - statSync(a).size)[0]!;
}
/** The content of all files below a folder, in one hash. */
function digest(dir: string): string {
  const hash = createHash('sha256');
  for (const path of (readdirSync(dir, { recursive: true, encoding: 'utf8' }) as string[]).sort())
    if (statSync(`${dir}/${path}`).isFile()) hash.update(path).update(readFileSync(`${dir}/${path}`));
  return hash.digest('hex');
}

const DAMAGES: [what: string, damage: (gitDir: string) => void][] = [
  ['a pack that was cut short', (dir) => halve(packOf(dir))],
  ['objects that are gone', (dir) => rmSync(`${dir}/objects`, { recursive: true })],
  ['a pack with other bytes in it', (dir) => scribble(packOf(dir))],
  ['an index of a pack that was cut short', (dir) => halve(packOf(dir).replace(/pack$/, 'idx'))],
];
const HEADLESS: (typeof DAMAGES)[number] = ['an empty HEAD', (dir) => truncateSync(`${dir}/HEAD`, 0)];
const halve = (file: string): void => truncateSync(file, statSync(file).size >> 1);
function scribble(pack: string): void {
  const bytes = readFileSync(pack);
  bytes.fill(0x55, bytes.length >> 1, (bytes.length >> 1) + 1_000);
  rmSync(pack);
  writeFileSync(pack, bytes);
}

test.concurrent('F38: lock files that somebody left stop nothing', async () => {
  const {
    repo,
    worker: start,
    enqueue,
  } = await makeLab(fleet, 'locks', {
    leaves: shell(`${MAKES}; echo more > more.txt; touch .git/index.lock .git/HEAD.lock .git/refs/heads/x.lock`),
  });
  await using worker = await start('locks');
  const upstream = await fleet.repo('locks-upstream');
  for (const lock of ['index.lock', 'HEAD.lock', 'refs/heads/main.lock']) writeFileSync(`${repo}/.git/${lock}`, '');
  await git(repo, 'update-ref', 'refs/heads/fleet/other', 'HEAD');
  writeFileSync(`${repo}/.git/refs/heads/fleet/locked.lock`, '');

  const id = await enqueue({}, 'locked');
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', attempts: { used: 1 } });
  expect(await git(repo, 'ls-tree', '--name-only', 'fleet/locked')).toBe('README.md\nmade.txt\nmore.txt');
  const url = `file://${upstream}`;
  expect(await fleet.settled(await enqueue({ repo: url }))).toMatchObject({ state: 'done' });

  const mirror = only(`${worker.home}/mirrors`);
  const stores = readdirSync(`${worker.home}/bases`).map((key) => only(`${worker.home}/bases/${key}`));
  for (const dir of [mirror, ...stores])
    for (const lock of ['index.lock', 'HEAD.lock', 'packed-refs.lock', 'shallow.lock'])
      writeFileSync(`${dir}/${lock}`, '');
  writeFileSync(`${mirror}/refs/origin/heads/main.lock`, '');
  await git(
    upstream,
    '-c',
    'user.name=T',
    '-c',
    'user.email=t@localhost',
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    'Next',
  );
  for (const each of [repo, url])
    expect(await fleet.settled(await enqueue({ repo: each }))).toMatchObject({ state: 'done', attempts: { used: 1 } });
});

describe('F40: damaged repositories of the worker are made anew, once', () => {
  test.concurrent('a base store, from the repository; where that is damaged too, one sentence says so', async () => {
    const { repo, worker: start, enqueue } = await makeLab(fleet, 'bases', { maker: shell(MAKES) }, FILES());
    await using worker = await start('bases');
    expect(await fleet.settled(await enqueue())).toMatchObject({ state: 'done' });
    const key = `${worker.home}/bases/${readdirSync(`${worker.home}/bases`)[0]}`;
    for (const [what, damage] of DAMAGES) {
      damage(only(key));
      const report = await fleet.settled(await enqueue());
      expect([what, report.state, report.attempts.used, report.runs.length]).toEqual([what, 'done', 1, 1]);
      expect(await git(only(key), 'fsck', '--full')).toBe('');
    }

    DAMAGES[0]![1](only(key));
    const blob = await git(repo, 'rev-parse', 'HEAD:a.txt');
    rmSync(`${repo}/.git/objects/${blob.slice(0, 2)}/${blob.slice(2)}`);
    expect(await fleet.settled(await enqueue())).toMatchObject({
      state: 'parked',
      reason: 'repo-unavailable',
      message: expect.stringMatching(new RegExp(`^${repo} cannot be read: [^\n]+$`)),
      attempts: { used: 0 },
    });
  });

  test.concurrent('a base store that is damaged while the agent works', async () => {
    const { worker: start, enqueue } = await makeLab(
      fleet,
      'midway',
      { maker: shell(`${MAKES}; while [ ! -e ../go ]; do sleep 0.1; done`) },
      FILES(),
    );
    await using worker = await start('midway');
    const id = await enqueue({ verify: ['test -e large.bin'] });
    const { work } = await fleet.running(id);
    await until(() => existsSync(`${work}/tree/made.txt`));
    const store = only(`${worker.home}/bases/${readdirSync(`${worker.home}/bases`)[0]}`);
    rmSync(`${store}/objects/pack`, { recursive: true });
    writeFileSync(`${work}/go`, '');
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', attempts: { used: 1 }, runs: [{ reason: null }] });
  });

  test.concurrent('a mirror, from its remote', async () => {
    const { repo, worker: start, enqueue } = await makeLab(fleet, 'mirrors', { maker: shell(MAKES) }, FILES());
    await using worker = await start('mirrors');
    const url = `file://${repo}`;
    expect(await fleet.settled(await enqueue({ repo: url }))).toMatchObject({ state: 'done' });
    for (const [what, damage] of [...DAMAGES, HEADLESS]) {
      damage(only(`${worker.home}/mirrors`));
      // Each time a commit that the worker has no base of yet.
      await git(repo, '-c', 'user.name=T', '-c', 'user.email=t@localhost', 'commit', '-q', '--allow-empty', '-m', what);
      const report = await fleet.settled(await enqueue({ repo: url }));
      expect([what, report.state, report.message, report.runs.length]).toEqual([what, 'done', null, 1]);
    }
    expect(readdirSync(`${worker.home}/mirrors`).filter((name) => name.includes('damaged'))).toEqual([]);
  });

  test.concurrent('a vault: what can be read of it is kept, and new work as well', async () => {
    const { repo, worker: start, enqueue } = await makeLab(fleet, 'vaults', { maker: shell(MAKES) }, FILES());
    await using worker = await start('vaults');
    const rejected = async () => {
      const id = await enqueue({ verify: ['false'], retry: { maxAttempts: 1 } });
      expect(await fleet.settled(id)).toMatchObject({ state: 'parked', reason: 'receipts-rejected' });
      return id;
    };
    await rejected();
    for (const [what, damage] of [...DAMAGES, HEADLESS]) {
      damage(only(`${worker.home}/vault`));
      const id = await rejected();
      await fleet.fleet.accept(id, what);
      await until(async () => (await fleet.fleet.view(id)).state === 'done', { timeoutMs: 30_000 });
      expect(await git(repo, 'log', '--format=%s', `main..fleet/${id}`)).toBe('Add made.txt');
    }
  });
});

test.concurrent('F41: a remote that says nothing holds up its own task only, which can be cancelled', async () => {
  const { worker: start, enqueue } = await makeLab(fleet, 'silent', { maker: shell(MAKES) });
  await using worker = await start('silent', { worker: { slots: 2 } });
  await using silent = await silentServer();
  const url = `git://127.0.0.1:${silent.port}/x`;
  // As somebody enqueued it when the remote still answered.
  const hung = 'hung';
  await fleet.client.workflow.start('agentTask', {
    ...{ workflowId: hung, taskQueue: 'silent' },
    args: [{ objective: 'x', repo: url, coder: 'maker', queue: 'silent' }],
  });
  const fetching = async () => (await strays(url)).length > 0;
  await until(fetching, { timeoutMs: 30_000 });
  expect(await fleet.settled(await enqueue())).toMatchObject({ state: 'done' });

  const began = performance.now();
  await fleet.fleet.cancel(hung);
  await until(async () => (await fleet.fleet.view(hung)).state === 'cancelled', { timeoutMs: 30_000 });
  process.stderr.write(`F41: cancelled in ${Math.round(performance.now() - began)} ms\n`);
  await until(async () => !(await fetching()));
  await until(async () => (await worker.view()).slots.used === 0);
});

describe('F43: what an agent does to its repository', () => {
  const stable = async (worker: TestWorker, repo: string) => ({
    bases: digest(`${worker.home}/bases`),
    repo: await git(repo, 'for-each-ref', 'refs/heads/main', 'refs/tags', '--format=%(refname) %(objectname)'),
    status: await git(repo, 'status', '--porcelain'),
  });

  test.concurrent('is told by its class, and touches neither the base nor the repository', async () => {
    const agents = {
      'no-git': shell('echo made > made.txt; rm -rf .git'),
      'no-tree': shell('rm -rf "$PWD"'),
      'no-files': shell('rm -rf .git * .[a-z]*'),
      'bad-base': shell(
        `${MAKES}; base=$(cat .git/objects/info/alternates); rm -rf "$base"/* "$base"/../HEAD; echo x > "$base"/x; true`,
      ),
      bad: shell(`${MAKES}; for file in $(find .git -type f); do echo x > "$file"; done; true`),
    };
    const { repo, worker: start, enqueue } = await makeLab(fleet, 'wreckers', { maker: shell(MAKES), ...agents });
    await using worker = await start('wreckers', { worker: { slots: 3 } });
    expect(await fleet.settled(await enqueue())).toMatchObject({ state: 'done' });
    const before = await stable(worker, repo);
    const told = await Promise.all(
      Object.keys(agents).map(async (coder) => {
        const { state, reason } = await fleet.settled(await enqueue({ coder, retry: { maxAttempts: 1 } }));
        return [coder, state, reason];
      }),
    );
    expect(told).toEqual([
      ['no-git', 'done', null],
      ['no-tree', 'parked', 'tampered'],
      ['no-files', 'parked', 'tampered'],
      ['bad-base', 'done', null],
      ['bad', 'done', null],
    ]);
    expect(await stable(worker, repo)).toEqual(before);
  });
});
