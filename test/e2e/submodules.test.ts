import { rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TaskReport } from '../../src/client.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { TestFleet } from '../helpers/fleet.ts';
import { git } from '../helpers/git.ts';

/** Repositories with submodules: what agents and verification have of them, and what is said where they cannot be had. */

let fleet: TestFleet;

const sh = (script: string) => ({ command: ['sh', '-c', script], protocol: 'none' as const });
const COMMIT = 'git add -A && git commit -qm made';

beforeAll(async () => {
  fleet = await TestFleet.start();
  await fleet.worker('tasks', {
    worker: { slots: 4 },
    coders: {
      reads: sh(`cat libs/lib/value.txt > made.txt && ${COMMIT}`),
      edits: sh(`echo mine > libs/lib/value.txt; echo x > libs/lib/new.txt; echo x > made.txt; ${COMMIT}`),
      moves: sh(`git update-index --cacheinfo "160000,$(cat newer.txt),libs/lib" && git commit -qm moved`),
      invents: sh(`git update-index --cacheinfo "160000,$(git rev-parse HEAD),libs/lib" && git commit -qm moved`),
      writes: sh(`echo x > made.txt && ${COMMIT}`),
    },
  });
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const drain = async (input: Partial<TaskInput>): Promise<TaskReport> =>
  fleet.settled(await fleet.fleet.enqueue({ objective: 'Do it', retry: { maxAttempts: 1 }, ...input }));

/** An app with a library, as its owner has it, and both as others fetch them. */
async function make(name: string, yaml = ''): Promise<{ app: string; bare: string; lib: string; newer: string }> {
  const lib = await fleet.repo(`${name}-lib`, { 'value.txt': 'old\n' });
  const app = await fleet.repo(`${name}-app`, {
    'check.sh': 'test "$(cat libs/lib/value.txt)" = "$1"\n',
    ...(yaml && { '.fleet.yaml': yaml }),
  });
  git(app, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', `../${name}-lib`, 'libs/lib');
  await writeFile(`${lib}/value.txt`, 'newer\n');
  git(lib, 'commit', '-qam', 'Newer');
  const newer = git(lib, 'rev-parse', 'HEAD');
  await writeFile(`${app}/newer.txt`, `${newer}\n`);
  git(app, 'add', '-A');
  git(app, 'commit', '-qm', 'With the library');
  const bare = `${fleet.root}/${name}-app.git`;
  git(fleet.root, 'clone', '-q', '--bare', app, bare);
  return { app, bare, lib, newer };
}
const receipt = (report: TaskReport, kind: string) => report.receipts.find((each) => each.kind === kind);

describe('submodules', () => {
  test.concurrent('are there for the agent and in verification, of a path and of a URL', async () => {
    const { app, bare } = await make('read');
    for (const repo of [app, `file://${bare}`]) {
      const report = await drain({ repo, coder: 'reads', verify: ['sh check.sh old', 'test "$(cat made.txt)" = old'] });
      expect(report).toMatchObject({ state: 'done', verdict: { acceptance: true } });
      expect(receipt(report, 'git')?.summary).toBe('1 commit, 1 file (1 added)');
    }
  });

  test.concurrent('may not be changed: the files are named, and the rest is kept', async () => {
    const { app } = await make('edit', 'setup: ["echo x > libs/lib/built.txt"]\n');
    const report = await drain({ repo: app, coder: 'edits', verify: ['sh check.sh old'] });
    expect(report).toMatchObject({ state: 'parked', reason: 'scope-violation' });
    const inSubmodules = ['libs/lib/value.txt', 'libs/lib/new.txt'];
    expect(receipt(report, 'scope')).toMatchObject({ ok: false, evidence: { inSubmodules } });
    expect(report.runs[0]?.commit).toMatch(/^[0-9a-f]{40}$/);
  });

  test.concurrent('move to a commit that their own repository has, and are tried out there', async () => {
    const { app, newer } = await make('move');
    const report = await drain({ repo: app, coder: 'moves', verify: ['sh check.sh newer'] });
    expect(report).toMatchObject({ state: 'done', verdict: { acceptance: true } });
    expect(git(app, 'rev-parse', `fleet/${report.id}:libs/lib`)).toBe(newer);
  });

  test.concurrent('do not move to one that it has not', async () => {
    const { app } = await make('invent');
    const report = await drain({ repo: app, coder: 'invents', verify: ['true'] });
    expect(report).toMatchObject({ state: 'parked', reason: 'receipts-rejected' });
    expect(receipt(report, 'acceptance')).toMatchObject({ ok: false, evidence: { why: 'no-commit' } });
    expect(receipt(report, 'acceptance')?.summary).toMatch(
      /^submodule libs\/lib cannot be checked out: .* has no commit/,
    );
  });

  test.concurrent('that cannot be had: refused before anything is made, or parked with their name', async () => {
    const { app, bare, lib } = await make('gone');
    await rm(lib, { recursive: true });
    const report = await drain({ repo: `file://${bare}`, coder: 'writes' });
    expect(report).toMatchObject({ state: 'parked', reason: 'repo-unavailable', attempts: { used: 0 } });
    expect(report.message).toMatch(
      /^submodule libs\/lib cannot be checked out: .*; to go on without it, name those that are needed in `submodules`/,
    );
    const without = await drain({
      repo: `file://${bare}`,
      coder: 'writes',
      submodules: 'none',
      verify: ['test ! -e libs/lib/value.txt'],
    });
    expect(without).toMatchObject({ state: 'done' });
    git(app, 'config', '-f', '.gitmodules', 'submodule.libs/lib.url', 'ext::sh -c true');
    git(app, 'config', '--unset', 'submodule.libs/lib.url');
    git(app, 'commit', '-qam', 'Elsewhere');
    await rm(`${app}/.git/modules`, { recursive: true });
    await expect(drain({ repo: app })).rejects.toThrow(
      /^submodule libs\/lib cannot be checked out: its URL ext::sh -c true must be an https, ssh or file URL;/,
    );
  });
});
