import { Redaction, secretsIn, type Secrets } from '../../domain/secrets/redaction.ts';
import type { Coder } from '../../ports.ts';
import { variablesOf } from './credential-secret.ts';

/** All secrets that a worker has had its hands on: those of its environment, and those that its runs' accounts were read from. In memory alone. */
export class KnownSecrets {
  readonly #env: NodeJS.ProcessEnv;
  readonly #own: Secrets;
  readonly #added: Record<string, string> = {};
  #all: Secrets;
  #redaction: Redaction;

  /** Names of variables. `credentials`: of every run; `listed`: of those whose task asks for them. */
  constructor(env: NodeJS.ProcessEnv, { credentials, listed }: Record<'credentials' | 'listed', readonly string[]>) {
    this.#env = env;
    this.#own = secretsIn(some(env, credentials));
    this.#all = { ...secretsIn(some(env, listed)), ...this.#own };
    this.#redaction = new Redaction(this.#all);
  }

  /** What a coder that works under this account could print, with the listed variables of its task; known for all that is written from now on. */
  of(coder: Coder, account: Secrets, names: readonly string[] = []): Secrets {
    const fresh = secretsIn(some(account, variablesOf(coder).secrets));
    for (const [name, value] of Object.entries(fresh)) {
      if (Object.values(this.#all).includes(value)) continue;
      // Two credentials may set the same variable.
      this.#added[`${name}${this.#all[name] === undefined ? '' : `_${Object.keys(this.#added).length + 1}`}`] = value;
      this.#all = { ...this.#all, ...this.#added };
      this.#redaction = new Redaction(this.#all);
    }
    return { ...secretsIn(some(this.#env, names)), ...this.#own, ...this.#added, ...fresh };
  }

  get all(): Secrets {
    return this.#all;
  }

  get redaction(): Redaction {
    return this.#redaction;
  }
}

const some = (env: NodeJS.ProcessEnv, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, env[name]]));
