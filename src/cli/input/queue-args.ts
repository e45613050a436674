import { resolve } from 'node:path';
import { wrongInput } from '../../domain/error.ts';
import { isUrl } from '../../domain/repository/repository-name.ts';
import type { OpenQueue } from '../../producers/git-queue/queue.ts';
import type { Cli, Flag } from '../command.ts';

/** What all commands over a git queue share. */

export interface QueueFlags {
  branch?: string;
  folder?: string;
}

export const QUEUE_FLAGS: Flag[] = [
  { flag: '--branch <name>', about: "the queue's branch (default: the remote's)" },
  { flag: '--folder <path>', about: 'where its tasks are (default: tasks)' },
];

/** @param by who commits; default: the fleet */
export function queueOf(cli: Cli, url: string, { flags, by }: { flags: QueueFlags; by?: string }): OpenQueue {
  const { git } = cli.config();
  const { branch, folder } = flags;
  return {
    url: isUrl(url) ? url : resolve(cli.cwd, url),
    home: cli.home,
    branch,
    folder: folder?.replace(/\/+$/, ''),
    identity: by === undefined ? git : { ...git, name: by },
  };
}

export const AS: Flag = { flag: '--as <name>', about: 'who does it: as in claimed_by' };

/** @throws FleetError (2) where nobody says who it is, or says to be this fleet */
export function nameOf(cli: Cli, as: string | undefined): string {
  const name = as?.trim();
  if (!name) throw wrongInput('--as is required: say who does it, e.g. --as jean');
  if (/\p{Cc}/u.test(name) || name.length > 100) throw wrongInput('--as must be one line of at most 100 characters');
  if (name === fleetName(cli))
    throw wrongInput(`--as ${name} is this fleet, which claims and reports by itself: fleet sync <url>`);
  return name;
}

export function fleetName(cli: Cli): string {
  const { sync, worker } = cli.config();
  return sync.name ?? worker.name;
}
