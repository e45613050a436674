import { ApplicationFailure } from '@temporalio/activity';
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { deliverBranch } from '../../adapters/git/deliver/deliver.ts';
import { diffstat, writePatch } from '../../adapters/git/capture/patch.ts';
import { readRef } from '../../adapters/git/rescue/rescue.ts';
import { openSource } from '../../adapters/git/source/source.ts';
import { readWorkRecord, type WorkRecord } from '../../adapters/git/rescue/work-record.ts';
import { readJson } from '../../adapters/disk/json-file.ts';
import { names } from '../../adapters/state/retained-tasks.ts';
import type { Prepared } from '../../adapters/state/run-registry.ts';
import { numberOf, rescueFolder, workRef } from '../../domain/names.ts';
import type { BranchQuestion } from '../../domain/people/question.ts';
import type { SavedRun } from '../../domain/agent/saved-work.ts';
import { branchFault } from '../../domain/task/parse.ts';
import { cleanedSentence } from '../worker/cleaned.ts';
import type { Deps } from '../worker/context.ts';

const PATCH_MAX = 4 * 1024 * 1024;

type Here = Pick<Deps, 'home'>;

/** What this worker has saved of a task, newest run first. Throws `Cleaned` where it was cleaned. */
export async function savedRuns(deps: Here, taskId: string): Promise<SavedRun[]> {
  const works = await readWorks(deps, taskId);
  return Promise.all(
    works.map(async ({ gitDir, commit, meta }) => {
      const { runId, n, coder, base, head, session, at } = meta;
      return {
        runId,
        n,
        coder,
        base,
        commit,
        head,
        session: session !== null,
        at,
        ...(await diffstat({ gitDir, base, commit })),
      };
    }),
  );
}

/** The file with the change of a run whose result was never judged; undefined where nothing of it was saved. */
export async function savedPatch(
  deps: Here,
  { taskId, n, fresh }: { taskId: string; n: number; /** Written anew. */ fresh: boolean },
): Promise<string | undefined> {
  const file = `${deps.home.task(taskId).runOf(n).dir}/saved.patch`;
  if (!fresh && existsSync(file)) return file;
  const work = (await readWorks(deps, taskId)).find(({ meta }) => meta.n === n);
  if (!work) return undefined;
  // Somebody else may be reading it.
  const draft = `${file}.${process.hrtime.bigint()}`;
  const { gitDir, commit, meta } = work;
  await writePatch({ gitDir, base: meta.base, commit, file: draft, maxBytes: PATCH_MAX });
  await rename(draft, file);
  return file;
}

/** Makes a branch at saved work, as `deliverBranch` does: nothing is ever overwritten. */
export async function branchSaved(
  deps: Here & Pick<Deps, 'inContact' | 'worker'>,
  { taskId, runId, branch }: BranchQuestion,
): Promise<{ commit: string }> {
  const prepared = await readPrepared(deps, taskId);
  const work = (await readWorks(deps, taskId)).find(({ meta }) => meta.runId === runId);
  const repo = prepared?.task.repo;
  const wrong = branchFault(branch);
  if (wrong) throw refused(wrong);
  if (!work) throw refused(`it has no saved work of run ${runId} of ${taskId}`);
  if (!repo) throw refused(`task ${taskId} has no repository that could get a branch`);
  if (!deps.inContact()) throw new Error(`${deps.worker.name} has lost contact with the server`);
  const opened = await openSource({ repo, mirrorDir: deps.home.mirror });
  if (!opened.ok) throw refused(opened.failure.message);
  const { gitDir, commit, meta } = work;
  const ref = `refs/heads/${branch}`;
  const made = await deliverBranch({ source: opened.source, gitDir, commit, base: meta.base, ref });
  if (!made.ok) throw refused(made.failure.message);
  return { commit };
}

async function readWorks(deps: Here, taskId: string): Promise<WorkRecord[]> {
  const prepared = await readPrepared(deps, taskId);
  if (!prepared) return [];
  const vault = deps.home.vaultOf(prepared.repoKey);
  // A run's own ref stands beside that of its work.
  const ids = (await names(`${vault}/${rescueFolder(taskId)}`)).filter((name) => !name.includes('.'));
  const works = await Promise.all(
    ids.map(async (runId) => {
      const id = readRef(vault, workRef(taskId, runId));
      const work = id ? await readWorkRecord(vault, id) : undefined;
      return work ? [work] : [];
    }),
  );
  return works
    .flat()
    .sort((a, b) => numberOf(b.meta.runId) - numberOf(a.meta.runId) || (a.meta.at < b.meta.at ? 1 : -1));
}

async function readPrepared({ home }: Here, taskId: string): Promise<Prepared | undefined> {
  const prepared = await readJson<Prepared>(home.task(taskId).prepared);
  const gone = prepared ? undefined : await cleanedSentence({ home }, taskId);
  if (gone) throw ApplicationFailure.nonRetryable(gone, 'Cleaned');
  return prepared;
}

const refused = (message: string): ApplicationFailure => ApplicationFailure.nonRetryable(message, 'Refused');
