import { extname } from 'node:path';

const LANGUAGES = {
  '.go': 'go',
  '.java': 'java',
  '.py': 'python',
  '.rs': 'rust',
  '.js': 'javascript',
  '.cjs': 'javascript',
  '.mjs': 'javascript',
  '.jsx': 'javascript',
  '.ts': 'typescript',
  '.cts': 'typescript',
  '.mts': 'typescript',
  '.tsx': 'tsx',
} as const;

/** As the parser's grammars are called. */
export type Language = (typeof LANGUAGES)[keyof typeof LANGUAGES];

/** The language of a file whose tests can be read, by its name. */
export const languageOf = (path: string): Language | undefined =>
  LANGUAGES[extname(path).toLowerCase() as keyof typeof LANGUAGES];

/** Whether the tests of a file can be read, by its name. */
export const isRead = (path: string): boolean => languageOf(path) !== undefined;

/** Those of a tree's files whose tests can be read: those that `isTest` knows, and all of Rust's, which may hold tests wherever they lie. */
export const testFiles = <File extends { mode: string }>(
  entries: ReadonlyMap<string, File>,
  isTest: (path: string) => boolean,
): Map<string, File> =>
  new Map(
    [...entries].filter(
      ([path, { mode }]) => mode.startsWith('100') && isRead(path) && (isTest(path) || path.endsWith('.rs')),
    ),
  );
