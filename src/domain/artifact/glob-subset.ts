import { fits } from '../values/wildcard.ts';

/**
 * Whether all that some globs match is matched by one of others: as far as it can be told without looking at any path, so that
 * a yes is right (but for paths that hold a wildcard's own character) and a no may be too strict. The globs are those of
 * `scope.allow`: `src` is a folder with all below it. Gives those that are not within.
 */
export function globsWithin(inner: readonly string[], outer: readonly string[]): string[] {
  return inner.filter((glob) => !outer.some((other) => within(glob, other)));
}

function within(inner: string, outer: string): boolean {
  const [a, b] = [plain(inner), plain(outer)];
  if (a === b) return inner.endsWith('/') ? folder(a, b) || outer.endsWith('/') || !wild(b) : true;
  if (folder(a, b)) return true;
  if (literalFolder(inner) || special(a) || special(b)) return false;
  // `a/**` matches `a` itself, too.
  const readings = a.endsWith('/**') ? [a, a.slice(0, -3)] : [a];
  return readings.every((reading) => parts(reading.split('/'), b.split('/')));
}

/** What lies in a folder that the other names without a wildcard, or ends with a slash, or with everything below. */
function folder(a: string, b: string): boolean {
  const root = b.endsWith('/**') ? b.slice(0, -3) : b;
  if (b === '**') return true;
  return !wild(root) && !special(root) && (a.startsWith(`${root}/`) || a === root);
}

/** Its last part has no wildcard, so that it names a folder with everything below, too. */
const literalFolder = (glob: string): boolean => glob.endsWith('/') || !wild(glob.slice(glob.lastIndexOf('/') + 1));

/** Each pair of places is looked at once: `**` again and again would else take for ever. */
function parts(a: readonly string[], b: readonly string[]): boolean {
  const known = new Map<number, boolean>();
  const from = (i: number, j: number): boolean => {
    const at = i * (b.length + 1) + j;
    const found = known.get(at) ?? look(i, j);
    known.set(at, found);
    return found;
  };
  const look = (i: number, j: number): boolean => {
    const [q, p] = [a[i], b[j]];
    if (p === undefined || q === undefined) return a.length - i === b.length - j;
    if (p === '**') return j === b.length - 1 || from(i, j + 1) || from(i + 1, j);
    return q !== '**' && (p === q || p === '*' || (!wild(q) && fits(p, q))) && from(i + 1, j + 1);
  };
  return from(0, 0);
}

const plain = (glob: string): string => glob.replace(/^(\.\/)+/, '').replace(/\/+$/, '');
const wild = (glob: string): boolean => /[*?[{]/.test(glob);
/** Sets and alternatives are compared as they are written, and so is what a literal reading may match as well. */
const special = (glob: string): boolean => /[[\]{}()|]/.test(glob) || /[^/]\*\*|\*\*[^/]/.test(glob);
