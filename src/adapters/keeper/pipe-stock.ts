import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { homeLayout } from '../../domain/names.ts';

const BATCH = 32;

/**
 * Named pipes that nobody uses yet. Only a program can make them, which costs as much for many as for one; each is for one use, as
 * whoever had it may still hold it. They lie where no agent looks, and what is left of them goes when a worker starts.
 */
export class PipeStock {
  static readonly #stocks = new Map<string, PipeStock>();
  readonly #dir: string;
  #ready: string[] = [];
  #making: Promise<void> | undefined;

  private constructor(dir: string) {
    this.#dir = dir;
  }

  static of(home: string): PipeStock {
    const stock = this.#stocks.get(home) ?? new PipeStock(`${homeLayout(home).scratch}/pipes-${process.pid}`);
    this.#stocks.set(home, stock);
    return stock;
  }

  /** Paths; whoever takes them removes them. @throws where none can be made */
  async take(count: number): Promise<string[]> {
    const taken: string[] = [];
    while (taken.length < count) {
      const path = this.#ready.pop();
      if (path === undefined) await (this.#making ??= this.#make().finally(() => (this.#making = undefined)));
      // A worker that starts clears its scratch.
      else if (existsSync(path)) taken.push(path);
    }
    return taken;
  }

  /** One that can be moved into `dir`, a folder of ours. */
  async takeFor(dir: string): Promise<string> {
    const [path = ''] = await this.take(1);
    if (statSync(path).dev === statSync(dir).dev) return path;
    rmSync(path);
    const near = `${dir}/.pipe-${randomUUID()}`;
    await makeFifos([near]);
    return near;
  }

  async #make(): Promise<void> {
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    const paths = Array.from({ length: BATCH }, () => `${this.#dir}/${randomUUID()}`);
    const failed = await makeFifos(paths).then(
      () => undefined,
      (error: Error) => error,
    );
    // On a disk that is nearly full there may be some.
    this.#ready.push(...paths.filter((path) => existsSync(path)));
    if (this.#ready.length === 0) throw failed ?? new Error('no named pipe could be made');
  }
}

async function makeFifos(paths: readonly string[]): Promise<void> {
  await promisify(execFile)('mkfifo', ['-m', '600', ...paths], {
    env: { PATH: '/usr/bin:/bin:/run/current-system/sw/bin' },
  });
}
