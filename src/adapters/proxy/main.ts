import { readFileSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, EnvHttpProxyAgent } from 'undici';
import { homeLayout } from '../../domain/names.ts';
import { writeJsonSync } from '../disk/json-file.ts';
import { lockForLife } from '../daemon/lock.ts';
import { listenAlone, serve } from '../daemon/server.ts';
import { ModelProxy } from './proxy.ts';

/**
 * The model proxy's process: `node main.js <home>`. It outlives its worker, as the agents do that talk through it; when it dies,
 * the worker starts the next one, which takes the same port and goes on with the runs' orders.
 * Exits with 75 where another one holds the lock, with 0 when it has no run and no client for a while.
 */
const home = homeLayout(process.argv[2]!);
const IDLE_MS = 1_000;
const FIRST_CLIENT_MS = 10_000;
const SWEEP_MS = 5_000;
/** Milliseconds for which a port that agents know is waited for. */
const PORT_MS = 5_000;
/** Below those that systems give to outgoing connections: nobody takes it while a proxy is started anew. */
const PORTS = { from: 20_000, to: 32_000 };

process.title = 'fleet-proxy';
if (!lockForLife(home.proxyLock)) process.exit(75);

const ways = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 15_000 } };
const named = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].some((name) => process.env[name]);
const proxy = new ModelProxy(named ? new EnvHttpProxyAgent(ways) : new Agent(ways), () => rest());
await proxy.adopt(home);
proxy.port = await listen(proxy.server);
await listenAlone(proxy.egress.server, home.egressSocket);
const control = await serve(home.proxySocket, proxy.handlers, () => rest());
let idle = setTimeout(leave, FIRST_CLIENT_MS);
setInterval(() => proxy.sweep(), SWEEP_MS);
// A terminal's signals are meant for the worker.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
// One exchange that went wrong is no reason to end all the others.
process.on('uncaughtException', (error) => process.stderr.write(`${error.stack}\n`));

/** On the port that agents may know, else on a new one, which is kept. */
async function listen(server: Server): Promise<number> {
  const known = kept();
  for (const until = performance.now() + PORT_MS; known;) {
    if (await on(server, known)) return known;
    if (proxy.size === 0 || performance.now() > until) break;
    await sleep(100);
  }
  if (known && proxy.size > 0) process.stderr.write(`port ${known} was taken: the agents that know it are cut off\n`);
  for (;;) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from));
    if (!(await on(server, port))) continue;
    writeJsonSync(home.proxyPort, port);
    return port;
  }
}

function kept(): number | undefined {
  try {
    const port = Number(readFileSync(home.proxyPort, 'utf8'));
    return Number.isInteger(port) && port > 1_023 && port < 65_536 ? port : undefined;
  } catch {
    return undefined;
  }
}

function on(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(false) : reject(error);
    server.once('error', refused).listen(port, '127.0.0.1', () => {
      server.off('error', refused);
      resolve(true);
    });
  });
}

function rest(): void {
  clearTimeout(idle);
  if (proxy.size === 0 && control.clients.size === 0) idle = setTimeout(leave, IDLE_MS);
}

function leave(): void {
  if (proxy.size > 0 || control.clients.size > 0) return;
  for (const socket of [home.proxySocket, home.egressSocket]) rmSync(socket, { force: true });
  process.exit(0);
}
