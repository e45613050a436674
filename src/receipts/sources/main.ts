import { parseFile } from './parse.ts';

/**
 * Reads `{ path, text }[]` as JSON on stdin and prints what each file declares, a line of JSON a file, in order. It is a process of its
 * own, as a source may take all time and memory that there is.
 */
const parts: Buffer[] = [];
for await (const part of process.stdin) parts.push(part as Buffer);
for (const file of JSON.parse(Buffer.concat(parts).toString()) as { path: string; text: string }[])
  process.stdout.write(`${JSON.stringify(await parseFile(file))}\n`);
