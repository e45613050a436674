import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { ensureBase } from '../../src/adapters/git/source/base-store.ts';
import { checkoutTree } from '../../src/adapters/git/worktree/checkout.ts';
import { deliverBranch } from '../../src/adapters/git/deliver/deliver.ts';
import { openRescue, saveRescue } from '../../src/adapters/git/rescue/rescue.ts';
import { resolveBase } from '../../src/adapters/git/source/resolve-base.ts';
import { openSource } from '../../src/adapters/git/source/source.ts';
import { git, makeLab, must, write, type Lab } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';

const REF = 'refs/heads/fleet/t1';

async function changed(lab: Lab, text = 'changed') {
  write(lab.tree, { 'a.txt': text });
  const { gitDir, commit } = await lab.capture();
  return { source: lab.source, gitDir, commit, base: lab.base, ref: REF };
}

/** Every file but objects, with content, mode and times; folders by name. */
function state(repo: string): Record<string, string> {
  const all = readdirSync(repo, { recursive: true, encoding: 'utf8' }).filter(
    (path) => !path.startsWith('.git/objects'),
  );
  return Object.fromEntries(
    all.map((path) => {
      const stat = lstatSync(`${repo}/${path}`);
      const content = stat.isFile()
        ? createHash('sha1')
            .update(readFileSync(`${repo}/${path}`))
            .digest('hex') + stat.mtimeMs
        : '';
      return [path, `${stat.mode} ${content}`];
    }),
  );
}

describe('into a path', () => {
  test('one new branch and its objects; everything else is byte for byte as before', async () => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path);
    const mark = `${temp.path}/mark`;
    for (const hook of ['reference-transaction', 'post-update', 'update', 'pre-receive', 'post-receive']) {
      mkdirSync(`${lab.repo}/.git/hooks`, { recursive: true });
      writeFileSync(`${lab.repo}/.git/hooks/${hook}`, `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
    }
    write(lab.repo, { 'a.txt': 'the user is editing', staged: 's' });
    git(lab.repo, '-c', 'core.hooksPath=/dev/null', 'add', 'staged');
    const order = await changed(lab);
    const before = state(lab.repo);
    expect(await deliverBranch(order)).toEqual({ ok: true, already: false, commit: expect.any(String) });
    const after = state(lab.repo);
    const added = Object.keys(after).filter((path) => !(path in before));
    expect(added.sort()).toEqual(['.git/refs/heads/fleet', '.git/refs/heads/fleet/t1']);
    for (const [path, was] of Object.entries(before)) expect([path, after[path]]).toEqual([path, was]);
    expect(existsSync(mark)).toBe(false);
    expect(git(lab.repo, 'rev-parse', REF)).toBe(order.commit);
    expect(git(lab.repo, 'fsck', '--strict')).toBe('');
    expect(await deliverBranch(order)).toEqual({ ok: true, already: true, commit: expect.any(String) });
  });

  test('another commit there is a conflict; a branch named fleet is one too; a bare repository takes it', async () => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path);
    const first = await changed(lab);
    must(await deliverBranch(first));
    const second = await changed(lab, 'other');
    expect(await deliverBranch(second)).toMatchObject({
      failure: { reason: 'conflict', message: expect.stringContaining('already has a branch fleet/t1') },
    });
    expect(git(lab.repo, 'rev-parse', REF)).toBe(first.commit);
    git(lab.repo, 'branch', '-q', '-D', 'fleet/t1');
    git(lab.repo, 'branch', 'fleet');
    expect(await deliverBranch(second)).toMatchObject({
      failure: { reason: 'conflict', message: expect.stringContaining('has a branch named fleet, so') },
    });
    git(temp.path, 'clone', '-q', '--bare', lab.repo, 'b.git');
    git(`${temp.path}/b.git`, 'branch', '-q', '-D', 'fleet');
    const { source } = must(await openSource({ repo: `${temp.path}/b.git`, mirrorDir: lab.home.mirror }));
    expect(await deliverBranch({ ...second, source })).toEqual({
      ok: true,
      already: false,
      commit: expect.any(String),
    });
  });

  test('16 branches at once', async () => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path);
    const order = await changed(lab);
    const all = await Promise.all(
      Array.from({ length: 16 }, (_, i) => deliverBranch({ ...order, ref: `refs/heads/fleet/n${i}` })),
    );
    expect(all.every((one) => one.ok)).toBe(true);
    expect(git(lab.repo, 'branch', '--list', 'fleet/*').split('\n')).toHaveLength(16);
  });

  const asRoot = process.getuid?.() === 0 ? test : test.skip;
  asRoot('of another user: everything new belongs to that user', async () => {
    await using temp = await tempDir();
    chmodSync(temp.path, 0o755);
    const lab = await makeLab(temp.path);
    execFileSync('chown', ['-R', '65534:65534', lab.repo]);
    chownSync(lab.repo, 65534, 65534);
    const fresh = must(await openSource({ repo: lab.repo, mirrorDir: (key) => key })).source;
    expect(fresh).toMatchObject({ owner: { uid: 65534, gid: 65534 } });
    expect(must(await resolveBase({ source: fresh })).commit).toBe(lab.base);
    must(
      await ensureBase({
        source: fresh,
        commit: lab.base,
        home: { ...lab.home, base: (key, commit) => `${temp.path}/again/${key}/${commit}` },
      }),
    );
    must(await deliverBranch({ ...(await changed(lab)), source: fresh }));
    const foreign = readdirSync(lab.repo, { recursive: true, encoding: 'utf8' }).filter(
      (path) => lstatSync(`${lab.repo}/${path}`).uid !== 65534,
    );
    expect(foreign).toEqual([]);
    expect(
      execFileSync(
        'setpriv',
        ['--reuid=65534', '--clear-groups', 'git', '-C', lab.repo, 'log', '-1', '--format=%an', REF],
        { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: '/nonexistent' } },
      ),
    ).toBe('Fleet\n');
  });
});

describe('to a URL', () => {
  test('mirror, base, capture, push; again is success; conflict and blocked are told', async () => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path);
    git(temp.path, 'clone', '-q', '--bare', lab.repo, 'up.git');
    const up = `${temp.path}/up.git`;
    const { source } = must(await openSource({ repo: `file://${up}`, mirrorDir: lab.home.mirror }));
    const { commit } = must(await resolveBase({ source }));
    expect(must(await ensureBase({ source, commit, home: lab.home })).path).toContain('/bases/up-');
    const order = { ...(await changed(lab)), source };
    expect(await deliverBranch(order)).toEqual({ ok: true, already: false, commit: expect.any(String) });
    expect(await deliverBranch(order)).toMatchObject({ ok: true });
    const other = { ...(await changed(lab, 'other')), source };
    expect(await deliverBranch(other)).toMatchObject({
      failure: { reason: 'conflict', message: expect.stringContaining('already has') },
    });
    expect(git(up, 'rev-parse', REF)).toBe(order.commit);
    git(up, 'branch', '-q', '-D', 'fleet/t1');
    git(up, 'branch', 'fleet');
    expect(await deliverBranch(other)).toMatchObject({
      failure: { reason: 'conflict', message: expect.stringContaining('branch named fleet') },
    });
    git(up, 'branch', '-q', '-D', 'fleet');
    writeFileSync(`${up}/hooks/pre-receive`, '#!/bin/sh\necho policy says no >&2\nexit 1\n', { mode: 0o755 });
    expect(await deliverBranch(other)).toMatchObject({
      failure: { reason: 'conflict', message: expect.stringContaining('refused') },
    });
    const gone = must(await openSource({ repo: `file://${temp.path}/gone.git`, mirrorDir: lab.home.mirror })).source;
    expect(await deliverBranch({ ...other, source: gone })).toMatchObject({ failure: { reason: 'repo-unavailable' } });
  });
});

test('the vault keeps a rejected result by itself, and it can be delivered from there', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path);
  const order = await changed(lab);
  const vaultDir = lab.home.vaultOf(lab.source.key);
  const save = { vaultDir, gitDir: order.gitDir, commit: order.commit, ref: 'refs/fleet/t1/1-a' };
  expect(await saveRescue(save)).toEqual({ ok: true });
  expect(await saveRescue(save)).toEqual({ ok: true });
  const next = await changed(lab, 'second');
  must(await saveRescue({ ...save, gitDir: next.gitDir, commit: next.commit, ref: 'refs/fleet/t1/2-b' }));
  must(await saveRescue({ ...save, gitDir: next.gitDir, commit: next.commit, ref: 'refs/fleet/t2/1-c' }));
  execFileSync('rm', ['-rf', order.gitDir, lab.baseDir]);
  expect(git(vaultDir, 'fsck', '--strict', '--full')).toBe('');
  const rescued = must(await openRescue({ vaultDir, ref: save.ref }));
  expect(rescued.commit).toBe(order.commit);
  expect(await deliverBranch({ ...order, gitDir: rescued.gitDir, commit: rescued.commit })).toEqual({
    ok: true,
    already: false,
    commit: expect.any(String),
  });
  await checkoutTree({ gitDir: vaultDir, commit: rescued.commit, dir: `${temp.path}/c` });
  expect(readdirSync(`${temp.path}/c`)).toEqual(['a.txt']);
  expect(await openRescue({ vaultDir, ref: 'refs/fleet/none' })).toMatchObject({ failure: { reason: 'base-missing' } });
});
