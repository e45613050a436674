import type { TestSource } from '../../domain/evidence/test-source.ts';
import { askParser } from '../program/ask-parser.ts';
import { builtFile } from '../../package.ts';
import { languageOf } from './languages.ts';

const MAIN = builtFile('adapters/test-sources/main.js');
const FILE_MAX = 1024 * 1024;
/** In all: as many files, and UTF-16 units of text. */
const FILES_MAX = 5_000;
const TEXT_MAX = 64 * FILE_MAX;
/** The child gives up after 10 s of processor time by itself. */
const CPU_SECONDS = 20;
const TIME_MS = 300_000;
/** The heap of JavaScript, and that of the parser in pages of 64 KiB: 512 MB each. */
const MEMORY = ['--max-old-space-size=512', '--wasm-max-mem-pages=8192'];

/**
 * Reads test files by a parser, in a child process that runs none of their code, in the order given. A file of another language has no
 * framework and no tests. Bounds: 1 MB a file, 5,000 files and 64 MB in all (`too-large`), 10 s of processor time in all
 * (`too-slow`; also where it is cancelled, or the child's memory does not suffice). Never throws for what is in them.
 */
export async function readSources(
  files: readonly { path: string; text: string }[],
  options: { signal?: AbortSignal } = {},
): Promise<TestSource[]> {
  const sources: TestSource[] = files.map(({ path }) => ({ path, framework: null, tests: [], shared: [] }));
  const asked: { index: number; path: string; text: string }[] = [];
  let left = TEXT_MAX;
  for (const [index, { path, text }] of files.entries()) {
    if (languageOf(path) === undefined) continue;
    if (Buffer.byteLength(text) > FILE_MAX || text.length > left || asked.length === FILES_MAX)
      sources[index]!.unread = 'too-large';
    else {
      asked.push({ index, path, text });
      left -= text.length;
      sources[index]!.unread = 'too-slow';
    }
  }
  if (asked.length === 0) return sources;
  const output = await askParser({
    args: [...MEMORY, MAIN],
    input: JSON.stringify(asked.map(({ path, text }) => ({ path, text }))),
    cpuSeconds: CPU_SECONDS,
    timeoutMs: TIME_MS,
    signal: options.signal,
  });
  // One line for each file, in order; what follows the last line end is torn.
  const lines = output.split('\n').slice(0, -1);
  for (const [place, line] of lines.entries()) {
    const index = asked[place]?.index;
    if (index !== undefined) sources[index] = JSON.parse(line) as TestSource;
  }
  return sources;
}
