import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from '@jest/globals';
import type { Deps } from '../../src/activities/worker/context.ts';
import { beforeAgent, onSoundMachine } from '../../src/activities/worker/blame.ts';
import { SubmoduleRefused } from '../../src/adapters/git/worktree/lay-submodules.ts';
import { GlobTooSlow } from '../../src/adapters/glob.ts';
import { GitFailed } from '../../src/adapters/git/git.ts';
import { homeLayout } from '../../src/domain/names.ts';

const home = homeLayout('/srv/fleet');
const ref = { taskId: 't1', runId: '1-a' };
const { tree } = home.run(ref.taskId, ref.runId);
const deps = { home, worker: { name: 'A' } } as Deps;
const git = (broken?: string) =>
  new GitFailed(['read-tree'], {
    ...{ code: 128, stderr: 'fatal: File name too long', timedOut: false },
    ...(broken ? { broken } : {}),
  });
const path = (code: string, at: string) => Object.assign(new Error(`${code}: no, ${at}`), { code, path: at });

test.each<[string, Error, string]>([
  ['a git that refuses a name of the repository', git(), 'repo-unavailable'],
  ['a git that dies', git('SIGSEGV'), 'machine-fault'],
  ["a folder of the user's checkout that cannot be read", path('EACCES', '/home/ada/repo/private'), 'setup-failed'],
  ['a folder that setup has closed', path('EACCES', `${tree}/made`), 'setup-failed'],
  ['a path that is too long', path('ENAMETOOLONG', `${tree}/x/y`), 'setup-failed'],
  ["a folder of the worker's own", path('EACCES', `${home.root}/tasks`), 'machine-fault'],
  ['a submodule whose place is taken', new SubmoduleRefused('lib', 'its folder is not empty'), 'repo-unavailable'],
  ['a glob that takes too long', new GlobTooSlow(['*a*'], 'aaa'), 'invalid-task'],
  ['anything else', new Error('no'), 'machine-fault'],
])('before the agent, %s ends the run as what it is', async (_what, error, reason) => {
  const environment = new MockActivityEnvironment();
  const ended = environment.run(() => beforeAgent(deps, ref, () => Promise.reject(error)));
  expect(await ended).toMatchObject({ ok: false, failure: { reason } });
});

test('a glob that takes too long parks its task at any step, and is no fault of the machine', async () => {
  const step = () => onSoundMachine(deps, () => Promise.reject(new GlobTooSlow(['*a*'], 'aaa')));
  await expect(new MockActivityEnvironment().run(step)).rejects.toMatchObject({
    nonRetryable: true,
    details: [{ reason: 'invalid-task', message: 'the glob *a* takes seconds to match, at aaa: use fewer wildcards' }],
  });
});
