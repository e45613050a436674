import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet, RunPlace } from '../../client.ts';
import type { FilePiece, TaskFile } from '../../domain/people/question.ts';

/** How long the worker waits for news before it answers with nothing. */
const WAIT_MS = 10_000;

/** Between two looks at a file that grows: each is a workflow, and an agent can print without end. */
const GAP_MS = 500;
/** A piece of this length is one of many: the next one is there already. */
const LONG = 64 * 1024;

export interface Reading {
  run: RunPlace;
  file: TaskFile;
  /** Wait for more until the run has ended. */
  follow: boolean;
  signal?: AbortSignal;
}

/** The pieces of a file, in order, up to what is there now or, following, up to its end. */
export async function* readPieces(fleet: Fleet, { run, file, follow, signal }: Reading): AsyncGenerator<FilePiece> {
  let offset = 0;
  while (!signal?.aborted) {
    const asked = fleet.readRun(run, { file, offset, waitMs: follow ? WAIT_MS : 0 });
    const piece = await (signal ? unlessAborted(asked, signal) : asked);
    if (!piece) return void asked.catch(() => undefined);
    if (piece.text || piece.gap) yield piece;
    if (piece.end || (!follow && !piece.text)) return;
    offset = piece.next;
    if (follow && piece.text.length < LONG)
      await pause(GAP_MS, undefined, signal ? { signal } : {}).catch(() => undefined);
  }
}

/** Undefined once the signal aborts. A long log is asked for many times: nothing of each stays with the signal. */
async function unlessAborted<T>(asked: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let leave = (): void => undefined;
  const aborted = new Promise<undefined>((resolve) => (leave = () => resolve(undefined)));
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave);
  try {
    return await Promise.race([asked, aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

export async function readWhole(fleet: Fleet, run: RunPlace, file: TaskFile): Promise<{ text: string; gap: number }> {
  const whole = { text: '', gap: 0 };
  for await (const { text, gap } of readPieces(fleet, { run, file, follow: false })) {
    whole.text += text;
    whole.gap += gap;
  }
  return whole;
}
