import { randomBytes } from 'node:crypto';

const LONGEST_LINE = 1_000;
const LONGEST_WORD = 200;
const MOST = 10;

/** What dash, bash, busybox and ksh say of a word that they could not run; a message about a redirection has another form in dash. */
const MESSAGE =
  /^: (?:(?:line )?\d+: )?(?:(?:eval|exec): )?(?!cannot (?:open|create) )(.+): (?:(?:command )?not found|No such file or directory|Permission denied)$/;

/**
 * Finds, in the stderr of a shell that was started with `name` as its $0, the words that it could not run as commands.
 * Another shell in its tree has another name. An agent's program that reads the name can only make its own work fail.
 */
export class UnknownWords {
  /** Not to be guessed before the shell runs. */
  readonly name = `sh-${randomBytes(8).toString('hex')}`;
  readonly #found = new Set<string>();
  #rest = '';

  /** Any part of the stream, in order. */
  write(bytes: Buffer): void {
    const text = this.#rest + bytes.toString('latin1');
    let from = 0;
    for (let at = text.indexOf(this.name); at !== -1; at = text.indexOf(this.name, from)) {
      const start = at + this.name.length;
      const end = text.indexOf('\n', start);
      if (end === -1 && text.length - start < LONGEST_LINE) {
        this.#rest = text.slice(at);
        return;
      }
      this.#take(text.slice(start, end === -1 ? undefined : end));
      from = start;
    }
    this.#rest = text.slice(Math.max(from, text.length - this.name.length + 1));
  }

  /** Each once, at most 10, cut at 200 characters. */
  get words(): string[] {
    if (this.#rest.startsWith(this.name)) this.#take(this.#rest.slice(this.name.length));
    return [...this.#found];
  }

  #take(message: string): void {
    const word = MESSAGE.exec(message)?.[1];
    if (word !== undefined && this.#found.size < MOST)
      this.#found.add(Buffer.from(word, 'latin1').toString('utf8').slice(0, LONGEST_WORD));
  }
}

/** The same environment, with messages as the programs' authors wrote them: only those can be read. */
export function untranslated(env: Record<string, string>): Record<string, string> {
  const { LC_ALL, LC_CTYPE, ...rest } = env;
  const locale = LC_ALL ?? env['LANG'];
  if (!locale) return env;
  return { ...rest, ...(LC_CTYPE && !LC_ALL && { LC_CTYPE }), LANG: locale, LC_MESSAGES: 'C' };
}
