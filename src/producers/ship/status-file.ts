import { readFile, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { parse, stringify } from 'yaml';
import { writeText } from '../../adapters/disk/json-file.ts';

/** How the task of a file stands, beside the file: `login.md.status`. The file itself is a person's, and never written to. */
export interface Status {
  /** Null where the file was refused. */
  task: string | null;
  approval: number;
  /** The SHA-256 of the text that the task was made of. */
  text: string;
  state: string;
  branch?: string;
  note?: string;
  /** ISO, when this was written. */
  since: string;
}

const pathOf = (file: string): string => `${file}.status`;

/** Undefined where there is none, or none that can be read. */
export async function readStatus(file: string): Promise<Status | undefined> {
  try {
    const value = parse(await readFile(pathOf(file), 'utf8')) as Partial<Status> | null;
    const { task, approval, text, state } = value ?? {};
    const whole =
      (typeof task === 'string' || task === null) &&
      typeof approval === 'number' &&
      typeof text === 'string' &&
      typeof state === 'string';
    return whole ? (value as Status) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes it where it says something new. @throws where the folder cannot be written to */
export async function writeStatus(
  file: string,
  status: Omit<Status, 'since'>,
  before: Status | undefined,
): Promise<void> {
  const { since: _, ...known } = before ?? { since: '' };
  if (JSON.stringify(sorted(known)) === JSON.stringify(sorted(status))) return;
  const head = `# By fleet ship: how ${basename(file)} stands.${status.task ? ` More: fleet task ${status.task}` : ''}\n`;
  await writeText(pathOf(file), head + stringify({ ...status, since: new Date().toISOString() }));
}

export const removeStatus = (file: string): Promise<void> => rm(pathOf(file), { force: true });

const sorted = (of: object): unknown[] =>
  Object.entries(of)
    .filter(([, value]) => value !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
