const MAX_LENGTH = 256;
const MAX_WILDCARDS = 8;

/** What is wrong with a glob, or undefined. Bounded so that no pattern can make matching slow. */
export function checkGlob(glob: string): string | undefined {
  if (!glob) return 'must not be empty';
  if (glob.length > MAX_LENGTH) return `must be ${MAX_LENGTH} characters at most`;
  if (/[\0\n\r\\]/.test(glob)) return 'must not contain backslashes or line breaks';
  if (glob.startsWith('/') || glob.split('/').includes('..')) return 'must be relative to the repository, without ".."';
  if (/[!?*+@]\(/.test(glob) || glob.startsWith('!')) return 'must not use negation or extended patterns such as +(a)';
  if ((glob.replaceAll('**', '*').match(/[*?]/g) ?? []).length > MAX_WILDCARDS)
    return `must have ${MAX_WILDCARDS} wildcards at most`;
  if (!balanced(glob, '[', ']') || !balanced(glob, '{', '}')) return 'has an unbalanced bracket';
  return undefined;
}

function balanced(text: string, open: string, close: string): boolean {
  let depth = 0;
  for (const char of text) {
    if (char === open) depth += 1;
    if (char === close) depth -= 1;
    if (depth < 0 || depth > 1) return false;
  }
  return depth === 0;
}
