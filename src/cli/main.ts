#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --max-semi-space-size=2
import { text } from 'node:stream/consumers';
import { runCli } from './run.ts';

// A reader that left early (`fleet tasks | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

process.exitCode = await runCli(process.argv.slice(2), {
  cwd: process.cwd(),
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: () => text(process.stdin),
  onSignal(listener) {
    for (const signal of SIGNALS) process.on(signal, listener);
    return {
      [Symbol.dispose]: () => {
        for (const signal of SIGNALS) process.off(signal, listener);
      },
    };
  },
});
