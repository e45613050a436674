import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../sha256.ts';
import { FleetError } from '../../domain/error.ts';
import type { HomeLayout } from '../../domain/names.ts';
import type { Secrets } from '../../domain/secrets/redaction.ts';
import type { WireLive } from '../../domain/agent/model-traffic.ts';
import type { Upstream } from '../../domain/agent/upstream.ts';
import { builtFile } from '../../package.ts';
import { dial, Link } from '../daemon/link.ts';
import { startDetached } from '../daemon/start.ts';
import { PROTOCOL, type Operations } from './protocol.ts';

/** One run's place with the proxy: see `OpenInput`. */
export interface WirePlace {
  id: string;
  file: string;
}

export interface ProxyClient {
  /** Opens a run's way to its model. The key is new each time, and known to nobody else. @throws FleetError */
  open(
    order: WirePlace & { wireFile: string; upstream: Upstream; secrets?: Secrets },
  ): Promise<{ url: string; key: string }>;
  /** Keeps the proxy for a run whose calls do not go through it, but whose tree has its way out by it. @throws FleetError */
  hold(place: WirePlace): Promise<void>;
  /** The proxy is there while `work` goes on, with its port on loopback: also in a network that leads to it. @throws FleetError */
  during<T>(work: (port: number) => Promise<T>): Promise<T>;
  /** Null: it is not open. Starts the next proxy where the last one is gone. @throws FleetError */
  status(place: WirePlace): Promise<WireLive | null>;
  /** Ends what is under way, and forgets the real key. Starts nothing. Harmless to repeat. */
  close(place: WirePlace): Promise<void>;
  /** The process id of the proxy now connected, or of a new one. */
  pid(): Promise<number>;
  /** Ends the connection for good; the proxy stays for its runs. */
  leave(): void;
}

const MAIN = builtFile('adapters/proxy/main.js');
/** How its own requests find their way. */
const NETWORK = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
];
const START_MS = 15_000;
/** Without a run for so long, the connection is given up, and with it the proxy. */
const IDLE_MS = 10_000;
const AGAIN_MS = 500;

type ProxyLink = Link<Operations> & { proxyPid: number; port: number };

/** Starts nothing before the first run. `env` is the worker's own. */
export function connectProxy(home: HomeLayout, env: NodeJS.ProcessEnv): ProxyClient {
  const held = new Set<string>();
  /** Trees that have their way out by it. */
  const ways = new Set<string>();
  let link: Promise<ProxyLink> | undefined;
  let left = false;
  let idle: NodeJS.Timeout | undefined;

  const connected = async (): Promise<ProxyLink> => {
    if (left) throw new Error('the connection to the model proxy was closed by this worker');
    link ??= open().catch((error: unknown) => {
      link = undefined;
      throw error;
    });
    return link;
  };

  /** The proxy of another version hands its runs to one of ours. */
  const open = async (): Promise<ProxyLink> => {
    const until = performance.now() + START_MS;
    let starting: { ended: boolean } | undefined;
    while (performance.now() < until) {
      const socket = await dial(home.proxySocket);
      if (socket) {
        const made = new Link<Operations>(socket, () => new Error('the connection to the model proxy was lost'));
        const hello = await made.ask('hello', {}).catch(() => undefined);
        if (hello?.protocol === PROTOCOL) {
          made.onClose(lost);
          return Object.assign(made, { proxyPid: hello.pid, port: hello.port });
        }
        made.close();
        if (hello) process.kill(hello.pid, 'SIGTERM');
      }
      if (!starting || starting.ended) {
        const set = NETWORK.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
        const args = [MAIN, home.root];
        starting = startDetached({ args, logFile: home.proxyLog, env: Object.fromEntries(set) });
      }
      await sleep(10);
    }
    throw new FleetError('failed', `the model proxy of ${home.root} does not start`, { hint: `see ${home.proxyLog}` });
  };

  /** Agents talk through it: the next one is started at once, whether or not anybody asks for it. */
  const lost = (): void => {
    link = undefined;
    if (left || held.size + ways.size === 0) return;
    connected().catch(() => setTimeout(() => !link && lost(), AGAIN_MS).unref());
  };

  /** What the proxy did not answer because it died is asked of the next one. */
  const ask = async <Op extends keyof Operations>(
    op: Op,
    args: Operations[Op]['asks'],
  ): Promise<Operations[Op]['answers']> => {
    const to = await connected();
    return to.ask(op, args).catch(async (error: unknown) => {
      if (!to.broken) throw error;
      return (await connected()).ask(op, args);
    });
  };

  const rest = (): void => {
    clearTimeout(idle);
    if (held.size + ways.size > 0) return;
    idle = setTimeout(() => {
      const done = link;
      link = undefined;
      void done?.then((made) => made.close()).catch(() => undefined);
    }, IDLE_MS).unref();
  };

  return {
    async open({ id, file, wireFile, upstream, secrets = {} }) {
      held.add(id);
      rest();
      const key = `fleet-${randomBytes(24).toString('base64url')}`;
      const keySha256 = sha256(key);
      await ask('open', { id, file, wireFile, keySha256, upstream, secrets });
      return { url: `http://127.0.0.1:${(await connected()).port}/r/${id}`, key };
    },
    async hold({ id, file }) {
      ways.add(id);
      rest();
      await ask('hold', { id, file });
    },
    async during(work) {
      const id = randomBytes(8).toString('hex');
      ways.add(id);
      rest();
      try {
        return await work((await connected()).port);
      } finally {
        ways.delete(id);
        rest();
      }
    },
    async status({ id }) {
      held.add(id);
      const live = await ask('status', { id });
      if (!live) held.delete(id);
      rest();
      return live;
    },
    async close({ id, file }) {
      rmSync(file, { force: true });
      const there = [held.delete(id), ways.delete(id)].some(Boolean);
      const socket = there || link ? undefined : await dial(home.proxySocket);
      socket?.destroy();
      if (there || link || socket) await ask('close', { id }).catch(() => undefined);
      rest();
    },
    pid: async () => (await connected()).proxyPid,
    leave() {
      left = true;
      clearTimeout(idle);
      void link?.then((made) => made.close()).catch(() => undefined);
    },
  };
}
