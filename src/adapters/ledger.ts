import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { HomeLayout } from '../domain/names.ts';
import { writeText } from './json-file.ts';

/** An activity of a run that this worker has worked on, as proof of how far the server's history had come. */
export interface LedgerEntry {
  taskId: string;
  workflowRunId: string;
  n: number;
  activityType: string;
  activityId: string;
  /** ISO */
  at: string;
}

const KEPT = 1_000;

/**
 * What this worker did for one server, beside what the server itself knows: a server that knows less was rolled back. A
 * line of JSON each, synced; who removes the file makes the worker forget.
 */
export class Ledger {
  readonly file: string;
  #entries: LedgerEntry[];

  private constructor(file: string, entries: LedgerEntry[]) {
    this.file = file;
    this.#entries = entries;
  }

  /** @param server the server's identity */
  static async open(home: HomeLayout, server: string): Promise<Ledger> {
    const file = home.ledger(server);
    mkdirSync(dirname(file), { recursive: true });
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    const entries = lines.flatMap(parsed).slice(-KEPT);
    // Also after a crash in the middle of a line.
    if (lines.length > 2 * KEPT || lines.at(-1)) await writeText(file, entries.map(lineOf).join(''));
    return new Ledger(file, entries);
  }

  /** @throws where the disk does not take it */
  note(entry: LedgerEntry): void {
    const fd = openSync(this.file, 'a', 0o600);
    try {
      writeSync(fd, lineOf(entry));
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    this.#entries = [...this.#known().slice(-KEPT), entry];
  }

  get newest(): LedgerEntry | undefined {
    return this.#known().at(-1);
  }

  /** Whether this worker has worked on that run of a task: a claim of it comes from a history that is older than that. */
  has(run: Pick<LedgerEntry, 'workflowRunId' | 'n'>): boolean {
    return this.#known().some(({ workflowRunId, n }) => workflowRunId === run.workflowRunId && n === run.n);
  }

  #known(): LedgerEntry[] {
    if (!existsSync(this.file)) this.#entries = [];
    return this.#entries;
  }
}

const lineOf = (entry: LedgerEntry): string => `${JSON.stringify(entry)}\n`;

function parsed(line: string): LedgerEntry[] {
  try {
    return line ? [JSON.parse(line) as LedgerEntry] : [];
  } catch {
    return [];
  }
}
