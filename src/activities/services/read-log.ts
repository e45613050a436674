import { ApplicationFailure } from '@temporalio/activity';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readNote } from '../../adapters/state/notes.ts';
import { readAt, readSegments } from '../../adapters/state/log-segments.ts';
import { PROPOSED_SPEC } from '../../domain/produce/propose-spec.ts';
import type { Answers, FilePiece, FileQuestion, Question, TaskFile } from '../../domain/people/question.ts';
import { cleanedSentence } from '../worker/cleaned.ts';
import type { Deps } from '../worker/context.ts';
import { branchSaved, savedPatch, savedRuns } from '../save/saved-runs.ts';

const MAX_PIECE = 256 * 1024;
const POLL_MS = 200;

/** Answers one question of a client. */
export async function readLog<Q extends Question>(deps: Deps, question: Q): Promise<Answers[Q['ask']]>;
export async function readLog(deps: Deps, question: Question): Promise<Answers[Question['ask']]> {
  if (question.ask === 'file') return readFile(deps, question);
  return question.ask === 'work' ? savedRuns(deps, question.taskId) : branchSaved(deps, question);
}

async function readFile(deps: Deps, question: FileQuestion): Promise<FilePiece> {
  const deadline = performance.now() + Math.min(question.waitMs, 20_000);
  for (;;) {
    const live = deps.registry.list().some(({ taskId, n }) => taskId === question.taskId && n === question.n);
    const { bytes, next, gap } = await readPiece(deps, question);
    if (bytes.length > 0 || !live) return { text: bytes.toString('utf8'), next, gap, end: !live && bytes.length === 0 };
    if (performance.now() >= deadline) return { text: '', next, gap, end: false };
    await delay(POLL_MS);
  }
}

async function readPiece(deps: Deps, { taskId, n, file, offset }: FileQuestion) {
  const task = deps.home.task(taskId);
  const run = task.runOf(n);
  const gone = existsSync(run.dir) ? undefined : await cleanedSentence(deps, taskId);
  if (gone) throw ApplicationFailure.nonRetryable(gone, 'Cleaned');
  if (file === 'log' || file === 'stderr') {
    const piece = await readSegments(
      { dir: run.logs, stream: file === 'log' ? 'stdout' : 'stderr' },
      offset,
      MAX_PIECE,
    );
    return { ...piece, ...whole(piece.bytes, offset + piece.gap) };
  }
  const unjudged = async () => (file === 'diff' ? savedPatch(deps, { taskId, n, fresh: offset === 0 }) : undefined);
  const paths: Record<Exclude<TaskFile, 'log' | 'stderr'>, string> = {
    events: run.events,
    receipts: run.receipts,
    diff: existsSync(run.patch) ? run.patch : ((await unjudged()) ?? run.patch),
    acceptance: run.trialLog('acceptance'),
    setup: run.setupLog,
    plan: task.plan,
    knowledge: task.knowledge,
    spec: `${run.outputs}/${PROPOSED_SPEC}`,
  };
  const bytes = (await liveNote(deps, { taskId, file, offset })) ?? (await readAt(paths[file], offset, MAX_PIECE));
  return { gap: 0, ...whole(bytes, offset) };
}

/** While a run is live, its own copy of a note is the newest. */
async function liveNote(
  deps: Deps,
  { taskId, file, offset }: Pick<FileQuestion, 'taskId' | 'file' | 'offset'>,
): Promise<Buffer | undefined> {
  const record = deps.registry.list().find((run) => run.taskId === taskId);
  if (!record || (file !== 'plan' && file !== 'knowledge')) return undefined;
  const run = deps.home.run(taskId, record.runId);
  return readNote({ notes: run.notes, name: basename(run[file]), offset, max: MAX_PIECE });
}

/** Ends a piece before a UTF-8 character that it would cut in two. */
function whole(bytes: Buffer, offset: number): { bytes: Buffer; next: number } {
  const lead = bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80);
  const first = bytes[lead] ?? 0;
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  const end = lead > 0 && lead + size > bytes.length ? lead : bytes.length;
  return { bytes: bytes.subarray(0, end), next: offset + end };
}
