import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WireApi } from '../../../src/domain/agent/upstream.ts';
import type { Coder, StartInput } from '../../../src/ports.ts';
import { FOLDER } from '../binaries.ts';
import type { Row } from './rows.ts';

/** A coder with its real binary, as the conformance suite takes it. One file each in this folder. */
export interface Subject {
  /** As the docs call it: the coder's name, and what it speaks where it can speak two things. */
  name: string;
  /** The npm package with the pinned version. */
  package: string;
  /** Folder of recorded output in test/fixtures/coders: the protocol's name. Missing: nothing is recorded. */
  fixtures?: string;
  /** For a model server's base URL without the version folder. */
  setup(url: string): Setup;
  /** Tokens that its events add up to where the wire says 4,600 in (3,100 of them cached) and 140 out; those by default. */
  usage?: { inputTokens: number; cachedTokens: number; outputTokens: number };
  /** A run that goes on in a session tells the tokens of the earlier one once more. */
  countsAgain?: true;
  /** Tool calls that its events show of the task's three; 3 by default. */
  calls?: number;
  /** Exit code of a run that failed; 1 by default, null for any. */
  failedExit?: number | null;
  /** An answer that was cut off ends it as `overloaded`; else it asks again. */
  endsWhenCut?: true;
  /**
   * Rows that take minutes of the CLI's own retries: to their end with RECORD=1 alone, else as far as to see that it says
   * nothing meanwhile.
   */
  slow?: readonly string[];
  /** An instruction file of the repository that it loads whatever it is told. */
  loadsAnyway?: string;
  /** Rows that it cannot pass, and why. They are not tried. */
  cannot?: Partial<Record<Row, string>>;
  /** What is to be said of a row that it passes, e.g. how long it takes. */
  notes?: Partial<Record<Row, string>>;
}

/** The coder, and either its worker's environment, or the model server in the place of the run's model proxy. */
export interface Setup {
  coder: Coder;
  env: Record<string, string>;
  proxy?: NonNullable<StartInput['proxy']>;
}

export function versionOf({ package: name }: Subject): string {
  const file = readFileSync(join(FOLDER, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(file) as { version: string }).version;
}

/** Its model calls go to this base URL as to the model proxy of a run. */
export const byProxy = (coder: Coder, url: string, api: WireApi): Coder => ({
  ...coder,
  start: (order) => coder.start({ ...order, proxy: { url, key: 'sk-scripted-000009', api } }),
});
