import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { ensureBase } from '../../src/adapters/git/source/base-store.ts';
import { createPrivateRepo } from '../../src/adapters/git/worktree/private-repo.ts';
import { deliverBranch } from '../../src/adapters/git/deliver/deliver.ts';
import { openSource } from '../../src/adapters/git/source/source.ts';
import { git, IDENTITY, makeLab, makeRepo, must } from '../helpers/git.ts';
import { silentServer } from '../helpers/silent-server.ts';
import { tempDir } from '../helpers/temp.ts';
import { Random } from '../simulation/random.ts';

const module = (path: string): string => fileURLToPath(new URL(`../../src/${path}.ts`, import.meta.url));
const files = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`d${i % 40}/f${i}`, `${i}\n`.repeat(40)]));

test('F39: kill -9 in the middle of making a worktree, 40 times: the next attempt always works', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, files(1_500));
  const random = new Random(39);
  let unfinished = 0;
  for (let kill = 0; kill < 40; kill += 1) {
    // Another commit each time, so that its base store has to be made as well.
    git(lab.repo, 'commit', '-q', '--allow-empty', '-m', `${kill}`);
    const commit = git(lab.repo, 'rev-parse', 'HEAD');
    const { home, source } = lab;
    const order = { tree: `${temp.path}/k${kill}/tree`, commit, branch: `fleet/${kill}`, identity: IDENTITY };
    const base = { home: undefined, source, commit };
    const code = `
      const [{ ensureBase }, { createPrivateRepo }, { homeLayout }] = await Promise.all(
        ${JSON.stringify(['adapters/git/source/base-store', 'adapters/git/worktree/private-repo', 'domain/names'].map(module))}.map((path) => import(path)));
      process.stdout.write('go');
      const made = await ensureBase({ ...${JSON.stringify(base)}, home: homeLayout(${JSON.stringify(home.root)}) });
      await createPrivateRepo({ ...${JSON.stringify(order)}, baseDir: made.path });`;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    // It says so once it begins; one that ends before has failed.
    await Promise.race([once(child.stdout, 'data'), exited.then(() => Promise.reject(new Error('it never began')))]);
    await sleep(random.between(0, 300));
    child.kill('SIGKILL');
    await exited;
    if (!existsSync(order.tree)) unfinished += 1;

    const { path: baseDir } = must(await ensureBase({ source, commit, home }));
    await createPrivateRepo({ ...order, baseDir });
    expect(git(order.tree, 'status', '--porcelain')).toBe('');
    expect(git(order.tree, 'rev-parse', 'HEAD')).toBe(commit);
    expect(readdirSync(`${temp.path}/k${kill}`)).toEqual(['tree']);
  }
  expect(unfinished).toBeGreaterThan(5);
}, 480_000);

test('F42: 100 worktrees at once: none fails', async () => {
  await using temp = await tempDir();
  const { source, home, base } = await makeLab(temp.path, files(200));
  const began = performance.now();
  const trees = await Promise.all(
    Array.from({ length: 100 }, async (_, i) => {
      const { path: baseDir } = must(await ensureBase({ source, commit: base, home }));
      const tree = `${temp.path}/many/${i}/tree`;
      await createPrivateRepo({ tree, baseDir, commit: base, branch: `fleet/${i}`, identity: IDENTITY });
      return tree;
    }),
  );
  process.stderr.write(`F42: 100 worktrees of 200 files in ${Math.round(performance.now() - began)} ms\n`);
  for (const tree of trees) expect(git(tree, 'status', '--porcelain')).toBe('');
}, 120_000);

test('F41: a push to a remote that says nothing is given up soon after it is to stop', async () => {
  await using temp = await tempDir();
  await using remote = await silentServer();
  const repo = `${temp.path}/r`;
  const commit = makeRepo(repo);
  const { source } = must(
    await openSource({ repo: `git://127.0.0.1:${remote.port}/x`, mirrorDir: (key) => `${temp.path}/${key}` }),
  );
  const stop = new AbortController();
  const order = { source, gitDir: `${repo}/.git`, commit, base: commit, ref: 'refs/heads/fleet/x' };
  const pushed = deliverBranch({ ...order, signal: stop.signal });
  const began = performance.now();
  stop.abort(new Error('stopped'));
  await expect(pushed).rejects.toThrow('stopped');
  expect(performance.now() - began).toBeLessThan(20_000);
}, 30_000);
