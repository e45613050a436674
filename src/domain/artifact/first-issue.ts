import type { z } from 'zod';

/** One sentence for the first issue of a zod error, naming the field by its path. */
export function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  if (!issue) return 'invalid input';
  const path = issue.path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : (i ? '.' : '') + String(part)))
    .join('');
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.map((key) => (path ? `${path}.${key}` : key)).join(', ');
    return `${keys} is not a known field`;
  }
  return `${path || 'input'} ${sentenceOf(issue)}`;
}

/** What the field must be, in our words for the commonest issues of zod. */
function sentenceOf(issue: z.core.$ZodIssue): string {
  const { code, message } = issue;
  if (/^(must|is|needs|has)\b/.test(message)) return message;
  if (code === 'invalid_type') return `must be ${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`;
  if (code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  const unit = 'origin' in issue && issue.origin === 'string' ? ' characters' : '';
  if (code === 'too_big') return `must be at most ${issue.maximum}${unit}`;
  if (code === 'too_small') return `must be ${issue.inclusive ? 'at least' : 'above'} ${issue.minimum}${unit}`;
  return `is wrong: ${message}`;
}
