import { mkdirSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HomeLayout, RunLayout } from '../../domain/names.ts';
import type { ExitRecord, StopReason } from '../../domain/run/outcome.ts';
import { failpoint } from '../failpoint.ts';
import { createJsonSync, writeJsonSync } from '../disk/json-file.ts';
import { bootSeconds, type ProcessIdentity } from '../program/process.ts';
import { giveUpReserve } from '../disk/reserve.ts';
import { RedactStream } from '../secrets/redact-stream.ts';
import { LogWriter } from './log-writer.ts';
import type { HeldRun, Ladder, LaunchedRecord, LaunchInput, LiveStatus } from './protocol.ts';
import { ProcessTree } from './tree.ts';

/** Milliseconds after the first SIGKILL at which the end is recorded as unclean. */
const UNKILLABLE_MS = 15_000;
const FENCED: readonly StopReason[] = ['host-lost', 'superseded', 'killed'];
/** Seconds at the limit of processes after which a run is ended: nothing in it can start anything. */
const FULL_S = 10;
/** A signal, and the milliseconds until the next one. */
type Step = [NodeJS.Signals, number];

/**
 * A live run:
 *
 *   launched.json ─► isolation ready ─► identity in launched.json ─► agent ─► its end ─► all killed ─► exit.json ─► ended
 *                                                       stop: INT, TERM ──┘      └─ KILL
 */
export class Run {
  readonly #order: LaunchInput;
  readonly #paths: RunLayout;
  readonly #reserve: string;
  readonly #out: LogWriter;
  readonly #err: LogWriter;
  readonly #hooks: LogWriter | undefined;
  readonly #redacted: RedactStream[] = [];
  readonly #deadline: number;
  #tree!: ProcessTree;
  #startedAt = new Date().toISOString();
  #lastOutputAt: string | null = null;
  #stopped: StopReason | null = null;
  #fullFor = 0;
  #unclean = false;
  #limited = true;
  #agentEnded = false;
  #kill!: () => void;
  readonly #killed = new Promise<void>((resolve) => (this.#kill = resolve));
  #finish!: (exit: ExitRecord) => void;
  readonly ended = new Promise<ExitRecord>((resolve) => (this.#finish = resolve));
  /** Resolves when nothing of the run is left to do: usually with `ended`. */
  over!: Promise<void>;
  live = true;

  private constructor(order: LaunchInput, paths: RunLayout, reserve: string) {
    this.#order = order;
    this.#reserve = reserve;
    this.#paths = paths;
    this.#deadline = bootSeconds() + order.deadlineMs / 1_000;
    this.#out = new LogWriter(order.logsDir, 'stdout');
    this.#err = new LogWriter(order.logsDir, 'stderr');
    this.#hooks = order.hooks ? new LogWriter(order.logsDir, 'hooks') : undefined;
  }

  /** Undefined: the run was launched before. @throws where nothing could be started; it may then be tried again */
  static async launch(order: LaunchInput, home: HomeLayout): Promise<Run | undefined> {
    const paths = home.run(order.taskId, order.runId);
    const run = new Run(order, paths, home.reserve);
    if (!createJsonSync(paths.launched, run.#launched(null))) return undefined;
    failpoint('keeper.launch-recorded');
    try {
      mkdirSync(order.logsDir, { recursive: true, mode: 0o700 });
      run.#tree = await ProcessTree.start({
        plan: { ...order, home: home.root },
        limits: order.limits,
        argv: order.argv,
        cwd: order.cwd,
        env: order.env,
        stdin: order.stdin,
        mark: order.runId,
        scratch: paths.dir,
        stdout: run.#keep(run.#out),
        stderr: run.#keep(run.#err),
        hooks: order.hooks && run.#hooks ? { path: order.hooks, take: run.#redactInto(run.#hooks) } : undefined,
      });
      failpoint('keeper.tree-started');
      writeJsonSync(paths.launched, run.#launched(run.#tree.identity));
    } catch (error) {
      await run.#tree?.kill(UNKILLABLE_MS);
      rmSync(paths.launched, { force: true });
      throw error;
    }
    failpoint('keeper.identity-recorded');
    run.#startedAt = new Date().toISOString();
    run.#limited = run.#tree.group.limited;
    run.#tree.go();
    failpoint('keeper.agent-started');
    run.over = run.#watch();
    return run;
  }

  get pid(): number {
    return this.#tree.identity.pid;
  }

  held(): HeldRun {
    const { taskId, runId } = this.#order;
    const held = { taskId, runId, pid: this.pid, startedAt: this.#startedAt, live: this.live };
    return this.#unclean && this.live ? { ...held, unkillable: this.#tree.pids } : held;
  }

  status(): LiveStatus {
    return {
      state: 'live',
      pid: this.pid,
      startedAt: this.#startedAt,
      lastOutputAt: this.#lastOutputAt,
      stdoutBytes: this.#out.bytes,
      stderrBytes: this.#err.bytes,
      cpuMs: this.#tree.cpuMs(),
      stopped: this.#stopped,
    };
  }

  get overdue(): boolean {
    return bootSeconds() > this.#deadline;
  }

  /** Each second: a tree that has stood at its limit of processes for a while is ended. */
  tick(): void {
    if (this.#agentEnded) return;
    this.#fullFor = this.#tree.group.full ? this.#fullFor + 1 : 0;
    if (this.#fullFor === FULL_S) this.#kill();
  }

  /** The first reason stays; a fence makes a stop that is under way faster. False where the agent has ended. */
  stop(reason: StopReason, ladder: Ladder): boolean {
    if (this.#agentEnded) return false;
    const first = this.#stopped === null;
    this.#stopped ??= reason;
    const fence = FENCED.includes(reason);
    if (first || fence) {
      const term: Step = ['SIGTERM', fence ? ladder.fenceMs : ladder.termMs];
      void this.#descend(fence ? [term] : [['SIGINT', ladder.intMs], term]);
    }
    return true;
  }

  async #descend(steps: Step[]): Promise<void> {
    for (const [signal, ms] of steps) {
      if (this.#agentEnded) return;
      this.#tree.signal(signal);
      await waitFor(this.#tree.ended, ms);
    }
    this.#kill();
  }

  async #watch(): Promise<void> {
    await Promise.race([this.#tree.ended.then(() => (this.#agentEnded = true)), this.#killed]);
    failpoint('keeper.agent-ended');
    let dead = await this.#tree.kill(UNKILLABLE_MS);
    this.#unclean = !dead;
    failpoint('keeper.tree-dead');
    const end = dead ? await this.#tree.ended : { exitCode: null, signal: 'SIGKILL', leftover: 0 };
    this.#agentEnded = true;
    const exit = this.#exit(end, dead);
    // A full disk must not hold the answer back, and the record must come to the disk once it can.
    let written =
      tryWrite(this.#paths.exit, exit) || (giveUpReserve(this.#reserve) && tryWrite(this.#paths.exit, exit));
    failpoint('keeper.exit-recorded');
    this.#finish(exit);
    while (!dead || !written) {
      dead ||= await this.#tree.kill(1_000);
      await sleep(1_000);
      written ||= tryWrite(this.#paths.exit, exit);
    }
    this.live = false;
  }

  #exit(end: Pick<ExitRecord, 'exitCode' | 'signal' | 'leftover'>, dead: boolean): ExitRecord {
    const { group } = this.#tree;
    this.#redacted.forEach((stream) => stream.end());
    const redacted = this.#redacted.reduce((sum, { count }) => sum + count, 0);
    return {
      exitCode: end.exitCode,
      signal: end.signal,
      stopped: this.#stopped,
      leftover: end.leftover,
      ...(group.oomKills > 0 ? { outOfMemory: true } : {}),
      ...(group.refusals > 0 ? { outOfProcesses: true } : {}),
      ...(this.#limited ? {} : { unlimited: true }),
      ...(dead ? {} : { unclean: true }),
      ...(redacted > 0 ? { redacted } : {}),
      isolation: this.#order.isolation,
      startedAt: this.#startedAt,
      endedAt: new Date().toISOString(),
      stdout: this.#out.end(),
      stderr: this.#err.end(),
      ...(this.#hooks ? { hooks: this.#hooks.end() } : {}),
    };
  }

  #keep(writer: LogWriter): (bytes: Buffer) => void {
    const write = this.#redactInto(writer);
    return (bytes) => {
      write(bytes);
      this.#lastOutputAt = new Date().toISOString();
    };
  }

  #redactInto(writer: LogWriter): (bytes: Buffer) => void {
    const stream = new RedactStream(this.#order.secrets ?? {}, (bytes) => writer.write(bytes));
    this.#redacted.push(stream);
    return (bytes) => stream.write(bytes);
  }

  #launched(identity: ProcessIdentity | null): LaunchedRecord {
    const { taskId, runId, isolation } = this.#order;
    return { taskId, runId, identity, isolation, startedAt: this.#startedAt };
  }
}

/** Until the promise settles, for `ms` at most; leaves no timer behind. */
async function waitFor(promise: Promise<unknown>, ms: number): Promise<void> {
  const stop = new AbortController();
  await Promise.race([promise, sleep(ms, undefined, { signal: stop.signal }).catch(() => undefined)]);
  stop.abort();
}

/** A run's folder that was removed meanwhile needs no record any more. */
function tryWrite(path: string, exit: ExitRecord): boolean {
  try {
    writeJsonSync(path, exit);
    return true;
  } catch (error) {
    process.stderr.write(`${path}: ${String(error)}\n`);
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
