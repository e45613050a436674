import { readSegments, type LogStream } from '../adapters/segments.ts';
import { askedIn } from '../domain/asks.ts';
import type { RunRef } from '../domain/run.ts';
import type { Deps } from './context.ts';
import type { Follower } from './follow.ts';

const TAIL_BYTES = 1_024;

/** What a silent agent waits for: as its coder told it, was refused it last, or as a program asks a terminal for it. */
export async function askedFor(
  deps: Deps,
  ref: RunRef,
  { follower, stderrBytes }: { follower: Follower; stderrBytes: number },
): Promise<string | undefined> {
  if (follower.waiting) return follower.waiting;
  const n = deps.registry.find(ref)?.n ?? 0;
  const dir = deps.home.task(ref.taskId).runOf(n).logs;
  const tail = async (stream: LogStream, bytes: number) =>
    (await readSegments({ dir, stream }, Math.max(0, bytes - TAIL_BYTES), TAIL_BYTES)).bytes.toString('utf8');
  const asked = askedIn(await tail('stderr', stderrBytes)) ?? askedIn(await tail('stdout', follower.read));
  return asked ?? (follower.last?.type === 'refused' ? follower.last.what : undefined);
}
