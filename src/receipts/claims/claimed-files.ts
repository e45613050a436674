import { basename } from 'node:path';
import type { Change } from '../../ports.ts';
import { clip } from '../bounded.ts';
import { BY_ITSELF } from './claims.ts';
import { isCut, type ToolCall } from './shell-calls.ts';

/** What else has a dot is a field, a call or a name: `process.env`, `user.name`. */
const ENDINGS = [
  '[cm]?[jt]sx? jsonc? mdx? pyi? go rs java kts? scala rb php cs c h cc cpp hpp swift sh ps1 ya?ml toml ini cfg',
  'xml html? css scss less vue svelte sql txt csv lock gradle proto graphql tf ipynb dart lua exs? hs clj zig nix snap rst',
]
  .join(' ')
  .replaceAll(' ', '|');
/** Names of files as prose has them: not a URL, a glob or a call. */
const PATH = String.raw`((?:\.{0,2}\/)?(?:[\w@+.-]+\/)*[\w@+-][\w@+.-]*\.(?:${ENDINGS}))`;
const DONE = '(?:created?|added|wrote|written|generated|introduced|updated|modified|changed|edited|refactored|rewrote)';
const MADE_UP = String.raw`(?<!\b(?:not|never|be|been|being|already|was|were|had|would|should|could|can|to|that|which|who|have not|if|when|instead of) (?:\w+ly )?)`;
const BETWEEN = String.raw`(?: (?:a|an|the|one|new|small|another|test|unit|regression|file|files|module|script|helper|class|config|migration|documentation|docs)){0,4}:?`;

/** "created `src/x.ts`", "I've updated **a/b.py**". The quotes are dropped before. */
const SAID = new RegExp(
  String.raw`${BY_ITSELF}${MADE_UP}\b${DONE}${BETWEEN} ${PATH}(?=[,;:.!?)](?:\s|$)| ?$| (?:and|with|to|so|for|in|that|which|by|—|–|-|\()(?:\s|\w))`,
  'gi',
);
/** "- src/x.ts (new): the parser" below "Files changed:". */
const HEADING =
  /^\W*(?:new |all |the )?files? (?:I )?(?:changed|created|modified|added|updated|touched|written|deleted)\W*$|^\W*(?:changed|created|modified|added|updated|new) files?\W*$/i;
const BULLET = new RegExp(String.raw`^\s*(?:[-*•+]|\d+[.)]) (?:${DONE}:? )?${PATH}(?=[\s,;:.!?)—–(]|$)`, 'i');
const COUNT = new RegExp(
  String.raw`\b(?:I(?:'ve| have)? )?(?:created|wrote|modified|updated|changed|edited|added) (\d{1,6}) (?:new |source |test )?files\b`,
  'i',
);

/** "The last commit fixed it and changed `src/x.ts`": not the agent. */
const OTHERS =
  /^\W*(?:the|a|its) (?:commit|author|script|tool|command|generator|migration|build|user|maintainers?)\b|\b(?:previous(?:ly)?|earlier|originally|upstream|(?:last|that|first|other|older?) (?:commit|change|author|release|version|attempt|run)|somebody|someone|they|would|could|might|please|n't|considered|plan(?:ned)? to)\b/i;

/** `sum.ts` for `sum.js` is a slip. */
const slack = (path: string): string => basename(path).replace(/\.[cm]?[jt]sx?$/, '.js');

/** A product, no file. */
const NO_PATH = /^(?:node|next|vue|nuxt|express|three|d3|react|ember|backbone|chart|moment|discord)\.js$/i;
/** The run's own notes lie outside of the repository. */
const NOTES = /^(?:PLAN_AND_STATUS|KNOWLEDGE)\.md$/;

/** Paths that a last message clearly says were changed, at most 50. */
export function claimedPaths(message: string): string[] {
  const found = new Set<string>();
  let listing = false;
  for (const line of message.split('\n')) {
    const text = line.replace(/(?:\*\*|__|`|\]\([^)\s]*\)|(?<!\w)\[)/g, '');
    if (listing && text.trim() && !BULLET.test(text)) listing = false;
    if (HEADING.test(text)) listing = true;
    if (/\b(?:no changes?|unchanged|not changed|untouched|remov|delet|clean)/i.test(text)) continue;
    const paths = text
      .replace(/’/g, "'")
      .split(/(?<=[.!?;])\s+/)
      .filter((sentence) => !OTHERS.test(sentence))
      .flatMap((sentence) => [...sentence.matchAll(SAID)].map((match) => match[1]));
    for (const path of [...paths, listing ? BULLET.exec(text)?.[1] : undefined])
      if (path && !NO_PATH.test(path) && !NOTES.test(basename(path))) found.add(path.replace(/^\.\//, ''));
  }
  return [...found].slice(0, 50);
}

/**
 * A sentence about a file that the agent says it changed and nothing did: it is not in the result, no call that could change
 * files names it and, where commands ran, no file of the run has its name. So a file changed and put back, one that git
 * ignores, a declared output and one elsewhere are fine.
 */
export async function inventedFiles(given: {
  claim: string;
  calls: readonly ToolCall[];
  changes: readonly Change[];
  /** Whether there is a file of this name anywhere in the run's folder, or may be. */
  exists: (name: string) => Promise<boolean>;
}): Promise<string | undefined> {
  const { claim, calls, changes, exists } = given;
  const shells = calls.filter(({ shell }) => shell);
  for (const path of claimedPaths(claim)) {
    const name = basename(path);
    if (changes.some((change) => slack(change.path) === slack(name))) continue;
    const named = calls.filter(({ input, output }) => input.includes(name) || output.includes(name));
    if (named.some((call) => call.shell || (call.editor && call.ok !== false))) continue;
    if (shells.some(isCut) || calls.some((call) => isCut(call) && call.editor && !call.input.includes('file_path')))
      continue;
    // A command makes files whose names it does not say.
    if (shells.length > 0 && (path.startsWith('/') || (await exists(name)))) continue;
    return `the agent says that it changed ${clip(path, 100)}, but nothing did`;
  }
  const n = Number(COUNT.exec(claim)?.[1] ?? 0);
  const most = Math.max(changes.length, new Set(calls.filter(({ editor }) => editor).map(({ input }) => input)).size);
  if (shells.length === 0 && n > 2 * most)
    return `the agent says that it changed ${n} files, and changed ${changes.length}`;
  return undefined;
}
