import type { Cli } from './command.ts';

/** For a command that runs for days: each note with its time, UTC. */
export const timed = (cli: Cli): Cli => ({
  ...cli,
  note: (text) => cli.note(`${new Date().toISOString()} ${text}`),
});
