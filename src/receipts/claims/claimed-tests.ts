import type { Counts } from '../../domain/evidence/test-results.ts';
import type { Evidence } from '../../ports.ts';
import { toolCalls, type ToolCall } from './shell-calls.ts';
import { ranTests } from './test-output.ts';

const PASSED =
  /\b(\d{1,7}) ?(?:\/|of|out of) ?\1 (?:[\w-]+ ){0,2}(?:tests?|specs?|checks?|pass|passed|passing)\b|\b(\d{1,7}) (?:[\w-]+ ){0,2}(?:tests? )?(?:passed|passing|pass)\b/gi;

/**
 * What an agent says of passing tests against what acceptance saw. An agent may run more of them than acceptance does, or fewer:
 * a number is impossible only where it is more than acceptance ran in all, the agent ran no test itself, and nothing that it
 * ran printed that number.
 */
export function impossibleTests(
  { structured, outcome, events, before }: Evidence,
  seen: Counts | null,
): string | undefined {
  if (!structured || !seen || outcome.ended?.ok !== true) return undefined;
  const ran = seen.passed + seen.failed + seen.skipped;
  const claimed = [...outcome.claim.replace(/[*_]/g, '').matchAll(PASSED)].map((match) => Number(match[1] ?? match[2]));
  const most = Math.max(0, ...claimed);
  const may = (call: ToolCall) => ranTests(call) || call.output.includes(String(most)) || /^mcp__|\./.test(call.name);
  if (most <= ran || toolCalls([...before, ...events]).some(may)) return undefined;
  return `the agent says that ${most} tests pass, but it ran none, and there are ${ran}`;
}
