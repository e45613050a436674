import type { Found } from '../domain/receipt.ts';
import type { AgentsWord } from '../domain/waiting.ts';
import type { Evidence } from '../ports.ts';
import { clip } from './bounded.ts';
import { toolCalls } from './shell-calls.ts';

const SAID_MAX = 1_500;
const CALL_MAX = 160;
const LISTED = 12;

/** What a person decides on where no receipt shows that the work was done. */
export function agentsWord(
  { outcome, structured, events, result }: Pick<Evidence, 'outcome' | 'structured' | 'events' | 'result'>,
  findings: readonly Found[],
): AgentsWord {
  const calls = toolCalls(events).map(
    ({ name, input, ok }) => `${name} ${clip(input.replace(/\s+/g, ' '), CALL_MAX)}${ok === false ? ' (failed)' : ''}`,
  );
  const { outputs = [] } = findings.find(({ kind }) => kind === 'artifacts')?.evidence ?? {};
  return {
    said: clip(outcome.claim.trim(), SAID_MAX),
    // The last ones: what was done stands behind what was looked up.
    calls: structured ? calls.slice(-LISTED) : null,
    callCount: calls.length,
    outputs: (outputs as { path: string }[]).map(({ path }) => path),
    changed: result.changes.slice(0, LISTED).map(({ path }) => path),
  };
}
