import { readSegments, type LogStream } from '../../adapters/state/log-segments.ts';
import { askedIn, lastLines, promptIn } from '../../domain/agent/terminal-prompts.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { Deps } from '../worker/context.ts';
import type { Follower } from './event-follower.ts';

/** A login's address alone may take a tenth of it. */
const TAIL_BYTES = 16 * 1_024;

interface Said {
  follower: Follower;
  stderrBytes: number;
}

/** What an agent waits for at a terminal that it does not have: half a minute without news behind a prompt tells. */
export const promptedFor = (deps: Deps, ref: RunRef, said: Said): Promise<string | undefined> =>
  inTails(deps, ref, { ...said, look: promptIn });

/**
 * What an agent that made no progress to its limit waited for: as its coder told it, as a program asked for it, or was refused
 * it last. A line that only looks like a question is no reason to stop anybody earlier.
 */
export async function askedFor(deps: Deps, ref: RunRef, said: Said): Promise<string | undefined> {
  const { waiting, last } = said.follower;
  const asked = waiting ?? (await inTails(deps, ref, { ...said, look: askedIn }));
  return asked ?? (last?.type === 'refused' ? last.what : undefined);
}

/** What an agent said last: its last message, or what its streams end with. */
export const lastSaid = async (deps: Deps, ref: RunRef, said: Said): Promise<string | undefined> =>
  lastLines(said.follower.text) ?? inTails(deps, ref, { ...said, look: lastLines });

async function inTails(
  deps: Deps,
  ref: RunRef,
  { follower, stderrBytes, look }: Said & { look: typeof askedIn },
): Promise<string | undefined> {
  const n = deps.registry.find(ref)?.n ?? 0;
  const dir = deps.home.task(ref.taskId).runOf(n).logs;
  const tail = async (stream: LogStream, bytes: number) =>
    (await readSegments({ dir, stream }, Math.max(0, bytes - TAIL_BYTES), TAIL_BYTES)).bytes.toString('utf8');
  return look(await tail('stderr', stderrBytes)) ?? look(await tail('stdout', follower.read));
}
