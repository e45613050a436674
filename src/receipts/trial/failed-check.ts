import { formatDuration } from '../../domain/values/duration.ts';
import { statuses, type TestReport, type TestResult } from '../../domain/evidence/test-results.ts';
import { clip, counted, named, quoted } from '../bounded.ts';
import type { Step } from './trial.ts';

/** Failed tests that are told with what they said. */
const TESTS = 5;
const NAME_MAX = 200;
/** Characters of all that the failed tests said. */
const SAID_MAX = 2_000;

/**
 * Why a command did not pass, some 2,500 characters at most: how it ended, then the failed tests with what was expected and what
 * came, as their runner reported it. Where it did not, the command's output from its first failure on.
 */
export function whatFailed(step: Step, { limitMs, report }: { limitMs: number; report: TestReport | null }): string {
  const { command, setup, result } = step;
  const failed = report && !setup ? failedTests(report) : [];
  const telling = failed.filter(({ said }) => said);
  // What could not be loaded or built is told by the output alone where its runner says nothing.
  const isTold = telling.length > 0 && failed.every(({ fixture, said }) => !fixture || said);
  const unexplained =
    failed.length > 0 && !isTold
      ? `: ${named(
          failed.map(({ name }) => name),
          TESTS,
        )}`
      : '';
  const which = failed.length > 0 ? ` (${counted(failed.length, 'test')} failed${unexplained})` : '';
  const running = result.timedOut && !setup ? (report?.running ?? []) : [];
  const endless =
    running.length > 0
      ? `; still running: ${named(
          running.map((name) => `"${name}"`),
          3,
        )}`
      : '';
  const said = isTold ? testsSay(telling, failed.length) : result.said.trim();
  const offline = result.offlineBy !== undefined && NO_NETWORK.test(said) ? ` (${offlineHint(result.offlineBy)})` : '';
  return `${setup ? 'the setup command ' : ''}${quoted(command)} ${howItEnded(step, limitMs)}${endless}${which}${offline}${said ? `:\n${said}` : ''}`;
}

/** By file, in which order a runner ended them: one that runs files side by side reports them otherwise each time. */
const failedTests = (report: TestReport): TestResult[] =>
  [...statuses(report).values()]
    .filter(({ status }) => status === 'failed')
    .sort(({ file: a = '' }, { file: b = '' }) => (a < b ? -1 : Number(a > b)));

/** What programs say that reach no network; only a hint hangs on it. */
const NO_NETWORK =
  /\b(?:ENETUNREACH|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|no such host|dial tcp)\b|network is unreachable|(?:could not|couldn't|cannot|failed to) (?:resolve|connect)|name resolution/i;

const offlineHint = (by: string): string => `it had no network, by ${by}; what it fetches belongs into setup`;

function howItEnded({ result }: Step, limitMs: number): string {
  const { exitCode, signal, timedOut, notFound } = result;
  if (timedOut) return `did not end within ${formatDuration(limitMs)}`;
  if (exitCode === 127) return 'was not found (exit code 127)';
  if (notFound.length > 0) return `names ${named(notFound)}, which was not found`;
  return signal !== null ? `was killed by ${signal}` : `failed with exit code ${exitCode}`;
}

function testsSay(telling: readonly TestResult[], all: number): string {
  const shown = telling.slice(0, TESTS);
  const each = Math.floor(SAID_MAX / shown.length);
  const rest = all - shown.length;
  return [
    ...shown.map(({ name, file, said = '' }) => {
      const title = `✗ ${clip(name, NAME_MAX)}${file && file !== name ? ` (${clip(file, NAME_MAX)})` : ''}`;
      return [title, ...clip(said, each).split('\n')].join('\n  ');
    }),
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ].join('\n');
}
