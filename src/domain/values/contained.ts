export interface ContainedCommand {
  /** Given to `sh -c`. */
  command: string;
  cwd: string;
  timeoutMs: number;
  /** Appended to, capped: the command, and both streams. */
  logFile: string;
}

export interface ContainedResult {
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  durationMs: number;
  /** What it printed, 2,000 characters at most: of one that failed from its first failure on, else the end. */
  said: string;
  /** Words in command position that the shell of the command could not run, each once, whatever the exit code. */
  notFound: string[];
  /** Who gave it no network at all: `network.checks of the worker's config.yaml`. */
  offlineBy?: string;
}
