import type { ScopeAsk } from '../../domain/scheduling/scope-locks.ts';
import type { Parsed } from '../../domain/task/parse.ts';
import type { Proposals } from '../../domain/people/follow-up-limits.ts';
import type { Dependency, HandedOff } from '../../domain/people/waiting.ts';
import type { TaskAlert } from './send-alert.ts';

/**
 * What a workflow needs done by any worker, at once and without a slot: local activities of the worker that carries it on.
 * Short calls, each harmless when repeated.
 */
export interface TaskServices {
  /** What a person wrote, with the defaults filled in. */
  parseTask(input: unknown): Promise<Parsed>;
  /** How tasks stand that may be closed, or unknown. */
  lookUpTasks(ids: readonly string[]): Promise<Dependency[]>;
  /** Those of them that are closed. */
  lookUpEnded(ids: readonly string[]): Promise<Dependency[]>;
  /** Makes tasks of what the agents of a run propose, the same ones each time. */
  createProposed(proposals: Proposals): Promise<HandedOff[]>;
  /** The next two tell how a task ended: `key` is the same however often it is said. */
  tellWebhook(said: TaskAlert & { url: string }): Promise<void>;
  /** By `alerts` of the worker that carries the task on. */
  tellPeople(said: TaskAlert): Promise<void>;
  /** A workflow cannot ask for its own cancellation. */
  cancelTask(id: string): Promise<void>;
  /** Starts the repository's `scopeLocks` where there is none, and asks for a place in it; gives that workflow's id. */
  askForScope(ask: { repo: string; machine?: string } & ScopeAsk): Promise<string>;
  /** Whether the configuration lets the word of that agent outside the fleet do where nothing can be verified. */
  trustsOutside(of: { as: string; labels: readonly string[] }): Promise<boolean>;
}
