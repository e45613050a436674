import type { Redaction } from '../../domain/secrets/redaction.ts';
import { keysOn, type SecretFound } from '../../domain/secrets/secret-shapes.ts';
import { fits } from '../../domain/values/wildcard.ts';
import { matches } from '../glob.ts';

/** What the owner says is none: of these files, or such texts, with `*`. */
export interface Ignored {
  paths: readonly string[];
  values: readonly string[];
}

const FOUND_MAX = 100;
/** A longer line is looked at in parts, which overlap by what the longest key has. */
const LINE_MAX = 1024 * 1024;
const OVERLAP = 1_024;

/**
 * Reads a patch of git's as it comes, its added lines alone, and finds keys of known shapes and the values of secrets. Lines of
 * `git log --format='commit %H'` between patches say whose they are. What is binary is not looked at.
 */
export class DiffScan {
  readonly found: SecretFound[] = [];
  readonly #known: Redaction;
  readonly #isIgnored: (path: string) => boolean;
  readonly #values: readonly string[];
  readonly #told = new Set<string>();
  #partial = '';
  #path = '';
  #commit: string | undefined;
  /** Lines of the hunk that are left. */
  #left = { old: 0, new: 0 };
  #line = 0;
  /** An added line, until what stands behind it is known. */
  #pending: { text: string; line: number } | undefined;

  constructor(known: Redaction, { paths, values }: Ignored) {
    this.#known = known;
    this.#isIgnored = matches(paths);
    this.#values = values;
  }

  write(chunk: Buffer): void {
    const lines = (this.#partial + chunk.toString('latin1')).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
    if (this.#partial.length <= LINE_MAX || this.#left.new === 0) return;
    // Not counted: its end is still to come.
    if (this.#partial.startsWith('+')) this.#look({ text: this.#partial.slice(1), line: this.#line }, '');
    this.#partial = this.#partial[0] + this.#partial.slice(-OVERLAP);
  }

  end(): void {
    if (this.#partial) this.#take(this.#partial);
    this.#partial = '';
    this.#settle('');
  }

  #take(line: string): void {
    const { old, new: fresh } = this.#left;
    if (old > 0 || fresh > 0) return this.#inHunk(line);
    this.#settle('');
    const hunk = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk) {
      this.#left = { old: Number(hunk[1] ?? 1), new: Number(hunk[3] ?? 1) };
      this.#line = Number(hunk[2]);
    } else if (line.startsWith('+++ ')) this.#path = pathIn(line.slice(4));
    else if (/^commit [0-9a-f]{40,64}$/.test(line)) this.#commit = line.slice(7);
  }

  #inHunk(line: string): void {
    const sign = line[0];
    if (sign === '\\') return;
    if (sign !== '+') this.#left.old -= 1;
    if (sign === '-') return;
    this.#left.new -= 1;
    this.#settle(line.slice(1));
    if (sign === '+') this.#pending = { text: line.slice(1), line: this.#line };
    this.#line += 1;
  }

  #settle(next: string): void {
    if (this.#pending) this.#look(this.#pending, next);
    this.#pending = undefined;
  }

  #look({ text, line }: { text: string; line: number }, next: string): void {
    if (this.found.length >= FOUND_MAX) return;
    const keys = keysOn(text, next).filter((key) => !this.#values.some((value) => fits(value, key.text)));
    const value = this.#known.holdsIn(text);
    const all = [...keys.map(({ what }) => what), ...(value === undefined ? [] : [`the value of ${value}`])];
    if (all.length === 0 || this.#isIgnored(this.#path)) return;
    for (const what of new Set(all)) {
      const place = `${this.#path}\0${what}\0${text}`;
      if (this.#told.has(place)) continue;
      this.#told.add(place);
      this.found.push({ path: this.#path, line, what, ...(this.#commit ? { commit: this.#commit } : {}) });
    }
  }
}

/** As git writes it: `b/src/a.js`, in quotes where it has characters that git escapes. */
function pathIn(said: string): string {
  const plain = said.replace(/\t$/, '');
  const whole = plain.startsWith('"') ? plain.slice(1, -1) : Buffer.from(plain, 'latin1').toString('utf8');
  return whole.replace(/^b\//, '');
}
