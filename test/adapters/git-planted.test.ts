import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { checkoutTree, restoreFrom } from '../../src/adapters/git/checkout.ts';
import { deliverBranch } from '../../src/adapters/git/deliver.ts';
import { writePatch } from '../../src/adapters/git/patch.ts';
import { git, makeLab, paths, write, type Lab } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';

const HOOKS =
  'applypatch-msg commit-msg post-applypatch post-checkout post-commit post-index-change post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase pre-receive prepare-commit-msg proc-receive push-to-checkout reference-transaction sendemail-validate update fsmonitor-watchman'.split(
    ' ',
  );

/** Each plants a program in what the agent can write; it would touch `mark`. */
const PLANTED: Record<string, (lab: Lab, run: string) => void> = {
  hooks: ({ tree }, run) => {
    for (const hook of HOOKS) {
      write(tree, { [`.git/hooks/${hook}`]: `#!/bin/sh\n${run}\n` });
      execMode(`${tree}/.git/hooks/${hook}`);
    }
  },
  'core.hooksPath': ({ tree }, run) => {
    write(tree, { 'h/reference-transaction': `#!/bin/sh\n${run}\n`, 'h/post-checkout': `#!/bin/sh\n${run}\n` });
    for (const hook of ['reference-transaction', 'post-checkout']) execMode(`${tree}/h/${hook}`);
    git(tree, 'config', 'core.hooksPath', `${tree}/h`);
  },
  fsmonitor: ({ tree }, run) => config(tree, 'core.fsmonitor', run),
  'filter clean': ({ tree }, run) => filter(tree, 'filter.x.clean', run),
  'filter smudge': ({ tree }, run) => filter(tree, 'filter.x.smudge', run),
  'filter process': ({ tree }, run) => filter(tree, 'filter.x.process', run),
  'diff.external': ({ tree }, run) => config(tree, 'diff.external', run),
  textconv: ({ tree }, run) => {
    write(tree, { '.gitattributes': '* diff=x\n' });
    config(tree, 'diff.x.textconv', run);
    config(tree, 'diff.x.command', run);
  },
  'merge driver': ({ tree }, run) => {
    write(tree, { '.gitattributes': '* merge=x\n' });
    config(tree, 'merge.x.driver', run);
  },
  'gpg.program': ({ tree }, run) => {
    config(tree, 'gpg.program', run);
    config(tree, 'commit.gpgSign', 'true');
    config(tree, 'log.showSignature', 'true');
  },
  sshCommand: ({ tree }, run) => {
    config(tree, 'core.sshCommand', run);
    config(tree, 'remote.origin.url', 'ssh://localhost/x');
    config(tree, 'extensions.partialClone', 'origin');
  },
  'credential.helper': ({ tree }, run) => config(tree, 'credential.helper', `!${run}`),
  alias: ({ tree }, run) =>
    ['read-tree', 'ls-tree', 'log', 'cat-file'].forEach((name) => config(tree, `alias.${name}`, `!${run}`)),
  'include.path': ({ tree }, run) => {
    write(tree, { inc: `[core]\n\tfsmonitor = ${run}\n\tpager = ${run}\n` });
    config(tree, 'include.path', '../inc');
  },
  'pager and editor': ({ tree }, run) =>
    ['core.pager', 'core.editor', 'sequence.editor', 'pager.log', 'core.askPass'].forEach((key) =>
      config(tree, key, run),
    ),
  'worktree config': ({ tree }, run) => {
    config(tree, 'extensions.worktreeConfig', 'true');
    write(tree, { '.git/config.worktree': `[core]\n\tfsmonitor = ${run}\n\thooksPath = ../h\n` });
  },
  submodule: ({ tree }, run) => {
    write(tree, { '.gitmodules': `[submodule "s"]\n\tpath = s\n\turl = ext::sh -c "${run}"\n\tupdate = !${run}\n` });
    config(tree, 'submodule.s.update', `!${run}`);
  },
  '.git file redirect': ({ tree }, run) => {
    config(tree, 'core.fsmonitor', run);
    renameSync(`${tree}/.git`, `${tree}/../evil.git`);
    writeFileSync(`${tree}/.git`, 'gitdir: ../evil.git\n');
  },
  'promisor remote': ({ tree }, run) => {
    config(tree, 'remote.p.url', `ext::sh -c "${run}"`);
    config(tree, 'remote.p.promisor', 'true');
    config(tree, 'protocol.ext.allow', 'always');
  },
};

function execMode(path: string): void {
  const text = readFileSync(path);
  rmSync(path);
  writeFileSync(path, text, { mode: 0o755 });
}
function config(tree: string, key: string, value: string): void {
  const [, section = '', sub = '', name = ''] = /^([^.]+)\.(?:(.*)\.)?([^.]+)$/.exec(key) ?? [];
  const header = sub ? `[${section} "${sub}"]` : `[${section}]`;
  const quoted = value.replace(/["\\]/g, '\\$&');
  writeFileSync(`${tree}/.git/config`, `${header}\n\t${name} = "${quoted}"\n`, { flag: 'a' });
}
/** The attributes that we put first would keep the filter from running: an agent can remove them. */
function filter(tree: string, key: string, run: string): void {
  rmSync(`${tree}/.git/info/attributes`);
  write(tree, { '.gitattributes': '* filter=x diff=x\n' });
  config(tree, key, run);
  config(tree, 'filter.x.required', 'true');
}

describe('planted programs', () => {
  test.each(Object.keys(PLANTED))('%s: none runs', async (name) => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path, { 'a.txt': 'a\n', 'test/t': 't\n' });
    write(lab.tree, { 'own.txt': 'committed' });
    git(lab.tree, 'add', '-A');
    git(lab.tree, 'commit', '-q', '-m', 'own');
    write(lab.tree, { 'a.txt': 'changed\n', 'test/t': 'changed\n', 'b.txt': 'b' });
    const mark = `${temp.path}/mark`;
    PLANTED[name]?.(lab, `touch ${mark}`);
    const result = await lab.capture();
    await writePatch({
      gitDir: result.gitDir,
      base: lab.base,
      commit: result.commit,
      file: `${temp.path}/p`,
      maxBytes: 1e6,
    });
    await checkoutTree({ gitDir: result.gitDir, commit: result.commit, dir: `${temp.path}/c` });
    const isTest = (path: string) => path.startsWith('test');
    await restoreFrom(
      { gitDir: result.gitDir, base: lab.base, dir: `${temp.path}/c` },
      { changed: isTest, added: isTest },
    );
    const delivered = await deliverBranch({
      source: lab.source,
      gitDir: result.gitDir,
      commit: result.commit,
      base: lab.base,
      ref: 'refs/heads/fleet/t1',
    });
    expect(existsSync(mark)).toBe(false);
    expect(paths(result)).toEqual(expect.arrayContaining(['a.txt', 'b.txt', 'own.txt']));
    expect(readFileSync(`${temp.path}/c/a.txt`, 'utf8')).toBe('changed\n');
    expect(readFileSync(`${temp.path}/c/test/t`, 'utf8')).toBe('t\n');
    expect(result.violations).toEqual(
      name === 'submodule' ? [expect.stringMatching(/^\.gitmodules: refused by git: gitmodules/)] : [],
    );
    if (name === 'submodule') expect(delivered).toMatchObject({ ok: false, failure: { reason: 'tampered' } });
    else expect(delivered.ok).toBe(true);
  });
});

test('what the base has already is not held against the agent', async () => {
  await using temp = await tempDir();
  const url = '[submodule "s"]\n\tpath = s\n\turl = ext::sh -c "x"\n\tupdate = !x\n';
  const lab = await makeLab(temp.path, { '.gitmodules': url });
  write(lab.tree, { '.gitignore': 'out\n' });
  expect(await lab.capture()).toMatchObject({ leftUncommitted: 1, violations: [] });
  write(lab.tree, { '.gitmodules': `${url}\n` });
  expect((await lab.capture()).violations).toEqual([expect.stringMatching(/^\.gitmodules: refused by git/)]);
});

test('most of them do run under plain git: the plants are real', async () => {
  const ran: string[] = [];
  for (const [name, plant] of Object.entries(PLANTED)) {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path, { 'a.txt': 'a\n' });
    plant(lab, `touch ${temp.path}/mark`);
    write(lab.tree, { 'a.txt': 'changed\n' });
    for (const args of [
      'status',
      'diff',
      'add -A',
      'commit -m x',
      'log -1 -p',
      'checkout -f HEAD -- .',
      'fetch',
      'ls-remote ssh://localhost/x',
    ]) {
      if (args.startsWith('checkout')) rmSync(`${lab.tree}/a.txt`);
      try {
        git(lab.tree, ...args.split(' '));
      } catch {
        // some cannot work with what was planted
      }
    }
    if (existsSync(`${temp.path}/mark`)) ran.push(name);
  }
  expect(ran).toEqual(
    expect.arrayContaining([
      'hooks',
      'fsmonitor',
      'filter clean',
      'filter smudge',
      'filter process',
      'diff.external',
      'textconv',
    ]),
  );
  expect(ran.length).toBeGreaterThanOrEqual(10);
});
