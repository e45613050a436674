import { fork, type ChildProcess } from 'node:child_process';
import { builtFile } from '../../../package.ts';
import type { GitRunner } from '../git.ts';
import { GitFailed } from '../git.ts';
import type { Request, Response } from './protocol.ts';

const MAIN = builtFile('adapters/git/process/main.js');
const SMALL_HEAP = ['--max-semi-space-size=1', '--optimize-for-size'];
/** Without work for so long the process ends; the next call starts another. */
const IDLE_MS = 60_000;

type Waiter = { request: Request; again: boolean; resolve: (response: Response) => void };
type Ask = Request extends infer R ? (R extends Request ? Omit<R, 'id'> : never) : never;

/**
 * Git by way of a small process of its own: a fork copies the page tables of the process that makes it, which takes a
 * worker of 200 MB 17 ms of its only thread, and one of 50 MB 1.3 ms (measured). What was under way when it died is asked
 * of the next one, once: every use of git here may be repeated.
 */
export class GitProcess implements GitRunner {
  readonly #waiting = new Map<number, Waiter>();
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;
  #id = 0;

  git: GitRunner['git'] = async (args, options = {}) => {
    const response = await this.#ask({ op: 'git', args, options });
    if ('stdout' in response)
      return Buffer.from(response.stdout.buffer, response.stdout.byteOffset, response.stdout.length);
    throw failureOf(response);
  };

  copyObjects: GitRunner['copyObjects'] = async (copy) => {
    const response = await this.#ask({ op: 'copyObjects', copy });
    if (!('stdout' in response)) throw failureOf(response);
  };

  folderSize: GitRunner['folderSize'] = async (path) => {
    const response = await this.#ask({ op: 'folderSize', path });
    if (!('size' in response)) throw failureOf(response);
    return response.size;
  };

  close(): void {
    clearTimeout(this.#idle);
    this.#child?.disconnect();
    this.#child = undefined;
  }

  #ask(ask: Ask): Promise<Response> {
    this.#id += 1;
    const request: Request = { ...ask, id: this.#id };
    clearTimeout(this.#idle);
    return new Promise((resolve) => this.#send({ request, again: false, resolve }));
  }

  #send(waiter: Waiter): void {
    this.#child ??= this.#start();
    this.#waiting.set(waiter.request.id, waiter);
    // An error here is followed by the child's end; without file descriptors it has not even a channel.
    this.#child.send?.(waiter.request, () => undefined);
  }

  #start(): ChildProcess {
    const child = fork(MAIN, {
      execArgv: SMALL_HEAP,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.on('message', (response: Response) => this.#settle(response));
    const ended = (why: string) => this.#ended(child, `the process that runs git ended twice: ${why}`);
    child.once('exit', () => ended('it was killed')).on('error', (error) => ended(error.message));
    return child;
  }

  #settle(response: Response): void {
    const waiter = this.#waiting.get(response.id);
    this.#waiting.delete(response.id);
    waiter?.resolve(response);
    if (this.#waiting.size === 0) this.#idle = setTimeout(() => this.close(), IDLE_MS).unref();
  }

  #ended(child: ChildProcess, broken: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    const left = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const waiter of left) {
      if (waiter.again) waiter.resolve({ id: waiter.request.id, broken });
      else this.#send({ ...waiter, again: true });
    }
  }
}

function failureOf(response: Response): Error {
  if ('failed' in response) return new GitFailed(response.failed.args, response.failed);
  return new Error('broken' in response ? response.broken : 'it was answered otherwise');
}
