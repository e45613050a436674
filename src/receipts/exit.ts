import { formatBytes } from '../domain/bytes.ts';
import { formatDuration } from '../domain/duration.ts';
import { FAILURES } from '../domain/failure.ts';
import type { Finding } from '../domain/receipt.ts';
import type { AgentOutcome } from '../domain/run.ts';
import type { ReceiptCollector } from '../ports.ts';
import { counted } from './bounded.ts';

/** How the process ended, as its keeper saw it: by itself and with 0, or not. */
export const exit: ReceiptCollector = {
  kind: 'exit',
  async collect({ outcome, policy: { limits } }) {
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
    } = outcome;
    const durationMs = Date.parse(endedAt) - Date.parse(startedAt);
    const notes = [
      leftover > 0 &&
        `${counted(leftover, 'process', 'processes')} left behind ${leftover === 1 ? 'was' : 'were'} ended`,
      outOfMemory &&
        `the kernel killed something of it for want of memory${limits.memoryBytes ? `, of which it may use ${formatBytes(limits.memoryBytes)}` : ''}`,
      outOfProcesses && `it reached its limit of ${limits.processes} processes`,
      unclean && 'something of it survived SIGKILL',
      unlimited && 'not limited, as control groups cannot be written here',
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
      },
    };
  },
};

function judged({ exitCode, signal, stopped, unclean, outOfMemory }: AgentOutcome): Pick<Finding, 'ok' | 'reason'> {
  if (stopped || unclean) return { ok: false };
  if (exitCode !== 0 && outOfMemory) return { ok: false, reason: 'out-of-memory' };
  if (signal !== null || exitCode === null) return { ok: false, reason: 'crashed' };
  return exitCode === 0 ? { ok: true } : { ok: false, reason: 'agent-error' };
}

function sentence({ exitCode, signal, stopped, why }: AgentOutcome): string {
  if (stopped) return `stopped (${stopped}: ${why ?? FAILURES[stopped].meaning})`;
  if (signal !== null) return `killed by ${signal}`;
  return exitCode === null ? 'ended without an exit code' : `exited with ${exitCode}`;
}
