import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { saveWork } from '../../../src/activities/save/save-work.ts';
import { checkoutTree, restoreFrom } from '../../../src/adapters/git/worktree/checkout.ts';
import { deliverBranch } from '../../../src/adapters/git/deliver/deliver.ts';
import { diffstat, writePatch } from '../../../src/adapters/git/capture/patch.ts';
import { saveRescue } from '../../../src/adapters/git/rescue/rescue.ts';
import { openSource } from '../../../src/adapters/git/source/source.ts';
import { removeTree } from '../../../src/adapters/disk/remove-tree.ts';
import { git, makeLab, must, paths, write, type Lab } from '../../helpers/git.ts';
import { tempDir } from '../../helpers/temp.ts';
import { goOn, makeWorkLab } from '../../helpers/work.ts';
import { COMMANDS } from './commands.ts';
import { PLACES } from './places.ts';
import { makeProgram, type Planted, type Plot } from './plot.ts';

const PLANTED: Record<string, Planted> = { ...COMMANDS, ...PLACES };
/** Of git-lfs and the like only a machine that has them could tell. */
const EXPECTED_TO_RUN = Object.keys(PLANTED).filter((name) => PLANTED[name]?.plain);

/** A run whose agent committed, changed more, and planted; `mark` appears when a planted program runs. */
async function planted(dir: string, name: string): Promise<{ lab: Lab; plot: Plot; mark: string; ran: () => boolean }> {
  const lab = await makeLab(dir, { 'a.txt': 'a\n', 'test/t': 't\n' });
  write(lab.tree, { 'own.txt': 'committed' });
  git(lab.tree, 'add', '-A');
  git(lab.tree, 'commit', '-q', '-m', 'own');
  write(lab.tree, { 'a.txt': 'changed\n', 'test/t': 'changed\n', 'b.txt': 'b' });
  const mark = `${dir}/mark`;
  const { agentHome } = lab.home.run('t1', '1-a');
  mkdirSync(agentHome, { recursive: true });
  const plot = plotIn(lab.tree, agentHome, mark);
  PLANTED[name]!.plant(plot);
  return { lab, plot, mark, ran: () => existsSync(mark) };
}

function plotIn(tree: string, home: string, mark: string): Plot {
  const plot = { tree, home, run: `touch ${mark}`, program: `${tree}/.git/program` };
  makeProgram(plot);
  return plot;
}

test('there are enough of them', () => {
  expect(Object.keys(PLANTED).length).toBeGreaterThanOrEqual(50);
});

describe('in the whole life of a run, no planted program runs', () => {
  test.each(Object.keys(PLANTED))('%s', async (name) => {
    await using temp = await tempDir();
    const { lab, mark, ran } = await planted(temp.path, name);
    const { violation } = PLANTED[name]!;
    const url = `file://${temp.path}/remote.git`;
    git('/', 'clone', '-q', '--bare', lab.repo, `${temp.path}/remote.git`);

    // 1. Work saved while the agent lives, and shared; another run goes on from it, in a tree that setup planted in as well.
    const at = makeWorkLab(lab, { repo: url });
    await at.run(1);
    const saved = await saveWork(at.deps, { taskId: 't1', runId: '1-a' });
    if (violation) expect(saved).toBeNull();
    else {
      expect(saved).toMatchObject({ pushed: true });
      const later = lab.home.run('t1', '2-a');
      mkdirSync(later.agentHome, { recursive: true });
      const next = await goOn(lab, at, {
        setup: (tree) => PLANTED[name]!.plant(plotIn(tree, later.agentHome, mark)),
      });
      expect(next.found).not.toBeNull();
      if (next.resumed) expect(readFileSync(`${next.tree}/a.txt`, 'utf8')).toBe('changed\n');
    }

    // 2. The result, its patch, and what a person is shown of it.
    const result = await lab.capture();
    const { gitDir, commit, base } = result;
    expect(paths(result)).toEqual(expect.arrayContaining(['a.txt', 'b.txt', 'own.txt', 'test/t']));
    await writePatch({ gitDir, base, commit, file: `${temp.path}/p`, maxBytes: 1e6 });
    expect(readFileSync(`${temp.path}/p`, 'utf8')).toContain('+changed');
    expect((await diffstat({ gitDir, base, commit })).files).toBeGreaterThanOrEqual(4);

    // 3. Acceptance: a checkout with what is protected as it was.
    const dir = `${temp.path}/checkout`;
    await checkoutTree({ gitDir, commit, dir });
    expect(existsSync(`${dir}/.git`)).toBe(false);
    const isTest = (path: string) => path.startsWith('test');
    await restoreFrom({ gitDir, base, dir }, { changed: isTest, added: isTest });
    expect(['a.txt', 'test/t'].map((path) => readFileSync(`${dir}/${path}`, 'utf8'))).toEqual(['changed\n', 't\n']);

    // 4. Kept for a person, delivered into the user's repository and a bare remote, and cleaned.
    const { mirror, vaultOf } = lab.home;
    must(await saveRescue({ vaultDir: vaultOf('repo'), gitDir, commit, ref: 'refs/fleet/t1/1-a.kept' }));
    for (const repo of [lab.repo, url]) {
      const { source } = must(await openSource({ repo, mirrorDir: mirror }));
      const delivered = await deliverBranch({ source, gitDir, commit, base, ref: 'refs/heads/fleet/t1' });
      const refused = violation && source.kind === 'path' && name === 'command in .gitmodules';
      expect(delivered).toMatchObject(refused ? { ok: false, failure: { reason: 'tampered' } } : { ok: true });
    }
    await removeTree(lab.home.run('t1', '1-a').dir);
    await removeTree(lab.home.run('t1', '2-a').dir);
    expect(result.violations).toEqual(violation ? [expect.stringMatching(violation)] : []);
    expect(ran()).toBe(false);
  });
});

describe('control: most of them run under plain git', () => {
  const ran = new Set<string>();
  test.each(EXPECTED_TO_RUN)('%s', async (name) => {
    await using temp = await tempDir();
    const p = await planted(temp.path, name);
    for (const command of PLANTED[name]!.plain!) plainly(command, p.plot);
    if (p.ran()) ran.add(name);
  });
  test('as many as are claimed', () => {
    const quiet = EXPECTED_TO_RUN.filter((name) => !ran.has(name));
    // Other versions of git may have closed some of these doors.
    expect(quiet.slice(5)).toEqual([]);
    expect(ran.size).toBeGreaterThanOrEqual(48);
  });
});

/** As somebody would who trusts the agent's repository, with the agent's HOME. */
function plainly(command: string, { tree, home }: Plot): void {
  const who = { NAME: 'User', EMAIL: 'user@example.com' };
  const env = Object.entries(who).flatMap(([key, value]) => [
    [`GIT_AUTHOR_${key}`, value],
    [`GIT_COMMITTER_${key}`, value],
  ]);
  try {
    execFileSync('sh', ['-c', command], {
      cwd: tree,
      stdio: 'ignore',
      timeout: 20_000,
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        TERM: 'xterm',
        GIT_CONFIG_NOSYSTEM: '1',
        ...Object.fromEntries(env),
      },
    });
  } catch {
    // some cannot work with what was planted
  }
}
