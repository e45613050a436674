import picomatch from 'picomatch';

// `s`: a path may hold a line break, and `**` must match that too.
const OPTIONS = { dot: true, nonegate: true, noextglob: true, flags: 's' } as const;

/**
 * A test of paths (relative, `/` between, no leading `./`) against globs; dot files count like any other. A glob that
 * ends in `/`, or whose last part has no wildcard, names a file or a folder with everything below: `test`, `a?/src`.
 * A path is also what it literally says: `app/[id]`, `app/(auth)`.
 */
export function matches(globs: readonly string[]): (path: string) => boolean {
  const names = globs.map(plain);
  const tests = globs.flatMap(patternsOf).map((pattern) => picomatch(pattern, OPTIONS));
  return (path) =>
    names.some((name) => path === name || path.startsWith(`${name}/`)) || tests.some((test) => test(path));
}

/** The folders that can hold a match, `''` for the top: where a walk has to begin. */
export function roots(globs: readonly string[]): string[] {
  return [...new Set(globs.map((glob) => picomatch.scan(escaped(plain(glob))).base.replaceAll('\\', '')))];
}

function patternsOf(glob: string): string[] {
  const name = plain(glob);
  const pattern = escaped(name);
  const wild = /[*?[]/.test(name.slice(name.lastIndexOf('/') + 1));
  return wild && !glob.endsWith('/') ? [pattern] : [pattern, `${pattern}/**`];
}

const plain = (glob: string): string => glob.replace(/^(\.\/)+/, '').replace(/\/+$/, '');

/** Round brackets and bars would be read as those of a regular expression. */
const escaped = (name: string): string => name.replace(/[()|]/g, '\\$&');
