import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { HomeLayout } from '../../domain/names.ts';
import { writeTextSync } from '../disk/json-file.ts';

/** An activity of a run that this worker has worked on, as proof of how far the server's history had come. */
export interface LedgerEntry {
  taskId: string;
  workflowRunId: string;
  n: number;
  activityType: string;
  activityId: string;
  /** ISO, by the server's clock: when it scheduled the activity. */
  at: string;
  /** The server was seen not to know it any more. */
  missing?: true;
}

type RunOf = Pick<LedgerEntry, 'workflowRunId' | 'n'>;

const KEPT = 1_000;

/**
 * What this worker did for one server, beside what the server itself knows: a server that knows less was rolled back. A
 * line of JSON each, synced.
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
    const ledger = new Ledger(file, trimmed(lines.flatMap(parsed)));
    // Also after a crash in the middle of a line.
    if (lines.length > 2 * KEPT || lines.at(-1)) ledger.#write(ledger.#entries);
    return ledger;
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
    this.#entries = trimmed([...this.#entries, entry]);
  }

  /** What the server should know, newest first. */
  get expected(): LedgerEntry[] {
    return newestFirst(this.#entries.filter(({ missing }) => !missing));
  }

  /** What the server was seen not to know any more, newest first. */
  get missing(): LedgerEntry[] {
    return newestFirst(this.#entries.filter(({ missing }) => missing));
  }

  /** Whether this worker has worked on that run of a task: a claim of it comes from a history that is older than that. */
  has(run: RunOf): boolean {
    return this.#entries.some((entry) => isOf(entry, run));
  }

  /** Outlives this process. @throws where the disk does not take it, and keeps it in memory */
  miss(entries: readonly LedgerEntry[]): void {
    this.#replace((entry) => (entries.includes(entry) ? [{ ...entry, missing: true }] : [entry]));
  }

  /** The same for all of one run. */
  missRun(run: RunOf): void {
    this.#replace((entry) => (isOf(entry, run) ? [{ ...entry, missing: true }] : [entry]));
  }

  /** The server knows them again. */
  find(entries: readonly LedgerEntry[]): void {
    this.#replace((entry) => {
      const { missing: _, ...found } = entry;
      return [entries.includes(entry) ? found : entry];
    });
  }

  /** They are not waited for, and may be done again. */
  forget(entries: readonly LedgerEntry[]): void {
    this.#replace((entry) => (entries.includes(entry) ? [] : [entry]));
  }

  #replace(by: (entry: LedgerEntry) => LedgerEntry[]): void {
    this.#entries = this.#entries.flatMap(by);
    this.#write(this.#entries);
  }

  #write(entries: readonly LedgerEntry[]): void {
    writeTextSync(this.file, entries.map(lineOf).join(''));
  }
}

const isOf = (entry: RunOf, { workflowRunId, n }: RunOf): boolean =>
  entry.workflowRunId === workflowRunId && entry.n === n;

const newestFirst = (entries: LedgerEntry[]): LedgerEntry[] =>
  entries.toSorted((one, other) => other.at.localeCompare(one.at));

/** What is missing stays, however much is done meanwhile. */
function trimmed(entries: LedgerEntry[]): LedgerEntry[] {
  const surplus = entries.length - KEPT;
  return surplus <= 0 ? entries : entries.filter(({ missing }, index) => missing || index >= surplus);
}

const lineOf = (entry: LedgerEntry): string => `${JSON.stringify(entry)}\n`;

function parsed(line: string): LedgerEntry[] {
  try {
    return line ? [JSON.parse(line) as LedgerEntry] : [];
  } catch {
    return [];
  }
}
