import type { Failure } from '../domain/failure.ts';
import type { Verified } from '../domain/run.ts';
import type { Task } from '../domain/task.ts';
import type { TaskBook } from './book.ts';
import type { Host } from './host.ts';

/** Brings an accepted result to where the repository came from. Undefined: delivered, or nothing to deliver. */
export async function deliverResult(
  host: Host,
  { task, book, verified }: { task: Task; book: TaskBook; verified: Verified },
): Promise<Failure | undefined> {
  if (task.deliver === 'none' || !verified.commit) return undefined;
  book.enter('delivering');
  const delivered = await host.call('deliver', (on) =>
    on.deliver({ ...host.ref, earlier: book.acceptedBefore(verified) }),
  );
  if (!delivered.ok) return delivered.failure;
  book.delivered(delivered.branch, delivered.commit);
  return undefined;
}
