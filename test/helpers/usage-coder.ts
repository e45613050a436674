import { fileURLToPath } from 'node:url';

const USAGE = fileURLToPath(new URL('../fixtures/agents/usage.mjs', import.meta.url));

/** A coder that tells of its tokens, see test/fixtures/agents/usage.mjs. */
export const usageCoder = (...args: (string | number)[]): { command: string[]; protocol: 'claude' } => ({
  command: [process.execPath, USAGE, ...args.map(String)],
  protocol: 'claude',
});
