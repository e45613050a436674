import { checkoutTree, restoreProtected } from '../adapters/git/checkout.ts';
import { copyIgnored } from '../adapters/git/copy-ignored.ts';
import { formatDuration } from '../domain/duration.ts';
import type { ContainedResult, Evidence, ReceiptCollector } from '../ports.ts';
import { clip, counted } from './bounded.ts';

const TAIL_MAX = 600;
const COMMAND_MAX = 200;

interface Step {
  command: string;
  setup: boolean;
  result: ContainedResult;
}

/**
 * The task's commands, in a fresh checkout of the result with the protected files of the base. What they print is the
 * project's word, only their exit code counts; code that ends the test runner early still gets through.
 */
export const acceptance: ReceiptCollector = {
  kind: 'acceptance',
  async collect(evidence) {
    const { policy, result, acceptanceDir: dir, checkout } = evidence;
    if (policy.verify.length === 0) return undefined;
    await checkoutTree({ gitDir: result.gitDir, commit: result.commit, dir });
    await restoreProtected({ gitDir: result.gitDir, base: result.base, dir, protect: policy.protect });
    if (checkout !== null && policy.copy.length > 0) await copyIgnored({ checkout, tree: dir, globs: policy.copy });
    const { steps, skipped } = await runAll(evidence);
    const failed = steps.find((step) => !passed(step.result));
    return {
      ok: !failed && skipped === null,
      summary: failed
        ? explain(failed, policy.limits.verifyMs)
        : skipped !== null
          ? outOfTime(skipped, policy.limits.verifyMs)
          : praise(steps),
      evidence: {
        commit: result.commit,
        steps: steps.slice(0, 12).map(({ command, setup, result: { exitCode, signal, timedOut, durationMs } }) => ({
          command: clip(command, COMMAND_MAX / 2),
          ...(setup ? { setup } : {}),
          exitCode,
          signal,
          timedOut,
          durationMs,
        })),
        commands: policy.verify.length,
      },
    };
  },
};

/** All in order until one fails, within one limit for all. `skipped`: the command that there was no time left for. */
async function runAll(evidence: Evidence): Promise<{ steps: Step[]; skipped: string | null }> {
  const { policy, acceptanceDir: cwd, acceptanceLog: logFile } = evidence;
  const commands = [
    ...policy.setup.map((command) => ({ command, setup: true })),
    ...policy.verify.map((command) => ({ command, setup: false })),
  ];
  const steps: Step[] = [];
  let left = policy.limits.verifyMs;
  for (const { command, setup } of commands) {
    if (left <= 0) return { steps, skipped: command };
    const result = await evidence.run({ command, cwd, timeoutMs: Math.ceil(left), logFile });
    steps.push({ command, setup, result });
    left -= result.durationMs;
    if (!passed(result)) break;
  }
  return { steps, skipped: null };
}

const passed = ({ exitCode, timedOut }: ContainedResult): boolean => exitCode === 0 && !timedOut;

const quoted = (command: string): string => `\`${clip(command, COMMAND_MAX)}\``;

function explain({ command, setup, result }: Step, limitMs: number): string {
  const { exitCode, signal, timedOut } = result;
  const how = timedOut
    ? `did not end within ${formatDuration(limitMs)}`
    : exitCode === 127
      ? 'was not found (exit code 127)'
      : signal !== null
        ? `was killed by ${signal}`
        : `failed with exit code ${exitCode}`;
  const tail = result.tail.trim().slice(-TAIL_MAX);
  return `${setup ? 'the setup command ' : ''}${quoted(command)} ${how}${tail ? `:\n${tail}` : ''}`;
}

const outOfTime = (command: string, limitMs: number): string =>
  `${quoted(command)} was not run: the ${formatDuration(limitMs)} for verification were used up`;

function praise(steps: readonly Step[]): string {
  const verified = steps.filter(({ setup }) => !setup);
  const took = formatDuration(steps.reduce((sum, { result }) => sum + result.durationMs, 0));
  const what = verified.length === 1 ? quoted(verified[0]?.command ?? '') : counted(verified.length, 'command');
  return `${what} passed in a fresh checkout, in ${took}`;
}
