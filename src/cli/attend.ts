import { setTimeout as pause } from 'node:timers/promises';
import { leaseOf, type Config } from '../config.ts';
import { formatDuration } from '../domain/values/duration.ts';
import { keptSentences, tallySentence } from '../domain/worker/worker.ts';
import type { RunningWorker } from '../workers/worker.ts';
import type { Cli } from './command.ts';

export interface Attendance {
  config: Config;
  /** Stop by itself after this long without work. */
  untilIdleMs?: number | undefined;
}

/** Time for a second Ctrl-C where agents live: once the worker has stopped, it can stop no agent. */
const SECOND_THOUGHT_MS = 3_000;

/**
 * Stays with a worker until it has stopped. Ctrl-C once: it stops, and leaves live agents to the keeper for the next
 * worker to adopt; twice: the agents are stopped too. TERM is the first, without the wait for a second, or a drain: see
 * `worker.onTerm`. A drain, whoever asked for it, ends with a report.
 * @returns what broke it, where nobody had asked it to stop
 */
export async function attend(cli: Cli, worker: RunningWorker, { config, untilIdleMs }: Attendance): Promise<unknown> {
  const over = new AbortController();
  let ending = Promise.resolve();
  let signals = 0;
  let asked = false;
  const end = (how: 'leave-agents' | 'stop-agents'): void => {
    asked = true;
    ending = Promise.all([ending, worker.stop(how)]).then(() => undefined);
    // Awaited below; a failure before then is no unhandled one.
    ending.catch(() => undefined);
  };
  using _ = cli.onSignal((signal) => {
    signals += 1;
    const live = worker.slots.used();
    if (signals === 1 && signal === 'SIGTERM' && config.worker.onTerm === 'drain') {
      cli.note(`draining: ${live} run${live === 1 ? '' : 's'} to finish; TERM or Ctrl-C again stops the agents now`);
      asked = true;
      worker.drain();
    } else if (signals === 1) {
      cli.note(farewell(live, leaseOf(config).selfKillMs));
      if (!live || signal === 'SIGTERM') end('leave-agents');
      else
        pause(SECOND_THOUGHT_MS, undefined, { signal: over.signal }).then(
          () => signals === 1 && end('leave-agents'),
          () => undefined,
        );
    }
    if (signals === 2 && live) {
      cli.note('stopping the agents');
      end('stop-agents');
    }
  });
  if (untilIdleMs !== undefined) {
    whenIdle(worker, { ms: untilIdleMs, signal: over.signal }).then(
      () => end('leave-agents'),
      () => undefined,
    );
  }
  try {
    await worker.done;
    await ending;
    const report = worker.drained();
    if (report) cli.print({ report }, () => [`drained: ${tallySentence(report)}`, ...keptSentences(report)].join('\n'));
    return undefined;
  } catch (error) {
    if (asked) throw error;
    return error;
  } finally {
    over.abort();
  }
}

export function farewell(live: number, graceMs: number): string {
  if (!live) return 'stopping';
  const [agents, them] = live === 1 ? ['1 agent keeps', 'it'] : [`${live} agents keep`, 'them'];
  const again = `Ctrl-C again within ${formatDuration(SECOND_THOUGHT_MS)} to stop ${them} now`;
  return `${agents} running for ${formatDuration(graceMs)}: start again to adopt ${them}, ${again}`;
}

export interface IdleWatch {
  ms: number;
  signal: AbortSignal;
  /** For tests. */
  now?: () => number;
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const LONGEST_LOOK_MS = 5_000;

/** Resolves when every look at the worker found it idle for `ms`; rejects when the signal aborts. */
export async function whenIdle(worker: Pick<RunningWorker, 'idle'>, watch: IdleWatch): Promise<void> {
  const {
    ms,
    signal,
    now = () => performance.now(),
    sleep = (for_, on) => pause(for_, undefined, { signal: on }),
  } = watch;
  let since: number | undefined;
  for (;;) {
    signal.throwIfAborted();
    const started = now();
    // A server that does not answer is no sign of an empty queue.
    const idle = await worker.idle().catch(() => false);
    since = idle ? (since ?? started) : undefined;
    if (since !== undefined && now() - since >= ms) return;
    await sleep(Math.max(10, Math.min(LONGEST_LOOK_MS, ms / 4)), signal);
  }
}
