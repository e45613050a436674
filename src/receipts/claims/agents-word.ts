import type { Found } from '../../domain/evidence/receipt.ts';
import type { AgentsWord } from '../../domain/people/waiting.ts';
import type { Evidence } from '../../ports.ts';
import { excerpt } from '../bounded.ts';
import { toolCalls } from './shell-calls.ts';

const SAID_MAX = 1_500;
const CALL_MAX = 160;
const LISTED = 12;

/** What a person decides on where no receipt shows that the work was done, or a check of it could not tell. */
export function agentsWord(
  { outcome, structured, events, result }: Pick<Evidence, 'outcome' | 'structured' | 'events' | 'result'>,
  findings: readonly Found[],
): AgentsWord {
  const calls = toolCalls(events).map(
    ({ name, input, ok }) =>
      `${name} ${excerpt(input.replace(/\s+/g, ' '), CALL_MAX)}${ok === false ? ' (failed)' : ''}`,
  );
  const { outputs = [], unknown = [] } = findings.find(({ kind }) => kind === 'artifacts')?.evidence ?? {};
  return {
    said: excerpt(outcome.claim.trim(), SAID_MAX),
    // The last ones: what was done stands behind what was looked up.
    calls: structured ? calls.slice(-LISTED) : null,
    callCount: calls.length,
    outputs: (outputs as { path: string }[]).map(({ path }) => path),
    unknown: unknown as string[],
    changed: result.changes.slice(0, LISTED).map(({ path }) => path),
  };
}
