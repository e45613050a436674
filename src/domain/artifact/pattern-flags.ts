/** Flags of the patterns that artifacts must match. Multi-line: `^` and `$` are at the ends of each line. */
export const PATTERN_FLAGS = 'mu';
