import { mkdir, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { diskFull } from '../../adapters/git/failures.ts';
import { layOutWork } from '../../adapters/git/worktree/write-tree.ts';
import { readRef } from '../../adapters/git/rescue/rescue.ts';
import { fetchWip } from '../../adapters/git/rescue/wip.ts';
import { workOnto } from '../../adapters/git/worktree/rebase-work.ts';
import { readSavedNote, readSession, readWorkRecord, type WorkRecord } from '../../adapters/git/rescue/work-record.ts';
import { removeTree } from '../../adapters/disk/remove-tree.ts';
import type { Prepared, Resumed } from '../../adapters/state/run-registry.ts';
import { branchOf, workRef } from '../../domain/names.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { ResumeFrom } from '../../domain/agent/saved-work.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { Deps } from '../worker/context.ts';
import { savedOf } from '../save/save-work.ts';
import { wipOf } from '../save/push-wip.ts';

export type Found = { work: WorkRecord; shared: boolean; resume: ResumeFrom };

/** The newest saved work of the runs that may be gone on from: this worker's own, or what the remote has. */
export async function findWork(
  deps: Deps,
  { taskId, runId, task, resume }: RunRef & { task: Task; resume: ResumeFrom },
  { base, baseDir, repoKey }: Pick<Prepared, 'base' | 'baseDir' | 'repoKey'>,
): Promise<Found | null> {
  // Its base may differ: the task goes on from the commit that its result could not be merged with.
  const usable = (work: WorkRecord | undefined) =>
    work?.meta.taskId === taskId && resume.runIds.includes(work.meta.runId);
  const age = ({ meta }: WorkRecord) => resume.runIds.indexOf(meta.runId);

  const vault = deps.home.vaultOf(repoKey);
  const own = await firstOf(resume.runIds, async (id) => {
    const record = readRef(vault, workRef(taskId, id));
    const work = record ? await readWorkRecord(vault, record) : undefined;
    return usable(work) ? work : undefined;
  });
  if (own && age(own) === 0) return { work: own, shared: false, resume };
  const wip = wipOf(taskId, task);
  const dir = deps.home.run(taskId, runId).resume;
  const there = wip && (await fetchWip({ ...wip, dir, borrow: baseDir, format: base }))?.record;
  if (there && usable(there) && (!own || age(there) < age(own))) return { work: there, shared: true, resume };
  return own ? { work: own, shared: false, resume } : null;
}

/** Lays it out in a worktree that setup is done with. Gives what the run starts from and the paths that are the work's. */
export async function takeUp(
  deps: Deps,
  ref: RunRef & { coder: string },
  { found, base, baseDir }: { found: Found } & Pick<Prepared, 'base' | 'baseDir'>,
): Promise<{ resumed: Resumed; paths: string[] } | null> {
  const { work, shared, resume } = found;
  const files = deps.home.run(ref.taskId, ref.runId);
  const layOut = async () => {
    const identity = deps.config.git;
    const onBase = work.meta.base === base ? work : await workOnto({ work, base, baseDir, dir: files.onto, identity });
    return layOutWork({ tree: files.tree, baseDir, base, branch: branchOf(ref.taskId), work: onBase });
  };
  const laid = await layOut().catch((error: unknown) => {
    if (diskFull(files.dir)) throw error;
    return { ok: false as const, why: String(error) };
  });
  if (!laid.ok) {
    deps.log(`run ${ref.runId} starts from the base: the work of ${work.meta.runId} cannot be laid out: ${laid.why}`);
    return null;
  }
  const saved = savedOf(work, shared);
  const goesOn = work.meta.coder === ref.coder && !resume.spent?.includes(work.meta.runId);
  const session = goesOn ? await bringSession(files.session, work) : null;
  // This machine's own notes are there already.
  if (shared) await bringNotes(files, work);
  await Promise.all([files.resume, files.onto].map(removeTree));
  const other = work.meta.coder === ref.coder ? {} : { coder: work.meta.coder };
  const resumed = { runId: work.meta.runId, saved, why: resume.why, inFlight: work.meta.inFlight, session, ...other };
  return { resumed, paths: laid.paths };
}

async function bringNotes({ plan, knowledge }: { plan: string; knowledge: string }, work: WorkRecord): Promise<void> {
  for (const path of [plan, knowledge]) {
    const bytes = await readSavedNote(work, basename(path));
    if (bytes) await writeFile(path, bytes);
  }
}

async function bringSession(dir: string, work: WorkRecord): Promise<Resumed['session']> {
  const { session } = work.meta;
  const bytes = session && (await readSession(work));
  if (!session || !bytes) return null;
  await mkdir(dir, { recursive: true });
  const file = `${dir}/${session.file}`;
  await writeFile(file, bytes, { mode: 0o600 });
  return { id: session.id, file };
}

async function firstOf<T, R>(list: readonly T[], look: (one: T) => Promise<R | undefined>): Promise<R | undefined> {
  for (const one of list) {
    const found = await look(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
