import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { failedOutput } from '../../domain/evidence/failed-output.ts';
import { homeLayout } from '../../domain/names.ts';
import { Redaction, type Secrets } from '../../domain/secrets/redaction.ts';
import type { ContainedCommand, ContainedResult } from '../../domain/values/contained.ts';
import { CappedLog } from './capped-log.ts';
import { RedactStream } from '../secrets/redact-stream.ts';
import type { IsolationPlan } from '../sandbox/plan.ts';
import type { ResourceLimits } from '../sandbox/cgroup.ts';
import { ProcessTree } from './tree.ts';
import { UnknownWords, untranslated } from './command-not-found.ts';

export interface ContainOptions extends IsolationPlan {
  limits: ResourceLimits;
  /** Values that its log, and what it is said to have said, are without, by their names. */
  secrets?: Secrets;
  /** Complete: nothing is inherited. `FLEET_RUN` gets a random end: the mark of this one command. */
  env: Record<string, string>;
  /** Aborting it ends the command as its timeout does. */
  signal?: AbortSignal;
}

/** Milliseconds between TERM and KILL. */
const TERM_MS = 2_000;
/** Milliseconds for the kernel to end a killed tree. */
const KILL_MS = 15_000;
const SAID_MAX = 2_000;

/**
 * Runs `sh -c command` as a child of this process, dying with it. When it resolves, nothing of the command's tree is alive.
 * Any exit code is a result, also 127. @throws where the isolation cannot be set up, or something survives SIGKILL for 15 s
 */
export async function runContained(command: ContainedCommand, options: ContainOptions): Promise<ContainedResult> {
  const unknown = new UnknownWords();
  const argv = ['/bin/sh', '-c', command.command, unknown.name];
  const stderr = (bytes: Buffer) => unknown.write(bytes);
  const env = untranslated(options.env);
  const log = new CappedLog(command.logFile);
  log.write(Buffer.from(`$ ${new Redaction(options.secrets ?? {}).text(command.command)}\n`));
  log.close();
  const result = await runProgram({ ...command, argv, stdin: '', stderr }, { ...options, env });
  // Its shell has a name that no word has.
  return { ...result, said: result.said.replaceAll(unknown.name, 'sh'), notFound: unknown.words };
}

/** A program with its input. Its streams are also handed on, in buffers that are used again. */
export interface ContainedProgram extends Omit<ContainedCommand, 'command'> {
  argv: readonly string[];
  stdin: string;
  stdout?(bytes: Buffer): void;
  stderr?(bytes: Buffer): void;
}

/** As `runContained`, for any program. */
export async function runProgram(
  program: ContainedProgram,
  options: ContainOptions,
): Promise<Omit<ContainedResult, 'notFound'>> {
  const log = new CappedLog(program.logFile);
  const { scratch } = homeLayout(options.home);
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const take = (also: ((bytes: Buffer) => void) | undefined) =>
    new RedactStream(options.secrets ?? {}, (bytes) => (log.write(bytes), also?.(bytes)));
  const [stdout, stderr] = [take(program.stdout), take(program.stderr)];
  const start = performance.now();
  try {
    const tree = await ProcessTree.start({
      plan: options,
      limits: options.limits,
      env: options.env,
      cwd: program.cwd,
      argv: program.argv,
      stdin: program.stdin,
      mark: `${options.env['FLEET_RUN'] ?? 'command'}~${randomUUID()}`,
      scratch,
      stdout: (bytes) => stdout.write(bytes),
      stderr: (bytes) => stderr.write(bytes),
    });
    const limit = new Limit(tree, program.timeoutMs, options.signal);
    tree.go();
    const end = await Promise.race([tree.ended, limit.killed]);
    limit.clear();
    if (!(await tree.kill(KILL_MS))) throw new Error(`a process of "${program.argv.join(' ')}" cannot be killed`);
    stdout.end();
    stderr.end();
    const { exitCode, signal } = end ?? (await tree.ended);
    const { timedOut } = limit;
    const said = exitCode === 0 && !timedOut ? log.tail : failedOutput(inside(log.written, program.cwd), SAID_MAX);
    return { exitCode, signal, timedOut, durationMs: Math.round(performance.now() - start), said };
  } finally {
    log.close();
  }
}

/** Paths below its folder as its reader has them. */
const inside = (text: string, cwd: string): string => text.replaceAll(`file://${cwd}/`, '').replaceAll(`${cwd}/`, '');

/** TERM at the timeout or the abort, then `killed`. */
class Limit {
  readonly #tree: ProcessTree;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #abort: AbortSignal | undefined;
  readonly #onAbort = () => this.#end();
  #kill!: () => void;
  readonly killed = new Promise<void>((resolve) => (this.#kill = resolve));
  timedOut = false;

  constructor(tree: ProcessTree, timeoutMs: number, abort: AbortSignal | undefined) {
    this.#tree = tree;
    this.#abort = abort;
    this.#timers.push(setTimeout(() => ((this.timedOut = true), this.#end()), timeoutMs));
    abort?.addEventListener('abort', this.#onAbort);
    if (abort?.aborted) this.#end();
  }

  clear(): void {
    this.#timers.forEach((timer) => clearTimeout(timer));
    this.#abort?.removeEventListener('abort', this.#onAbort);
  }

  #end(): void {
    this.#tree.signal('SIGTERM');
    this.#timers.push(setTimeout(this.#kill, TERM_MS));
  }
}
