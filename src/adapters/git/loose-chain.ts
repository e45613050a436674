import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';

export interface LooseCommit {
  id: string;
  tree: string;
  parents: string[];
  subject: string;
}

const unzip = promisify(inflate);
const MOST_BYTES = 1024 ** 2;

/**
 * The commits from `head` back to `base`, newest first, from a repository of ours, without a program. Undefined where it takes one:
 * one of them is in a pack, has several parents or none, is in another encoding, or there are more than `most`.
 */
export async function looseChain(
  gitDir: string,
  { head, base, most }: { head: string; base: string; most: number },
): Promise<LooseCommit[] | undefined> {
  const chain: LooseCommit[] = [];
  for (let id = head; id !== base;) {
    const commit = chain.length < most ? await readLoose(gitDir, id) : undefined;
    const [parent, other] = commit?.parents ?? [];
    if (!commit || parent === undefined || other !== undefined) return undefined;
    chain.push(commit);
    id = parent;
  }
  return chain;
}

async function readLoose(gitDir: string, id: string): Promise<LooseCommit | undefined> {
  const path = `${gitDir}/objects/${id.slice(0, 2)}/${id.slice(2)}`;
  try {
    return parse(id, await unzip(await readFile(path), { maxOutputLength: MOST_BYTES }));
  } catch {
    return undefined;
  }
}

function parse(id: string, object: Buffer): LooseCommit | undefined {
  const start = object.indexOf(0) + 1;
  if (!object.subarray(0, start).toString('latin1').startsWith('commit ') || !isUtf8(object)) return undefined;
  const text = object.toString('utf8', start);
  const end = text.indexOf('\n\n');
  const headers = text.slice(0, end < 0 ? text.length : end).split('\n');
  const all = (name: string): string[] =>
    headers.flatMap((line) => (line.startsWith(`${name} `) ? line.slice(name.length + 1) : []));
  const [tree] = all('tree');
  if (tree === undefined || all('encoding').length > 0) return undefined;
  return { id, tree, parents: all('parent'), subject: end < 0 ? '' : subjectOf(text.slice(end + 2)) };
}

/** The first paragraph, on one line. */
function subjectOf(message: string): string {
  const lines = message.split('\n').map((line) => line.trimEnd());
  const first = lines.findIndex(Boolean);
  const rest = first < 0 ? [] : lines.slice(first);
  const blank = rest.indexOf('');
  return (blank < 0 ? rest : rest.slice(0, blank)).join(' ');
}
