/** What a path is on a file system that folds case, accents' spelling, letters that do not show, or dots and spaces at an end. */
export function fold(path: string): string {
  const plain = /^[\x20-\x7e]*$/.test(path)
    ? path.toLowerCase()
    : path
        .replace(/[\p{Cf}\p{Variation_Selector}]/gu, '')
        .normalize('NFC')
        .toUpperCase()
        .toLowerCase()
        .normalize('NFC');
  return /[. ](\/|$)/.test(plain) ? plain.split('/').map(withoutEnd).join('/') : plain;
}

const withoutEnd = (name: string): string => name.replace(/[. ]+$/, '') || name;

export interface Twin {
  path: string;
  /** Another file or folder that would be the same one there. */
  of: string;
}

/**
 * New paths that are the same as another one of the tree on some file system, by a file's or a folder's name. What the base
 * has of that kind already is not held against them. `added`: those of `after` that `base` has not.
 */
export function newTwins(tree: { base: Iterable<string>; after: Iterable<string>; added: Iterable<string> }): Twin[] {
  const fresh = new Set(places(tree.added));
  for (const place of places(tree.base)) fresh.delete(place);
  const others = new Map<string, string>();
  const folded = new Set([...fresh].map(fold));
  for (const place of places(tree.after)) {
    const one = fold(place);
    if (folded.has(one) && !fresh.has(place)) others.set(one, place);
  }
  const twins: Twin[] = [];
  for (const path of [...fresh].toSorted()) {
    // What is below a twin follows from it.
    if (twins.some((twin) => path.startsWith(`${twin.path}/`))) continue;
    const one = fold(path);
    const of = others.get(one);
    if (of === undefined) others.set(one, path);
    else twins.push({ path, of });
  }
  return twins;
}

/** All paths, and the folders on the way to them, some of them more than once. */
function* places(paths: Iterable<string>): Iterable<string> {
  let last = '';
  for (const path of paths) {
    yield path;
    const folder = path.slice(0, Math.max(path.lastIndexOf('/'), 0));
    if (folder !== last) for (let at = folder; at !== ''; at = at.slice(0, Math.max(at.lastIndexOf('/'), 0))) yield at;
    last = folder;
  }
}
