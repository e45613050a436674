import { cp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { ownDevServer, startDevServer, type DevServer } from '../../src/adapters/temporal/dev-server.ts';
import { listens } from '../../src/adapters/temporal/address.ts';
import type { ProcessIdentity } from '../../src/adapters/program/process.ts';
import { agent, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

export const LONG = { heartbeat: '3s', grace: '75s', selfKill: '60s' };
/** Leaves something of its own, then waits for the file `go`. */
const leaving = 'echo started >> ../starts; echo part > part.txt; while [ ! -e ../go ]; do sleep 0.1; done';
export const coders = {
  ok: agent('ok.sh'),
  wait: { command: ['sh', '-c', `${leaving}; git add -A && git commit -qm Whole`], protocol: 'none' as const },
};
export const go = (work: string): Promise<void> => writeFile(`${work}/go`, '');

/** A fleet whose dev server can be killed, stopped, replaced and started again, at the same address. */
export interface ServerSite extends AsyncDisposable {
  fleet: TestFleet;
  /** FLEET_HOME of the server. */
  home: string;
  port: number;
  pid(): Promise<number>;
  signal(name: 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** As a crash; resolves when nothing listens any more. */
  kill(): Promise<void>;
  start(): Promise<DevServer>;
  /** As Ctrl-C. */
  stop(): Promise<void>;
}

export async function serverSite(): Promise<ServerSite> {
  const fleet = await TestFleet.start();
  const { home, address } = fleet.server;
  const port = Number(address.split(':')[1]);
  const pid = async (): Promise<number> =>
    (JSON.parse(await readFile(`${home}/temporal.json`, 'utf8')) as { identity: ProcessIdentity }).identity.pid;
  const stop = async () => (await ownDevServer(home))?.stop();
  return {
    ...{ fleet, home, port, pid, stop },
    signal: async (name) => void process.kill(await pid(), name),
    kill: async () => {
      process.kill(-(await pid()), 'SIGKILL');
      await until(async () => !(await listens(address)));
    },
    start: () => startDevServer({ home, port, headless: true }),
    [Symbol.asyncDispose]: async () => {
      await fleet.stopWorkers();
      await stop();
      await fleet[Symbol.asyncDispose]();
    },
  };
}

/** All of these are in the list, once each, and in the state that they themselves say. */
export async function expectListed(fleet: TestFleet, ids: readonly string[]): Promise<void> {
  const states = await Promise.all(ids.map(async (id) => [id, (await fleet.fleet.view(id)).state] as const));
  await until(async () => {
    const listed = (await fleet.fleet.list({ all: true })).filter(({ id }) => ids.includes(id));
    const same = new Map(listed.map(({ id, state }) => [id, state]));
    return listed.length === ids.length && states.every(([id, state]) => same.get(id) === state);
  });
}

/** Stops the server, keeps its database under a name, and starts it with another one: none is a new one. */
export async function swap(site: ServerSite, { keep, restore }: { keep: string; restore?: string }): Promise<void> {
  await site.stop();
  const files = (await readdir(site.home)).filter((name) => name.startsWith('temporal.db'));
  const kept = (name: string) => `${site.home}/kept-${name}`;
  await rm(kept(keep), { recursive: true, force: true });
  for (const file of files) await cp(`${site.home}/${file}`, `${kept(keep)}/${file}`);
  if (keep === 'before' || restore) for (const file of files) await rm(`${site.home}/${file}`);
  if (restore) await cp(kept(restore), site.home, { recursive: true });
  await site.start();
}
