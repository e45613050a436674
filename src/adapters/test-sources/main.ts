import { dirname } from 'node:path';
import { parseFile, type ParsedFile } from './parse.ts';

/** Processor time for all files. */
const ALL_MS = 10_000;

/**
 * Reads `{ path, text }[]` as JSON on stdin and prints what each file declares, a line of JSON a file, in order. It is a process of its
 * own, as a source may take all time and memory that there is.
 */
const parts: Buffer[] = [];
for await (const part of process.stdin) parts.push(part as Buffer);
const files = JSON.parse(Buffer.concat(parts).toString()) as ParsedFile[];
// A package of Go is a folder.
const siblings = new Map<string, string>();
for (const { path, text } of files.filter((file) => file.path.endsWith('.go')))
  siblings.set(dirname(path), `${siblings.get(dirname(path)) ?? ''}${text}\n`);
for (const file of files)
  process.stdout.write(
    `${JSON.stringify(await parseFile({ ...file, siblings: siblings.get(dirname(file.path)) ?? '' }, ALL_MS))}\n`,
  );
