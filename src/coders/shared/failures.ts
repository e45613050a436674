import type { CoderFailure } from '../../domain/agent/event.ts';

const WORDS: readonly (readonly [RegExp, CoderFailure])[] = [
  [/credit balance|billing|insufficient_quota|quota exceeded\. check your plan/i, 'auth'],
  [
    /ran out of room|context window|context length|prompt (?:is|as) too long|maximum context|too many tokens/i,
    'context-overflow',
  ],
  [/\b429\b|rate.?limit|usage limit|too many requests|resource.?exhausted|\bquota\b/i, 'rate-limited'],
  [/\b40[13]\b|\bunauthori[sz]ed\b|\bauthenticat|invalid api key|not logged in|\blog ?in\b|\bapi key\b/i, 'auth'],
  [/\b5\d\d\b|overloaded|at capacity|high demand|unavailable|internal server error|server had an error/i, 'overloaded'],
  [
    /ECONN|ENOTFOUND|ETIMEDOUT|fetch failed|(?:cannot|could not|unable to) connect|connection (?:error|failed|refused)|stream disconnected|network|^terminated$|socket hang up|premature close/i,
    'overloaded',
  ],
];

/** The class of a failure by the words that vendors and CLIs use for it: for where no code tells. */
export function failureIn(message: string): CoderFailure {
  return WORDS.find(([words]) => words.test(message))?.[1] ?? 'agent-error';
}

/** By the HTTP status of a model's answer; undefined for one that says nothing of it. */
export function failureOfStatus(status: unknown): CoderFailure | undefined {
  if (typeof status !== 'number') return undefined;
  if (status === 401 || status === 403 || status === 402) return 'auth';
  if (status === 429) return 'rate-limited';
  return status >= 500 ? 'overloaded' : undefined;
}
