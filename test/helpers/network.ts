import { existsSync } from 'node:fs';
import { execa } from 'execa';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { until } from './until.ts';

/** What a link does to the packets of a machine, by direction as the machine sees it. */
const LINKS = {
  healthy: {},
  /** A black hole. */
  cut: { in: 'drop', out: 'drop' },
  /** What it says is lost; what others say arrives. */
  mute: { out: 'drop' },
  deaf: { in: 'drop' },
  lossy: { in: 'numgen random mod 100 < 20 drop', out: 'numgen random mod 100 < 20 drop' },
  slow: {},
  /** As where the server's port is closed: every connection ends at once, and none is made. */
  refused: {},
} as const satisfies Record<string, { in?: string; out?: string }>;
export type Link = keyof typeof LINKS;

/** A machine of its own as far as the network knows: a namespace with one link to this host, and over it to the server. */
export interface Machine extends AsyncDisposable {
  /** Before a command that is to run on it. */
  prefix: readonly string[];
  /** Of the server, as seen from it. */
  address: string;
  link(state: Link): Promise<void>;
  /** Cut and healed, `periodMs` each, until stopped. */
  flap(periodMs: number): { stop(): Promise<void> };
  /** To every process on it. */
  signal(name: NodeJS.Signals): Promise<void>;
  /** Kills every process on it; its kernel closes their connections. */
  kill(): Promise<void>;
}

/** Why there can be no machines here, as one sentence; undefined where there can. */
export function noMachines(): string | undefined {
  const path = (process.env['PATH'] ?? '').split(':');
  const missing = ['ip', 'nft', 'tc', 'nsenter'].filter((name) => !path.some((dir) => existsSync(`${dir}/${name}`)));
  if (missing.length) return `needs the programs ${missing.join(', ')} (packages iproute2, nftables)`;
  return process.getuid?.() === 0 ? undefined : 'needs root, for network namespaces';
}

let count = 0;

/** `server`: `127.0.0.1:<port>`. The machine reaches it through a forwarder at this host's end of the link. */
export async function startMachine(server: string): Promise<Machine> {
  count += 1;
  const space = `fleet-${process.pid}-${count}`;
  const [host, guest] = [`fl${process.pid}-${count}h`, `fl${process.pid}-${count}g`];
  const net = `10.${128 + ((process.pid >> 8) & 127)}.${process.pid & 255}`;
  const first = (4 * count) % 256;
  const [here, there] = [`${net}.${first + 1}`, `${net}.${first + 2}`];
  const inside = ['nsenter', `--net=/run/netns/${space}`] as const;
  const run = (line: string, input = '') => {
    const [file = '', ...args] = line.split(' ');
    return execa(file, args, { input });
  };
  await run(`ip netns add ${space}`);
  await run(`ip link add ${host} type veth peer name ${guest} netns ${space}`);
  await run(`ip addr add ${here}/30 dev ${host}`);
  await run(`ip link set ${host} up`);
  await run(`ip -n ${space} addr add ${there}/30 dev ${guest}`);
  await run(`ip -n ${space} link set ${guest} up`);
  await run(`ip -n ${space} link set lo up`);
  // The dev server listens on loopback only, which a namespace does not share.
  const forwarder = await startForwarder({ from: here, to: server });

  const rules = (state: Link) => {
    const chains = Object.entries(LINKS[state]).map(
      ([way, rule]) =>
        `chain ${way}s {\ntype filter hook ${way}put priority 0\n${way === 'in' ? 'iif' : 'oif'}name "${guest}" ${rule}\n}\n`,
    );
    return `table inet fault\ndelete table inet fault\ntable inet fault {\n${chains.join('')}}\n`;
  };
  let slow = false;
  const link = async (state: Link) => {
    await run(`${inside.join(' ')} nft -f -`, rules(state));
    if (slow !== (state === 'slow')) {
      slow = !slow;
      const what = slow ? 'add' : 'del';
      const shape = slow ? ' tbf rate 64kbit burst 4kb latency 1s' : '';
      await run(`tc qdisc ${what} dev ${host} root${shape}`);
      await run(`tc -n ${space} qdisc ${what} dev ${guest} root${shape}`);
    }
    await forwarder.open(state !== 'refused');
  };
  const pids = async () => (await run(`ip netns pids ${space}`)).stdout.split('\n').filter(Boolean).map(Number);
  const signal = async (name: NodeJS.Signals) => {
    for (const pid of await pids()) send(pid, name);
  };
  const kill = async () => {
    await until(async () => {
      await signal('SIGKILL');
      return (await pids()).length === 0;
    });
  };
  return {
    ...{ prefix: inside, address: forwarder.address, link, signal, kill },
    flap: (periodMs) => flapping(link, periodMs),
    [Symbol.asyncDispose]: async () => {
      await kill();
      await forwarder.close();
      await run(`ip link del ${host}`);
      await run(`ip netns del ${space}`);
    },
  };
}

function flapping(link: Machine['link'], periodMs: number): { stop(): Promise<void> } {
  let state: Link = 'healthy';
  let turn = Promise.resolve();
  const timer = setInterval(() => {
    state = state === 'cut' ? 'healthy' : 'cut';
    turn = turn.then(() => link(state));
  }, periodMs);
  return {
    stop: async () => {
      clearInterval(timer);
      await turn;
      await link('healthy');
    },
  };
}

export interface Forwarder {
  address: string;
  /** Closed, it ends every connection and refuses new ones. */
  open(open: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Passes on what comes to an address of this machine, in this process: as a tunnel's end does. `port`: any, unless given. */
export async function startForwarder({
  from,
  port: at = 0,
  to,
}: {
  from: string;
  port?: number;
  to: string;
}): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  const [host = '', port = ''] = to.split(':');
  const pass = (a: Socket, b: Socket) => {
    sockets.add(a);
    a.pipe(b);
    a.on('error', () => {}).on('close', () => {
      sockets.delete(a);
      b.destroy();
    });
  };
  const server: Server = createServer((near) => {
    const far = connect(Number(port), host);
    pass(near, far);
    pass(far, near);
  });
  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(at, from, () => {
        server.off('error', reject);
        resolve();
      });
    });
  await listen(at);
  const { port: listening } = server.address() as { port: number };
  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  };
  return {
    address: `${from}:${listening}`,
    close: async () => (server.listening ? close() : undefined),
    open: async (open) => {
      if (open && !server.listening) await listen(listening);
      if (!open && server.listening) await close();
    },
  };
}

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
