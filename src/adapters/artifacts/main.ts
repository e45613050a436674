import { readFileSync, statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { clip, READY, type TextCheck } from './check-texts.ts';
import { growsBeyond, threadCpuMs } from './pattern-growth.ts';
import { quotesOf } from './quotations.ts';

/** A thread of its own: an expression may take for ever, and a text may be huge. It is ended from outside. */
const { files, stalling, matches, flags, schema, sources } = workerData as TextCheck;

const FILE_MAX = 10 * 1024 * 1024;
const PROBLEMS_MAX = 5;

type Check = (text: string) => string | undefined;

function* problems(describes: Check | undefined): Generator<string> {
  const pattern = matches === undefined ? undefined : new RegExp(matches, flags);
  const quotes = sources && quotesOf(sources);
  const problemOf = (text: string): string | undefined =>
    describes?.(text) ?? (pattern && !pattern.test(text) ? `does not match ${matches}` : undefined) ?? quotes?.(text);
  if (pattern && stalling && growsBeyond(stalling.map((text) => costOf(pattern, text)))) yield 'grows';
  for (const { path, name } of files ?? []) {
    const problem =
      statSync(path).size > FILE_MAX
        ? `is larger than ${FILE_MAX} bytes: too large to check`
        : problemOf(readFileSync(path, 'utf8'));
    if (problem !== undefined) yield clip(`${name} ${problem}`);
  }
}

/** Of a text that ends with what the expression cannot name. */
function costOf(pattern: RegExp, { begin, unit }: { begin: string; unit: string }): (length: number) => number {
  return (length) => {
    const text = `${begin}${unit.repeat(Math.ceil(length / unit.length))}\u0001`;
    const before = threadCpuMs();
    pattern.test(text);
    return threadCpuMs() - before;
  };
}

// Loaded only where it is needed: it takes longer than all else.
const { describedBy } = schema ? await import('./json-schema.ts') : {};
parentPort!.postMessage(READY);
const found: string[] = [];
for (const problem of problems(schema && describedBy?.(schema))) if (found.push(problem) >= PROBLEMS_MAX) break;
parentPort!.postMessage(found);
