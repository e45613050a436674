import { setTimeout as pause } from 'node:timers/promises';
import { variablesOf } from '../../adapters/secrets/credential-secret.ts';
import { KnownSecrets } from '../../adapters/secrets/known-secrets.ts';
import type { Failure } from '../../domain/agent/failure.ts';
import { isGivenToAll } from '../../domain/values/given-to-all.ts';
import { isPath } from '../../domain/repository/repository-name.ts';
import type { TaskFacts } from '../../domain/task/task-facts.ts';
import type { Deps } from '../worker/context.ts';

/** Which of this worker's variables a task may ask for: those that its owner lists, and none that is a credential. */
type Giver = Pick<Deps, 'config' | 'knownCoders' | 'worker'>;

export const givenVariables = (deps: Giver): string[] =>
  deps.config.worker.env.filter((name) => credentialNamed(deps, name) === undefined);

/** Why a task gets not all that it asks for here; undefined: it does. */
export function refusedVariable(deps: Giver, names: readonly string[]): Failure | undefined {
  const given = new Set(givenVariables(deps));
  const name = names.find((one) => !given.has(one) && !isGivenToAll(one));
  if (name === undefined) return undefined;
  const credential = credentialNamed(deps, name);
  const message = credential
    ? `env must not have ${name}: it is ${credential}, which no task gets`
    : `env must not have ${name}: worker ${deps.worker.name} gives it to no task; worker.env of its configuration lists those that it gives`;
  return { reason: 'env-refused', message };
}

/** The claim itself has three seconds. */
const LOOK_MS = 1_000;

/** Whether an attached worker that could claim the task gives it what this one does not. */
export async function isGivenElsewhere(
  { attached, worker }: Pick<Deps, 'attached' | 'worker'>,
  { queue, repo, env = [] }: TaskFacts,
): Promise<boolean> {
  const all = await Promise.race([attached().catch(() => []), pause(LOOK_MS, [], { ref: false })]);
  return all.some(
    (other) =>
      other.hostQueue !== worker.hostQueue &&
      other.queues.includes(queue) &&
      (!isPath(repo ?? undefined) || other.machine === worker.machine) &&
      env.every((name) => other.env?.includes(name) || isGivenToAll(name)),
  );
}

/** All that is masked from the start: what no task gets, and what tasks may ask for. */
export function secretsOf({ config, knownCoders }: Pick<Giver, 'config' | 'knownCoders'>, env: NodeJS.ProcessEnv) {
  const keys = [...knownCoders.values()].flatMap((coder) => variablesOf(coder).secrets);
  return new KnownSecrets(env, { credentials: [...keys, config.github.tokenEnv], listed: config.worker.env });
}

function credentialNamed({ config, knownCoders }: Pick<Giver, 'config' | 'knownCoders'>, name: string) {
  if (name === config.github.tokenEnv) return 'the token for pull requests (github.tokenEnv)';
  const coder = [...knownCoders.values()].find((one) => variablesOf(one).secrets.includes(name));
  return coder && `a credential of coder ${coder.name}`;
}
