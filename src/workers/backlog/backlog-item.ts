import type { Deps } from '../../activities/worker/context.ts';
import type { FleetConnection } from '../../client/connection.ts';
import type { TaskInput } from '../../domain/task/schema.ts';

/** Something that may be done next. */
export interface BacklogItem {
  /** The task's. */
  id: string;
  from: string;
  input: TaskInput;
  /** So that it is not taken again, also when the server has forgotten the task. */
  settle(): Promise<void>;
}

export interface Taking {
  deps: Deps;
  wire: FleetConnection;
  attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined>;
}
