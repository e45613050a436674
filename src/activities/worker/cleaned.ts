import { cleanedOf } from '../../adapters/state/retained-tasks.ts';
import { formatDuration } from '../../domain/values/duration.ts';
import type { Deps } from './context.ts';

/** Says of a task whose logs and results are gone when and why they went; undefined where this worker did not clean them. */
export async function cleanedSentence({ home }: Pick<Deps, 'home'>, taskId: string): Promise<string | undefined> {
  const cleaned = await cleanedOf(home, taskId);
  if (!cleaned) return undefined;
  return `what it kept of ${taskId} was cleaned after ${formatDuration(cleaned.ageMs)} (${cleaned.class}), on ${cleaned.at}`;
}
