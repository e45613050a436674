import type { TaskReport } from '../../client.ts';
import { formatDuration } from '../../domain/values/duration.ts';
import type { Cli } from '../command.ts';
import { elapsed, tokens, usageOf } from './report.ts';
import { oneLine } from './text.ts';

/** Follows a task: one line that updates on a terminal, else a line on each change. */
export interface StatusLine {
  show(report: TaskReport): void;
  /** Something to keep, above the line. */
  say(text: string): void;
  end(): void;
}

const CLEAR = '\r\u001b[K';

export function statusLine(cli: Cli): StatusLine {
  const live = cli.tty && !cli.json;
  let last = '';
  let shown = '';
  let ended = false;
  const clear = (): void => {
    if (live && shown) cli.raw(CLEAR);
  };
  return {
    show(report) {
      if (live) {
        shown = oneLine(describe(report, Date.now()), cli.width - 1);
        cli.raw(CLEAR + shown);
        return;
      }
      const { state, reason, worker, live: progress } = report;
      const change = JSON.stringify([state, reason, worker, progress?.lastEvent]);
      if (change === last) return;
      last = change;
      // With --json stdout is for the result alone.
      const line = oneLine(describe(report, Date.now()), 300);
      if (cli.json) cli.note(line);
      else cli.out(line);
    },
    say(text) {
      if (ended) return;
      clear();
      cli.note(oneLine(text));
      if (live && shown) cli.raw(shown);
    },
    end() {
      clear();
      ended = true;
    },
  };
}

/** `running · claude on ada · 3m 20s · 12.3k tokens · Bash npm test` */
export function describe(report: TaskReport, nowMs: number): string {
  const { state, coder, worker, message, live, retryAt } = report;
  const untilRetryMs = retryAt ? Date.parse(retryAt) - nowMs : 0;
  const used = tokens(usageOf(report));
  return [
    state,
    [coder, worker && `on ${worker}`].filter(Boolean).join(' '),
    elapsed(report, nowMs),
    used && `${used} tokens`,
    state === 'queued' && untilRetryMs > 0 && `next run in ${formatDuration(untilRetryMs)}`,
    state === 'running' ? (live?.doing ?? live?.lastEvent) : message,
  ]
    .filter(Boolean)
    .join(' · ');
}
