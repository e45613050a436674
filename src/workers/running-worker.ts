import type { Config } from '../config.ts';
import type { Tally } from '../domain/worker/worker.ts';

export interface WorkerOptions {
  home: string;
  config: Config;
  env: NodeJS.ProcessEnv;
  log(line: string): void;
}

export interface RunningWorker {
  name: string;
  machine: string;
  hostQueue: string;
  queues: string[];
  /** When it attached. The version is null where the program did not tell. */
  coders: { name: string; version: string | null }[];
  slots: { total: number; used(): number };
  /** Resolves when the worker has stopped; rejects where the SDK's worker broke, or its server is another one now. */
  done: Promise<void>;
  /** `leave-agents`: they go on under the keeper for the self-kill deadline, to be adopted by the next worker here. */
  stop(how: 'leave-agents' | 'stop-agents'): Promise<void>;
  /** Takes no new work, and stops when its last run has ended. */
  drain(): void;
  /** What became of its runs, where it has drained. */
  drained(): Tally | undefined;
  /** No run here, and no backlog in any queue that it claims from. */
  idle(): Promise<boolean>;
}
