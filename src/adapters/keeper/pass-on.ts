import type { ChildProcess } from 'node:child_process';
import { connect, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Way } from '../sandbox/plan.ts';
import type { Allowed } from '../proxy/egress.ts';
import { noteReached } from '../proxy/reached.ts';
import { dial } from '../daemon/link.ts';

/** Connections of one tree at one time: what it opens must not use up our files. */
const CONNECTIONS_MAX = 500;
/** A proxy that died is started anew within this time. */
const PATIENCE_MS = 10_000;

/**
 * Takes the listening sockets that the sandbox makes in its tree's network, and hands each connection on: to the proxy, which
 * first hears what is allowed, or to a service of this machine. Ends with the tree.
 */
export function passOn(child: ChildProcess, way: Way): void {
  const servers = new Set<Server>();
  const open = new Set<Socket>();
  const end = () => {
    for (const server of servers) server.close();
    for (const inner of open) inner.destroy();
  };
  child.once('exit', end);
  child.on('message', (port, handle) => {
    const server = handle as Server;
    servers.add(server);
    server.maxConnections = CONNECTIONS_MAX;
    server.on('connection', (inner) => {
      open.add(inner.on('error', () => inner.destroy()).once('close', () => open.delete(inner)));
      if (port === way.port) void toProxy(inner, way);
      else toService(inner, Number(port), way);
    });
    if (child.exitCode !== null || child.signalCode !== null) end();
  });
}

async function toProxy(inner: Socket, { socket, egress, reached }: Way): Promise<void> {
  const outer = await dialPatiently(inner, socket);
  if (!outer) return void inner.destroy();
  outer.write(`${JSON.stringify({ egress, reached } satisfies Allowed)}\n`);
  // Its answer to the line, and nothing else before a request has come.
  outer.once('data', () => join(inner, outer));
  outer.once('close', () => inner.destroy());
}

function toService(inner: Socket, port: number, { reached }: Way): void {
  const to = { host: '127.0.0.1', port };
  const outer = connect(to);
  outer.once('connect', () => {
    noteReached(reached, { is: 'open', ...to });
    const bytes = () => ({ up: outer.bytesWritten, down: outer.bytesRead });
    outer.once('close', () => noteReached(reached, { is: 'closed', ...to, ...bytes() }));
  });
  join(inner, outer);
}

function join(inner: Socket, outer: Socket): void {
  inner.once('close', () => outer.destroy());
  outer.on('error', () => outer.destroy()).once('close', () => inner.destroy());
  if (inner.destroyed) outer.destroy();
  inner.pipe(outer);
  outer.pipe(inner);
}

async function dialPatiently(inner: Socket, path: string): Promise<Socket | undefined> {
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until && !inner.destroyed; await sleep(50)) {
    const outer = await dial(path);
    if (outer) return outer;
  }
  return undefined;
}
