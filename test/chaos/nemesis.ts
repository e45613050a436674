import { setTimeout as sleep } from 'node:timers/promises';
import type { Link } from '../helpers/network.ts';
import { pick, type Step } from './schedule.ts';
import type { Site } from './site.ts';
import type { World } from './world.ts';

/** What a fault does; what it gives undoes it. Undefined: there was nothing to do it to. */
type Undo = () => Promise<void>;
type Act = (world: World, site: Site, choice: number) => Promise<Undo | undefined>;

const link =
  (state: Link): Act =>
  async (_, { machine }) => {
    await machine!.link(state);
    return () => machine!.link('healthy');
  };

const worker =
  (name: NodeJS.Signals): Act =>
  async (_, site) => {
    if (!site.running) return undefined;
    site.signal(name);
    if (name === 'SIGSTOP') return async () => site.signal('SIGCONT');
    return async () => {
      await site.end('SIGKILL');
      await site.start();
    };
  };

const keeper =
  (name: NodeJS.Signals): Act =>
  async (_, site) => {
    const pid = await site.keeper();
    if (pid === undefined) return undefined;
    send(pid, name);
    return async () => undefined;
  };

const agent =
  (name: NodeJS.Signals): Act =>
  async (_, site, choice) => {
    const agents = await site.agents();
    if (!agents.length) return undefined;
    const { pid } = pick(() => choice, agents);
    send(pid, name);
    return async () => send(pid, 'SIGCONT');
  };

const ACTS: Record<Exclude<Step['fault'], 'server-kill'>, Act> = {
  'worker-kill': worker('SIGKILL'),
  'worker-term': worker('SIGTERM'),
  'worker-stop': worker('SIGSTOP'),
  'keeper-kill': keeper('SIGKILL'),
  'keeper-term': keeper('SIGTERM'),
  'agent-kill': agent('SIGKILL'),
  'agent-stop': agent('SIGSTOP'),
  'machine-kill': async (_, site) => {
    await site.machine!.kill();
    return () => site.start();
  },
  'machine-sleep': async ({ history }, site) => {
    site.asleep = true;
    await site.machine!.signal('SIGSTOP');
    return async () => {
      history.add({ kind: 'wake', site: site.index });
      await site.machine!.signal('SIGCONT');
      site.asleep = false;
    };
  },
  cut: link('cut'),
  mute: link('mute'),
  deaf: link('deaf'),
  refused: link('refused'),
  lossy: link('lossy'),
  slow: link('slow'),
  flap: async (_, { machine }) => machine!.flap(3_000).stop,
  'disk-full': async (_, site) => {
    await site.fillDisk();
    return () => site.freeDisk();
  },
};

/** Runs a schedule: each site suffers one fault at a time, beside at most one of the server. Resolves when all is undone. */
export async function rage(world: World, steps: readonly Step[], signal: AbortSignal): Promise<void> {
  const started = performance.now();
  const open: Promise<void>[] = [];
  const begin = (fault: Promise<void>) => {
    // Awaited at the end; until then it is no unhandled rejection.
    fault.catch(() => undefined);
    open.push(fault);
  };
  let serverDown = false;
  for (const step of steps) {
    await sleep(Math.max(0, step.atMs - (performance.now() - started)), undefined, { signal });
    if (step.fault !== 'server-kill') {
      const site = world.sites[step.site]!;
      if (!site.troubled) begin(suffer(world, site, step));
    } else if (!serverDown) {
      serverDown = true;
      begin(outage(world, step.holdMs).finally(() => (serverDown = false)));
    }
  }
  await Promise.all(open);
}

async function suffer(world: World, site: Site, step: Extract<Step, { site: number }>): Promise<void> {
  const { fault, holdMs, choice } = step;
  site.troubled = true;
  try {
    const undo = await ACTS[fault](world, site, choice);
    if (!undo) return;
    world.history.add({ kind: 'fault', what: fault, site: site.index });
    await sleep(holdMs);
    await undo();
    world.history.add({ kind: 'fault', what: `${fault} over`, site: site.index });
  } finally {
    site.troubled = false;
  }
}

async function outage(world: World, holdMs: number): Promise<void> {
  await world.killServer();
  world.history.add({ kind: 'fault', what: 'server-kill', site: null });
  await sleep(holdMs);
  await world.startServer();
  world.history.add({ kind: 'fault', what: 'server-kill over', site: null });
}

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
