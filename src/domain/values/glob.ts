const MAX_LENGTH = 256;
const MAX_WILDCARDS = 8;
const MAX_ALTERNATIVES = 64;
const SHOWN = 60;

/** What is wrong with a glob, or undefined. Its bounds keep it small; how long it takes to match is bounded where it is matched. */
export function checkGlob(glob: string): string | undefined {
  if (!glob) return 'must not be empty';
  if (glob.length > MAX_LENGTH) return `must be ${MAX_LENGTH} characters at most: ${clipped(glob)}`;
  if (/[\0\n\r\\]/.test(glob)) return 'must not contain backslashes or line breaks';
  if (glob.startsWith('/') || glob.split('/').includes('..')) return 'must be relative to the repository, without ".."';
  if (/[!?*+@]\(/.test(glob) || glob.startsWith('!')) return 'must not use negation or extended patterns such as +(a)';
  if ((glob.replaceAll('**', '*').match(/[*?]/g) ?? []).length > MAX_WILDCARDS)
    return `must have ${MAX_WILDCARDS} wildcards at most: ${clipped(glob)}`;
  if (!balanced(glob, '[', ']') || !balanced(glob, '{', '}')) return 'has an unbalanced bracket';
  const alternatives = alternativesIn(glob);
  if (alternatives > MAX_ALTERNATIVES)
    return `must have ${MAX_ALTERNATIVES} alternatives in braces at most: ${clipped(glob)} has ${alternatives}`;
  return undefined;
}

/** How many globs its braces stand for: `{a,b}/{c,d}` is four. */
export function alternativesIn(glob: string): number {
  const groups = glob.match(/\{[^}]*\}/g) ?? [];
  return groups.reduce((product, group) => product * group.split(',').length, 1);
}

const clipped = (glob: string): string => (glob.length > SHOWN ? `${glob.slice(0, SHOWN)}…` : glob);

function balanced(text: string, open: string, close: string): boolean {
  let depth = 0;
  for (const char of text) {
    if (char === open) depth += 1;
    if (char === close) depth -= 1;
    if (depth < 0 || depth > 1) return false;
  }
  return depth === 0;
}
