import { formatBytes } from '../../domain/values/bytes.ts';
import { formatDuration } from '../../domain/values/duration.ts';
import { FAILURES } from '../../domain/agent/failure.ts';
import { unseen } from '../../domain/people/external-agent.ts';
import type { Finding } from '../../domain/evidence/receipt.ts';
import type { AgentOutcome } from '../../domain/run/outcome.ts';
import type { ReceiptCollector } from '../../ports.ts';
import { counted } from '../bounded.ts';

/** How the process ended, as its keeper saw it: by itself and with 0, or not. */
export const exit: ReceiptCollector = {
  kind: 'exit',
  async collect({ outcome, policy: { limits } }) {
    if (outcome.outside) return unseen(outcome.outside);
    const {
      exitCode,
      signal,
      stopped,
      leftover,
      isolation,
      startedAt,
      endedAt,
      stdout,
      stderr,
      unclean = false,
      outOfMemory = false,
      outOfProcesses = false,
      unlimited = false,
      redacted = 0,
      misasked,
    } = outcome;
    const durationMs = Date.parse(endedAt) - Date.parse(startedAt);
    const notes = [
      misasked !== undefined && `it left a question that cannot be asked: ${misasked}`,
      leftover > 0 &&
        `${counted(leftover, 'process', 'processes')} left behind ${leftover === 1 ? 'was' : 'were'} ended`,
      outOfMemory &&
        `the kernel killed something of it for want of memory${limits.memoryBytes ? `, of which it may use ${formatBytes(limits.memoryBytes)}` : ''}`,
      outOfProcesses && `it reached its limit of ${limits.processes} processes`,
      signal === 'SIGXFSZ' && 'the kernel ends who writes a file larger than limits.disk',
      unclean && 'something of it survived SIGKILL',
      redacted > 0 && `${counted(redacted, 'secret')} in its output ${redacted === 1 ? 'was' : 'were'} masked`,
      unlimited && 'held to its limits process by process only, as control groups cannot be written here',
      isolation === 'process-group' && 'held by a process group only, as namespaces are missing here',
    ].filter((note) => note !== false);
    return {
      ...judged(outcome),
      summary: [`${sentence(outcome)} after ${formatDuration(durationMs)}`, ...notes].join('; '),
      evidence: {
        exitCode,
        signal,
        stopped,
        leftover,
        isolation,
        startedAt,
        endedAt,
        durationMs,
        stdout,
        stderr,
        unclean,
        outOfMemory,
        outOfProcesses,
        unlimited,
        ...(redacted > 0 ? { redacted } : {}),
      },
    };
  },
};

function judged({
  exitCode,
  signal,
  stopped,
  unclean,
  outOfMemory,
  misasked,
}: AgentOutcome): Pick<Finding, 'ok' | 'reason'> {
  if (stopped || unclean) return { ok: false };
  if (exitCode !== 0 && outOfMemory) return { ok: false, reason: 'out-of-memory' };
  if (signal !== null || exitCode === null) return { ok: false, reason: 'crashed' };
  if (exitCode !== 0) return { ok: false, reason: 'agent-error' };
  // It wanted to hear something first: what there is, is not what it would have made of that.
  return { ok: misasked === undefined };
}

function sentence({ exitCode, signal, stopped, why }: AgentOutcome): string {
  if (stopped) return `stopped (${stopped}: ${why ?? FAILURES[stopped].meaning})`;
  if (signal !== null) return `killed by ${signal}`;
  return exitCode === null ? 'ended without an exit code' : `exited with ${exitCode}`;
}
