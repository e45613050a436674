import { rmSync } from 'node:fs';
import { homeLayout } from '../../domain/names.ts';
import { leaveGroups, sweepGroups } from '../sandbox/cgroup.ts';
import { Keeper } from './keeper.ts';
import { lockForLife } from '../daemon/lock.ts';
import { serve } from '../daemon/server.ts';

/**
 * The keeper's process: `node main.js <home>`. It outlives its worker and holds the worker's agents; when it dies, they die.
 * Exits with 75 where another one holds the lock, with 0 when it has no live run and no client for a while.
 */
const home = homeLayout(process.argv[2]!);
const { keeperLock, keeperSocket } = home;
/** Milliseconds without run and client; the first client gets more. */
const IDLE_MS = 1_000;
const FIRST_CLIENT_MS = 10_000;

process.title = 'fleet-keeper';
if (!lockForLife(keeperLock)) process.exit(75);
// A command of the worker's own, whose mark has a "~", may be under way.
sweepGroups(home.root, (name) => !name.includes('~'));

const keeper = new Keeper(home, () => rest());
const { server, clients } = await serve(keeperSocket, keeper.handlers, () => rest());
let idle = setTimeout(leave, FIRST_CLIENT_MS);
setInterval(() => keeper.tick(), 1_000);
// A terminal's signals are meant for the worker. TERM is what a machine sends that goes down.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('SIGTERM', () => keeper.fence());
// Whatever went wrong with one run, ending here would kill the agents of all the others.
process.on('uncaughtException', (error) => process.stderr.write(`${error.stack}\n`));

function rest(): void {
  clearTimeout(idle);
  if (!keeper.busy && clients.size === 0) idle = setTimeout(leave, IDLE_MS);
}

function leave(): void {
  if (keeper.busy || clients.size > 0) return;
  server.close();
  leaveGroups(home.root);
  rmSync(keeperSocket, { force: true });
  process.exit(0);
}
