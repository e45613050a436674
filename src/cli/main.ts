#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --max-semi-space-size=2
import { createInterface } from 'node:readline/promises';
import { runCli } from './run.ts';

// A reader that left early (`fleet tasks | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Ctrl-C and the end of input are no answer. */
async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question(question), ended]);
  } finally {
    lines.close();
  }
}

async function stdin(maxBytes = Infinity): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

process.exitCode = await runCli(process.argv.slice(2), {
  cwd: process.cwd(),
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  stdin,
  ask: process.stdin.isTTY && process.stdout.isTTY ? ask : undefined,
  onSignal(listener) {
    for (const signal of SIGNALS) process.on(signal, listener);
    return {
      [Symbol.dispose]: () => {
        for (const signal of SIGNALS) process.off(signal, listener);
      },
    };
  },
});
