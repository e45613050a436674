import { readSecret, type SecretSource, variablesOf } from '../../adapters/secrets/credential-secret.ts';
import type { RunRecord } from '../../adapters/state/run-registry.ts';
import { isSecretName } from '../../domain/routing/credential.ts';
import type { Failure } from '../../domain/agent/failure.ts';
import type { Coder } from '../../ports.ts';
import type { Deps } from '../worker/context.ts';
import { environment } from '../worker/environment.ts';

/** What a coder is allowed to its model by: variables, and a HOME where its login may lie. */
export interface Account {
  env: Record<string, string>;
  userHome: string;
  /** The HOME whose configuration of the CLI may lead the account's calls elsewhere; missing: none may. */
  configHome?: string;
  /** The HOME of a login that the coder keeps up to date: it has to see it. */
  login?: string;
}

/** The run's credential has no secret, or is not configured here any more. */
class NoAccount extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** As a value. @throws anything else */
export function noAccount(error: unknown): Failure {
  if (error instanceof NoAccount) return error.failure;
  throw error;
}

/**
 * The account that a run works under: its credential's, or the worker's own. Secrets are read each time and kept nowhere.
 * @throws NoAccount
 */
export async function accountOf(
  deps: Deps,
  { record, coder }: { record: Pick<RunRecord, 'credential'>; coder: Coder },
): Promise<Account> {
  const named = new Set(coder.env);
  const all = environment(deps.env, coder.env, {});
  const env = Object.fromEntries(Object.entries(all).filter(([name]) => named.has(name)));
  const own = { env, userHome: deps.env['HOME'] ?? '/' };
  if (record.credential === null) return { ...own, ...(deps.env['HOME'] ? { configHome: deps.env['HOME'] } : {}) };
  const source = secretSource(deps, record.credential, coder);
  if (!source)
    throw new NoAccount({
      reason: 'auth',
      message: `credential ${record.credential} is not configured on ${deps.worker.name} for ${coder.name} any more`,
      moves: true,
    });
  const secret = await readSecret(source);
  if (!secret.ok)
    throw new NoAccount({
      reason: secret.passing ? 'rate-limited' : 'auth',
      message: `worker ${deps.worker.name}: ${secret.message}`,
    });
  // The worker's own secrets would be taken in place of the credential's; where to go is the same for all.
  const plain = Object.entries(env).filter(([name]) => !isSecretName(name));
  const elsewhere = deps.config.context.inherit === 'user' ? own.userHome : `${deps.home.root}/no-login`;
  const { userHome: login } = secret;
  return {
    ...{ env: { ...Object.fromEntries(plain), ...secret.env }, userHome: login ?? elsewhere },
    ...(login ? { login, configHome: login } : {}),
  };
}

/** Undefined where no such credential of that coder is configured. */
function secretSource(
  { config, home, env }: Pick<Deps, 'config' | 'home' | 'env'>,
  name: string,
  coder: Coder,
): SecretSource | undefined {
  const declared = config.credentials[name];
  return declared?.coder === coder.name ? { name, declared, ...variablesOf(coder), home: home.root, env } : undefined;
}
