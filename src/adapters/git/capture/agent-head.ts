import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import { isCommitId } from '../init.ts';
import { NO_FOLLOW } from '../objects.ts';

/** The commit that the agent's HEAD names, or why there is none to be trusted. */
export type AgentHead = { commit: string } | { odd: string };

const MOST_BYTES = 4 * 1024 * 1024;
const MOST_FILES = 200_000;
const REF = /^refs\/[^\p{Cc} ~^:?*[\\]{1,1000}$/u;

/** Read as plain text: no git ever runs with the agent's repository or configuration. */
export function readAgentHead(tree: string): AgentHead {
  const gitDir = `${tree}/.git`;
  const stat = statOf(gitDir);
  if (!stat) return { odd: 'the repository (.git) is gone' };
  if (!stat.isDirectory()) return { odd: '.git is not a folder any more' };
  let text = readSmall(gitDir, 'HEAD');
  for (let hops = 0; hops < 5 && text !== null; hops += 1) {
    const value = text.trim();
    if (isCommitId(value)) return { commit: value };
    const ref = /^ref:\s*(\S+)$/.exec(value)?.[1];
    if (!ref || !REF.test(ref) || ref.split('/').some((part) => part === '..' || part === '.' || part === '')) break;
    text = readSmall(gitDir, ref) ?? packedRef(gitDir, ref);
  }
  return { odd: "the repository's HEAD names no commit" };
}

/** Why the agent's objects may not be read, or null: links in them could show us files that it cannot see. */
export function checkObjectStore(tree: string, baseDir: string): string | null {
  try {
    return checkObjects(tree, baseDir);
  } catch (error) {
    return `the repository's objects cannot be read (${(error as NodeJS.ErrnoException).code})`;
  }
}

function checkObjects(tree: string, baseDir: string): string | null {
  const objects = `${tree}/.git/objects`;
  if (!statOf(objects)?.isDirectory()) return "the repository's objects are gone or a link";
  const todo = [objects];
  let files = 0;
  for (let dir = todo.pop(); dir !== undefined; dir = todo.pop()) {
    for (const one of readdirSync(dir, { withFileTypes: true })) {
      files += 1;
      if (one.isDirectory()) todo.push(`${dir}/${one.name}`);
      else if (!one.isFile()) return "the repository's objects contain links or special files";
      if (files > MOST_FILES) return `the repository has more than ${MOST_FILES} object files`;
    }
  }
  const alternates = readSmall(`${tree}/.git`, 'objects/info/alternates');
  return alternates === null || alternates.trim() === `${baseDir}/objects`
    ? null
    : "the repository's alternates were changed";
}

function packedRef(gitDir: string, ref: string): string | null {
  const line = readSmall(gitDir, 'packed-refs')
    ?.split('\n')
    .find((one) => one.endsWith(` ${ref}`));
  return line?.split(' ')[0] ?? null;
}

/** A small regular file below the git dir that no link leads to. */
function readSmall(gitDir: string, path: string): string | null {
  const parts = path.split('/');
  for (let i = 1; i < parts.length; i += 1)
    if (!statOf(`${gitDir}/${parts.slice(0, i).join('/')}`)?.isDirectory()) return null;
  if (!statOf(`${gitDir}/${path}`)?.isFile()) return null;
  try {
    const fd = openSync(`${gitDir}/${path}`, NO_FOLLOW);
    try {
      return fstatSync(fd).size <= MOST_BYTES ? readFileSync(fd, 'utf8') : null;
    } finally {
      closeSync(fd);
    }
  } catch {
    return null; // whatever keeps us from reading it, the agent did it
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
