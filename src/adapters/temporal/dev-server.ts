import { spawn } from 'node:child_process';
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { execa } from 'execa';
import { FleetError, wrongInput } from '../../domain/error.ts';
import { PACKAGE_ROOT } from '../../package.ts';
import { identify, isAlive, type ProcessIdentity } from '../program/process.ts';
import { listens } from './address.ts';

/** Temporal's dev server as `fleet up` runs it: started by temporal-dev.sh, in a process group of its own. */
export interface DevServer {
  /** `127.0.0.1:<port>` */
  address: string;
  /** URL of the Web UI; null without one. */
  uiAddress: string | null;
  pid: number;
  /** Resolves when the process is dead: TERM, and KILL after 10 seconds. */
  stop(): Promise<void>;
}

export interface DevServerOptions {
  home: string;
  /** Default 7233. */
  port?: number;
  /** Default `port` + 1000. */
  uiPort?: number;
  headless?: boolean;
  /** Default: the package's temporal-dev.sh. */
  script?: string;
  /** What the script sees, besides FLEET_HOME. Default: this process's environment. */
  env?: NodeJS.ProcessEnv;
  /** Told, line by line, what getting the program takes where it is missing. */
  say?: (line: string) => void;
}

const SCRIPT = join(PACKAGE_ROOT, 'temporal-dev.sh');
const READY_MS = 60_000;
const TERM_MS = 10_000;
const POLL_MS = 25;
const LOG_MAX = 10_000_000;

const files = (home: string) => ({ record: `${home}/temporal.json`, log: `${home}/temporal.log` });

/** What `temporal.json` holds. */
interface Recorded {
  identity: ProcessIdentity;
  address: string;
  uiAddress: string | null;
}

/**
 * The server of this home: the one that is running already, else a new one on the given ports, ready for clients.
 * @throws FleetError with the server's last words: 2 for a port in use, else 1.
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const { home, port = 7233, uiPort = port + 1000, headless = false, script = SCRIPT, say = () => {} } = options;
  const running = await ownDevServer(home);
  if (running) return running;
  const env = { ...(options.env ?? process.env), FLEET_HOME: home };
  mkdirSync(home, { recursive: true, mode: 0o700 });
  // 1. Get the program first: it may take minutes, and then the wait for the server would be of no use.
  const getting = execa(script, ['--install-only'], { env, extendEnv: false, stdin: 'ignore', reject: false });
  for await (const line of getting.iterable({ from: 'stderr' })) say(line);
  const got = await getting;
  if (got.failed) throw new FleetError('failed', lastWords(got.stderr) ?? `${script} failed: ${got.shortMessage}`);
  const address = `127.0.0.1:${port}`;
  if (await listens(address)) throw portInUse(port);
  // 2. Start it, and record it before anything can go wrong.
  const flags = ['--port', String(port), ...(headless ? ['--headless'] : ['--ui-port', String(uiPort)])];
  const log = openLog(files(home).log);
  const child = spawn(script, flags, { env, detached: true, stdio: ['ignore', log.fd, log.fd] });
  closeSync(log.fd);
  child.unref();
  const exited = new Promise<Exit>((resolve) => {
    child.once('error', (error) => resolve({ code: null, error }));
    child.once('exit', (code) => resolve({ code }));
  });
  let gone: Exit | undefined;
  void exited.then((exit) => (gone = exit));
  const identity = child.pid === undefined ? undefined : identify(child.pid);
  const recorded = { identity: identity!, address, uiAddress: headless ? null : `http://127.0.0.1:${uiPort}` };
  if (identity) writeRecord(home, recorded);
  const server = serverOf(home, recorded);
  const stopChild = async (): Promise<void> => {
    child.ref();
    await Promise.all([server.stop(), exited]);
  };
  // 3. Wait for it.
  try {
    await ready(address, exited);
    await keepClosedTasks(address);
    return { ...server, stop: stopChild };
  } catch (error) {
    if (!gone && identity) await stopChild();
    rmSync(files(home).record, { force: true });
    const said = lastWords(readFileSync(files(home).log).subarray(log.from).toString());
    const why = said ?? gone?.error?.message ?? (gone ? `exit code ${gone.code}` : (error as Error).message);
    const code = gone?.code === 2 ? 'invalid-argument' : 'failed';
    throw new FleetError(code, `Temporal's dev server did not start: ${why}`, { cause: error });
  }
}

/** The server that `startDevServer` recorded in this home, if it is alive. */
export async function ownDevServer(home: string): Promise<DevServer | undefined> {
  try {
    const recorded = JSON.parse(readFileSync(files(home).record, 'utf8')) as Recorded;
    return isAlive(recorded.identity) ? serverOf(home, recorded) : undefined;
  } catch {
    return undefined;
  }
}

const portInUse = (port: number): FleetError =>
  wrongInput(
    `port ${port} is in use: if that is a Temporal server, wait until it answers; else start one elsewhere with temporal-dev.sh --port <port> and set TEMPORAL_ADDRESS`,
  );

interface Exit {
  code: number | null;
  error?: Error;
}

function serverOf(home: string, recorded: Recorded): DevServer {
  const { identity, address, uiAddress } = recorded;
  return { address, uiAddress, pid: identity?.pid, stop: () => stop(home, identity) };
}

async function stop(home: string, identity: ProcessIdentity): Promise<void> {
  const until = Date.now() + TERM_MS;
  signal(identity, 'SIGTERM');
  while (isAlive(identity)) {
    if (Date.now() > until) signal(identity, 'SIGKILL');
    await pause(POLL_MS);
  }
  rmSync(files(home).record, { force: true });
}

function signal(identity: ProcessIdentity, name: NodeJS.Signals): void {
  try {
    if (isAlive(identity)) process.kill(-identity.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Resolves when the server answers for its default namespace; rejects when it is gone, or after a minute. */
async function ready(address: string, exited: Promise<unknown>): Promise<void> {
  const gone = exited.then(() => 'gone' as const);
  const until = Date.now() + READY_MS;
  for (;;) {
    if (Date.now() > until) throw new Error(`it did not answer on ${address} within ${READY_MS / 1_000}s`);
    const found = await Promise.race([gone, listens(address).then((open) => open && answers(address))]);
    if (found === 'gone') throw new Error('it ended');
    if (found) return;
    await pause(POLL_MS);
  }
}

async function answers(address: string): Promise<boolean> {
  const connection = Connection.lazy({ address, connectTimeout: 5_000 });
  try {
    await connection.ensureConnected();
    await connection.workflowService.describeNamespace({ namespace: 'default' });
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

const KEPT = '30 days';

/** A dev server forgets closed workflows after a day: too soon for who looks at the results of last week. */
async function keepClosedTasks(address: string): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    await connection.workflowService.updateNamespace({
      namespace: 'default',
      config: { workflowExecutionRetentionTtl: msToTs(KEPT) },
    });
  } finally {
    await connection.close();
  }
}

/** Opened for appending, so that the server and a later one share it; emptied once it is large. */
function openLog(path: string): { fd: number; from: number } {
  const fd = openSync(path, 'a', 0o600);
  if (fstatSync(fd).size > LOG_MAX) ftruncateSync(fd);
  return { fd, from: fstatSync(fd).size };
}

function writeRecord(home: string, recorded: Recorded): void {
  const draft = `${files(home).record}.${process.pid}.tmp`;
  writeFileSync(draft, `${JSON.stringify(recorded)}\n`, { mode: 0o600 });
  renameSync(draft, files(home).record);
}

/** Its last line; of a program of Go that gave up, what it said before it listed where it was. */
function lastWords(output: string): string | undefined {
  const lines = output.trim().split('\n');
  const line = (lines.find((one) => /^(panic|fatal error): /.test(one)) ?? lines.at(-1))?.trim();
  return line ? line.replace(/^temporal-dev\.sh: /, '') : undefined;
}
