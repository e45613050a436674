import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { failpoint } from '../../adapters/failpoint.ts';
import { readAgentFile } from '../../adapters/sandbox/agent-file.ts';
import { treeOf } from '../../adapters/git/entries.ts';
import { pathsOf } from '../../adapters/git/worktree/lay-submodules.ts';
import { readRef, saveRescue } from '../../adapters/git/rescue/rescue.ts';
import { markForPruning } from '../../adapters/git/rescue/vault.ts';
import { captureResult } from '../../adapters/git/capture/result.ts';
import { formatOf, initGitDir, writeRef } from '../../adapters/git/init.ts';
import {
  NOTE_MAX,
  readSavedNote,
  readSession,
  readWorkRecord,
  SESSION_MAX,
  writeWorkRecord,
  type WorkRecord,
} from '../../adapters/git/rescue/work-record.ts';
import { readJson } from '../../adapters/disk/json-file.ts';
import { readNote } from '../../adapters/state/notes.ts';
import { removeTree } from '../../adapters/disk/remove-tree.ts';
import type { Prepared, RunRecord } from '../../adapters/state/run-registry.ts';
import { rescueFolder, rescueRef, workRef } from '../../domain/names.ts';
import type { RunRef, Verified } from '../../domain/view/task-view.ts';
import type { SavedWork } from '../../domain/agent/saved-work.ts';
import type { AgentOutcome } from '../../domain/run/outcome.ts';
import { isSessionId, type WorkMeta } from '../../domain/agent/work-meta.ts';
import type { Deps } from '../worker/context.ts';
import { readEvents } from '../output/event-follower.ts';
import { shareWork } from './push-wip.ts';

/**
 * Saves what a run has made so far: its tree, its commits and its coder's session, on `rescueRef` in the vault, and on
 * `wipRef` at the repository's remote where that takes it. Works beside a live agent as well. Null: nothing changed.
 */
export async function saveWork(
  deps: Deps,
  ref: RunRef,
  { share }: { share: boolean } = { share: true },
): Promise<SavedWork | null> {
  const kept = await keepWork(deps, ref);
  return kept && savedOf(kept, share && (await shareWork(deps, ref, { record: kept })));
}

const saving = new Map<string, Promise<unknown>>();

/** The part of it that stays on this machine. One at a time for a run: the last one has the newest. */
export async function keepWork(deps: Deps, ref: RunRef): Promise<WorkRecord | null> {
  const before = saving.get(ref.runId) ?? Promise.resolve();
  const mine = before.then(() => keep(deps, ref));
  const settled = mine.catch(() => undefined);
  saving.set(ref.runId, settled);
  try {
    return await mine;
  } finally {
    if (saving.get(ref.runId) === settled) saving.delete(ref.runId);
  }
}

async function keep(deps: Deps, ref: RunRef): Promise<WorkRecord | null> {
  const record = deps.registry.find(ref);
  if (!record?.prepared) return null;
  const run = { ...record, prepared: record.prepared };
  const files = deps.home.run(ref.taskId, ref.runId);
  await removeTree(files.save);
  try {
    const made = await madeBy(deps, run);
    return made && (await store(deps, run, made));
  } finally {
    await removeTree(files.save);
  }
}

type Run = RunRecord & { prepared: Prepared };

interface Made {
  /** A repository of ours that has the commits. */
  gitDir: string;
  commit: string;
  head: string;
  /** What a person may say yes to, where that is another commit. */
  judged?: string;
}

/** What a verdict was given on, or the tree as it is now; the base where nothing was changed. Null: nothing that may be gone on from. */
async function madeBy(deps: Deps, { taskId, runId, prepared }: Run): Promise<Made | null> {
  const files = deps.home.run(taskId, runId);
  const { base, baseDir, preexisting } = prepared;
  const verified = await readJson<Verified>(files.verified);
  if (verified) {
    const head = readRef(files.result, 'refs/heads/head');
    if (!verified.commit) return { gitDir: files.result, commit: base, head: base };
    // What was rejected goes on from what its agent left, with nothing put back.
    const own = verified.verdict.accepted ? null : readRef(files.result, 'refs/heads/result');
    const judged = own !== null && own !== verified.commit ? { judged: verified.commit } : {};
    return { gitDir: files.result, commit: own ?? verified.commit, head: head ?? base, ...judged };
  }
  const result = await steady(() =>
    captureResult({
      ...{ tree: files.tree, resultDir: files.save, baseDir, base, taskId },
      ...{ identity: deps.config.git, preexisting, submodules: pathsOf(prepared.submodules) },
    }),
  );
  // What a live agent removed meanwhile is gone; anything else could lead out of the tree of whoever goes on from it.
  const odd = result.violations.filter((violation) => !violation.endsWith('cannot be read (ENOENT)'));
  if (odd.length > 0) return null;
  return { gitDir: result.gitDir, commit: result.commit, head: result.commits.at(-1)?.id ?? base };
}

/** A live agent may change a file while it is read. */
async function steady<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await read();
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}

/** Into the vault, unless the same is there, or there is neither a change nor a conversation. */
async function store(deps: Deps, run: Run, made: Made): Promise<WorkRecord | null> {
  const { taskId, runId, prepared } = run;
  const { save } = deps.home.run(taskId, runId);
  const vaultDir = deps.home.vaultOf(prepared.repoKey);
  const there = readRef(vaultDir, workRef(taskId, runId));
  const old = there ? await readWorkRecord(vaultDir, there) : undefined;
  const same =
    old?.meta.head === made.head && (await treeOf({ gitDir: vaultDir, commit: old.commit })) === (await treeOf(made));
  const commit = same ? old.commit : made.commit;
  const { session, inFlight } = await conversationOf(deps, run);
  if (made.commit === prepared.base && !session) return null;
  const notes = await notesOf(deps, run);
  if (same && (await hasAlong(old, { session: session?.bytes, notes }))) return old;

  const meta: WorkMeta = {
    ...{ taskId, runId, n: run.n, workflow: run.workflowRunId, base: prepared.base, head: made.head, coder: run.coder },
    ...{ session: session && { id: session.id, file: session.name }, inFlight },
    ...{ claimedAt: run.claimedAt, at: new Date().toISOString() },
  };
  if (made.gitDir !== save)
    initGitDir({ dir: save, format: formatOf(commit), head: 'ref: refs/heads/none', bare: true, borrow: made.gitDir });
  const identity = deps.config.git;
  const id = await writeWorkRecord({
    gitDir: save,
    commit,
    meta,
    session: session?.bytes ?? null,
    notes: await notesOf(deps, run),
    identity,
  });
  const kept = await saveRescue({ vaultDir, gitDir: save, commit: id, ref: workRef(taskId, runId) });
  if (!kept.ok) throw new Error(kept.failure.message);
  const rescue = rescueRef(taskId, runId);
  if (made.judged === undefined) writeRef(vaultDir, rescue, commit);
  else await saveRescue({ vaultDir, gitDir: made.gitDir, commit: made.judged, ref: rescue });
  // The next run's work is then only what it adds, also when this one's is gone.
  writeRef(vaultDir, 'refs/base', prepared.base);
  failpoint('save.kept');
  return { gitDir: vaultDir, id, commit, meta };
}

/** The agent's notes by name; empty where it has written none. */
async function notesOf({ home }: Deps, { taskId, runId }: RunRef): Promise<Map<string, Buffer>> {
  const { plan, knowledge } = home.run(taskId, runId);
  const read = [plan, knowledge].map(async (path) => {
    const name = basename(path);
    return [name, (await readNote({ notes: dirname(path), name, offset: 0, max: NOTE_MAX })) ?? NOTHING] as const;
  });
  return new Map(await Promise.all(read));
}

async function hasAlong(
  work: WorkRecord,
  { session = NOTHING, notes }: { session: Buffer | undefined; notes: ReadonlyMap<string, Buffer> },
): Promise<boolean> {
  if (!((await readSession(work)) ?? NOTHING).equals(session)) return false;
  for (const [name, text] of notes) if (!((await readSavedNote(work, name)) ?? NOTHING).equals(text)) return false;
  return true;
}

const NOTHING = Buffer.alloc(0);
const IN_FLIGHT_MAX = 500;
const TRIES = 3;

/** The coder's session with its file, and the tool call that nobody saw the end of, by the events seen so far. */
async function conversationOf(deps: Deps, { taskId, runId, n, coder: name, prepared }: Run) {
  const files = deps.home.run(taskId, runId);
  const events = await readEvents(deps.home.task(taskId).runOf(n).events);
  const ended = new Set(events.flatMap((event) => (event.type === 'tool-result' ? event.id : [])));
  const call = events.findLast((event) => event.type === 'tool-call');
  const inFlight = call && !ended.has(call.id) ? `${call.name} ${call.input}`.slice(0, IN_FLIGHT_MAX) : null;
  const begun = events.findLast((event) => event.type === 'started');
  const carried = prepared.resumed?.session;
  // Its agent never came to speak: what it was to go on with is as it was.
  if (!begun && carried) {
    const bytes = await readFile(carried.file).catch(() => NOTHING);
    return { session: bytes.length > 0 ? { id: carried.id, name: basename(carried.file), bytes } : null, inFlight };
  }
  const id = begun?.session;
  const names = id && isSessionId(id) && deps.knownCoders.get(name)?.sessionFile?.(id);
  const outcome = await readJson<AgentOutcome>(files.outcome);
  // A conversation that outgrew the model would do so again.
  if (!id || !names || outcome?.ended?.failure === 'context-overflow') return { session: null, inFlight };
  const file = await readAgentFile({ root: files.agentHome, names, maxBytes: SESSION_MAX });
  // A line that is being written is left out.
  const bytes = file?.bytes.subarray(0, file.bytes.lastIndexOf(10) + 1);
  return { session: file && bytes?.length ? { id, name: file.name, bytes } : null, inFlight };
}

/** Removes what was saved of a task's runs on this machine: it is done. */
export async function forgetWork(
  { home }: Pick<Deps, 'home'>,
  taskId: string,
  { repoKey }: Pick<Prepared, 'repoKey'>,
): Promise<void> {
  const vaultDir = home.vaultOf(repoKey);
  const folder = `${vaultDir}/${rescueFolder(taskId)}`;
  if (!existsSync(folder)) return;
  await markForPruning(vaultDir);
  await removeTree(folder);
}

export function savedOf({ meta, commit }: WorkRecord, pushed: boolean): SavedWork {
  return { commit, head: meta.head, session: meta.session?.id ?? null, pushed, at: meta.at };
}
