import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Isolation } from '../../domain/run/outcome.ts';
import { ControlGroup } from '../sandbox/cgroup.ts';
import {
  childrenOf,
  identify,
  isAlive,
  pidsMarked,
  processTable,
  withDescendants,
  type ProcessEntry,
  type ProcessIdentity,
} from '../program/process.ts';
import { receiveLines } from '../daemon/lines.ts';
import type { Drain } from './pipes.ts';
import { spawnTree, type TreeCommand } from './spawn-tree.ts';

/** How the tree's first process ended, from the init's report. Where the init itself was killed: by SIGKILL. */
export interface AgentEnd {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  leftover: number;
}

/** Milliseconds that the streams may stay open after the last process of the tree is gone. */
const STREAM_GRACE_MS = 2_000;

/**
 * A contained process tree. In a namespace its init is pid 1 there, and whatever the agent starts cannot leave:
 *
 *   us ─ bwrap (dies with us) ─ init ─ bwrap (the agent's user namespace) ─ agent ─ …
 *
 * Without namespaces the init leads a process group, and what left the group is found by its environment. Where control
 * groups can be written, one holds the tree as well.
 */
export class ProcessTree {
  readonly #child: ChildProcess;
  readonly #command: TreeCommand;
  readonly #streams: Drain[];
  readonly #control: Socket;
  #init: ProcessIdentity | undefined;
  #group: ControlGroup | undefined;
  #exited = false;
  #groupGone = false;
  #reported = false;
  readonly #ready: Promise<boolean>;
  /** Resolves when the agent's own process has ended; others of the tree may live. */
  readonly ended: Promise<AgentEnd>;

  private constructor(child: ChildProcess, command: TreeCommand, streams: Drain[]) {
    this.#child = child;
    this.#command = command;
    this.#streams = streams;
    this.#control = child.stdio[3] as Socket;
    this.#control.on('error', () => {});
    const lines = new EventEmitter<{ ready: [string]; exit: [string] }>();
    receiveLines(this.#control, (line) => void lines.emit(line.split(' ', 1)[0] as 'ready' | 'exit', line));
    const closed = new Promise((resolve) => this.#control.once('close', resolve));
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => {
        this.#exited = true;
        // The last report may still be under way; a watcher holds its stream open.
        const late = setTimeout(resolve, 500);
        void closed.then(() => (clearTimeout(late), resolve()));
      });
    });
    this.#ready = new Promise((resolve) => {
      lines.once('ready', () => resolve(true));
      void exited.then(() => resolve(false));
    });
    this.ended = new Promise((resolve) => {
      lines.once('exit', (line) => resolve(this.#endOf(line)));
      void exited.then(() => resolve({ exitCode: null, signal: 'SIGKILL', leftover: 0 }));
    });
  }

  /** Resolves when everything but the agent is there: it starts at `go`. @throws with the reason where it cannot */
  static async start(command: TreeCommand): Promise<ProcessTree> {
    const { child, streams } = await spawnTree(command);
    let notes = '';
    child.stderr!.on('error', () => {}).on('data', (bytes) => (notes = (notes + String(bytes)).slice(-500)));
    const tree = new ProcessTree(child, command, streams);
    tree.#init = (await tree.#ready) ? tree.#findInit() : undefined;
    if (tree.#init) {
      const { plan, mark, limits } = command;
      const { processes } = limits;
      // Who waits for the agent is there on top of what the agent may start.
      const held = {
        ...limits,
        ...(processes !== undefined && plan.isolation === 'namespace' && { processes: processes + 1 }),
      };
      tree.#group = ControlGroup.hold(tree.#init.pid, { home: plan.home, name: mark, limits: held });
      return tree;
    }
    await tree.kill(5_000);
    throw new Error(notes.trim() || 'the isolation ended before it was ready');
  }

  get identity(): ProcessIdentity {
    return this.#init!;
  }

  /** What holds the tree to its limits; nothing where control groups cannot be written. */
  get group(): ControlGroup {
    return this.#group!;
  }

  /** Processes of the tree, without its init and who waits for the agent on the init's behalf. */
  get pids(): number[] {
    const members = this.#members();
    const ours = [this.#init?.pid, this.#waiter(members)];
    return members.flatMap(({ pid }) => (ours.includes(pid) ? [] : [pid]));
  }

  /** The init's first child, while the agent's end is not reported: orphans become its children only later. */
  #waiter(members: readonly ProcessEntry[]): number | undefined {
    if (this.#command.plan.isolation === 'process-group' || this.#reported) return undefined;
    const children = members.filter(({ parent }) => parent === this.#init?.pid);
    return children.toSorted((a, b) => Number(a.startTime) - Number(b.startTime) || a.pid - b.pid)[0]?.pid;
  }

  go(): void {
    this.#control.write('go\n');
  }

  /** To every process of the tree, except the init that reports its end. */
  signal(name: NodeJS.Signals): void {
    for (const pid of this.pids) send(pid, name);
  }

  /** User and system milliseconds of the whole tree, with those of children already dead. */
  cpuMs(): number {
    return this.group.cpuMs ?? this.#members().reduce((sum, entry) => sum + entry.cpuMs, 0);
  }

  /**
   * Kills what is left and resolves when nothing is, and the streams have ended.
   * False: something was still alive after `patienceMs`; call it again.
   */
  async kill(patienceMs: number): Promise<boolean> {
    const start = performance.now();
    for (let pause = 2; !this.#killOnce(); pause = Math.min(pause * 2, 200)) {
      if (performance.now() - start > patienceMs) return false;
      await sleep(pause);
    }
    this.#control.destroy();
    this.#group?.remove();
    this.#streams.forEach((stream) => stream.close?.());
    const late = setTimeout(() => this.#streams.forEach((stream) => stream.destroy()), STREAM_GRACE_MS);
    await Promise.all(this.#streams.map((stream) => stream.ended));
    clearTimeout(late);
    return true;
  }

  /** True when nothing was left to kill. */
  #killOnce(): boolean {
    this.#group?.kill();
    return this.#killTree() && !this.#group?.pids().length;
  }

  #killTree(): boolean {
    if (this.#command.plan.isolation === 'process-group' || !this.#init) {
      const members = this.#members();
      for (const { pid } of members) send(pid, 'SIGKILL');
      if (!this.#exited) this.#child.kill('SIGKILL');
      return this.#exited && members.length === 0;
    }
    // The kernel lets the init go only when everything in its namespace is dead.
    const alive = isAlive(this.#init);
    if (alive) send(this.#init.pid, 'SIGKILL');
    return !alive && this.#exited;
  }

  /** Alive, the init among them. */
  #members(): ProcessEntry[] {
    const table = processTable();
    if (this.#command.plan.isolation === 'namespace') {
      const init = this.#init && table.get(this.#init.pid);
      if (!init || init.startTime !== this.#init?.startTime) return [];
      return withDescendants(table, [init.pid]).filter((entry) => !entry.zombie);
    }
    const leader = this.#child.pid;
    const group = this.#groupGone ? [] : [...table.values()].filter((entry) => entry.group === leader);
    if (this.#exited && group.length === 0) this.#groupGone = true;
    const roots = [
      ...group.map((entry) => entry.pid),
      ...pidsMarked(this.#command.mark),
      ...(this.#group?.pids() ?? []),
    ];
    return withDescendants(table, roots).filter((entry) => !entry.zombie);
  }

  #findInit(): ProcessIdentity | undefined {
    const leader = this.#child.pid!;
    if (this.#command.plan.isolation === 'process-group') return identify(leader);
    const [child] = childrenOf(leader) ?? [];
    const init = child ?? [...processTable().values()].find((entry) => entry.parent === leader)?.pid;
    return init === undefined ? undefined : identify(init);
  }

  /** Told by one read: what an agent leaves behind becomes a child of the namespace's init. */
  #initIsAlone(): boolean {
    const { isolation } = this.#command.plan;
    return isolation === 'namespace' && this.#init !== undefined && childrenOf(this.#init.pid)?.length === 0;
  }

  #endOf(line: string): AgentEnd {
    this.#reported = true;
    const status = Number(line.split(' ')[1]);
    const leftover = this.#initIsAlone() ? 0 : this.pids.length;
    const signal = signalNamed(status - 128);
    return signal ? { exitCode: null, signal, leftover } : { exitCode: status, signal: null, leftover };
  }
}

/** Ends what a keeper that is gone may have left of a run. */
export function killRemains(run: { identity: ProcessIdentity | null; mark: string; isolation: Isolation }): void {
  if (run.identity && isAlive(run.identity)) send(run.identity.pid, 'SIGKILL');
  if (run.isolation === 'process-group') for (const pid of pidsMarked(run.mark)) send(pid, 'SIGKILL');
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH')
      process.stderr.write(`kill ${signal} ${pid}: ${String(error)}\n`);
  }
}

function signalNamed(number: number): NodeJS.Signals | undefined {
  return (Object.keys(constants.signals) as NodeJS.Signals[]).find((name) => constants.signals[name] === number);
}
