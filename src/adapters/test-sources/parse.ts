import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type * as TreeSitter from '@vscode/tree-sitter-wasm';
import type { TestSource } from '../../domain/evidence/test-source.ts';
import { readGo } from './go/go.ts';
import { readJava } from './java/java.ts';
import { readJavascript } from './javascript/javascript.ts';
import { languageOf, type Language } from './languages.ts';
import type { Found, SourceFile } from './shared/nodes.ts';
import { readPython } from './python/python.ts';
import { readRust } from './rust/rust.ts';

const READERS: Record<Language, (root: TreeSitter.Node, file: SourceFile) => Found> = {
  go: readGo,
  java: readJava,
  python: readPython,
  rust: readRust,
  javascript: readJavascript,
  typescript: readJavascript,
  tsx: readJavascript,
};

/** The package is CommonJS, and finds its grammars beside itself. */
const require = createRequire(import.meta.url);
const treeSitter = require('@vscode/tree-sitter-wasm') as typeof TreeSitter;
/** Processor time: a busy machine is no reason. */
const FILE_MS = 4_000;

const ready = treeSitter.Parser.init();
const grammars = new Map<Language, Awaited<ReturnType<typeof treeSitter.Language.load>>>();

export type ParsedFile = Pick<SourceFile, 'path' | 'text' | 'siblings'>;

/**
 * What one file declares. It is `too-slow` where its parser takes longer than 4 s of processor time, or the process has used more than
 * `processMs`.
 */
export async function parseFile(
  { path, text, siblings = '' }: ParsedFile,
  processMs = Number.POSITIVE_INFINITY,
): Promise<TestSource> {
  const nothing: TestSource = { path, framework: null, tests: [], shared: [] };
  const language = languageOf(path);
  if (language === undefined) return nothing;
  if (usedMs() > processMs) return { ...nothing, unread: 'too-slow' };
  await ready;
  const parser = new treeSitter.Parser();
  const until = Math.min(usedMs() + FILE_MS, processMs);
  parser.setLanguage(await grammarOf(language));
  // The types say that it returns nothing; true ends it.
  const tree = parser.parse(text, null, { progressCallback: () => usedMs() > until });
  try {
    if (!tree) return { ...nothing, unread: 'too-slow' };
    if (tree.rootNode.hasError) return { ...nothing, unread: 'syntax' };
    const freshName = () => `h${randomBytes(8).toString('hex')}`;
    return { path, ...READERS[language](tree.rootNode, { path, text, siblings, freshName }) };
  } catch (error) {
    // It is nested too deeply for what reads it.
    if (error instanceof RangeError) return { ...nothing, unread: 'too-large' };
    throw error;
  } finally {
    tree?.delete();
    parser.delete();
  }
}

const usedMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

async function grammarOf(language: Language) {
  const known = grammars.get(language);
  if (known) return known;
  const file = require.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${language}.wasm`);
  const grammar = await treeSitter.Language.load(file);
  grammars.set(language, grammar);
  return grammar;
}
