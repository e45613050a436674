import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { parseObject, type Json } from '../domain/values/json.ts';

export interface Exit {
  code: number | null;
  signal: string | null;
  /** Why it could not be started. */
  error?: string;
}

const CLOSE_MS = 2_000;
const TERM_MS = 700;
const KILL_MS = 2_000;
const TAIL = 4_000;

/** An agent CLI that speaks JSON, one message a line, by its stdin and stdout. What else it prints goes to stderr. */
export class Child {
  readonly exited: Promise<Exit>;
  /** The end of what it printed to stderr. */
  tail = '';
  readonly #process: ChildProcess;
  readonly #redact: (text: string) => string;
  #gone = false;

  constructor(command: readonly string[], options: { cwd: string; redact: (text: string) => string }) {
    const [program = '', ...args] = command;
    this.#redact = options.redact;
    // A group of its own: a signal to ours becomes a cancel in its protocol first.
    this.#process = spawn(program, args, { cwd: options.cwd, stdio: 'pipe', detached: true });
    this.#process.stdin!.on('error', () => undefined);
    this.exited = new Promise((resolve) => {
      this.#process.once('error', (error) => resolve({ code: null, signal: null, error: error.message }));
      this.#process.once('exit', (code, signal) => resolve({ code, signal }));
    }).then((exit) => {
      this.#gone = true;
      return exit as Exit;
    });
    createInterface({ input: this.#process.stderr! }).on('line', (line) => this.#aside(line));
  }

  /** Each message; resolves at the end of its stdout. */
  async listen(take: (message: Json) => void): Promise<void> {
    const lines = createInterface({ input: this.#process.stdout! });
    lines.on('line', (line) => {
      const message = parseObject(line);
      if (message) take(message);
      else if (line.trim()) this.#aside(line);
    });
    await once(lines, 'close');
  }

  send(message: unknown): void {
    if (!this.#process.stdin!.writableEnded) this.#process.stdin!.write(`${JSON.stringify(message)}\n`);
  }

  /** Closes its stdin, asks its group to end, kills it: gone or given up after `closeMs` and 2.7 s more. */
  async end(closeMs = CLOSE_MS): Promise<void> {
    this.#process.stdin?.end();
    if (await this.#goneIn(closeMs)) return this.#signal('SIGKILL');
    this.#signal('SIGTERM');
    await this.#goneIn(TERM_MS);
    // Also of one that has gone: a wrapper leaves others behind.
    this.#signal('SIGKILL');
    await this.#goneIn(KILL_MS);
  }

  #aside(line: string): void {
    const text = this.#redact(line);
    this.tail = `${this.tail}${text}\n`.slice(-TAIL);
    process.stderr.write(`${text}\n`);
  }

  async #goneIn(ms: number): Promise<boolean> {
    if (this.#gone) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
    await Promise.race([this.exited, late]);
    clearTimeout(timer);
    return this.#gone;
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      if (this.#process.pid) process.kill(-this.#process.pid, signal);
    } catch {
      // Nothing of its group is left.
    }
  }
}
