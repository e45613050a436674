import { checkSecret, variablesOf } from '../../adapters/secrets/credential-secret.ts';
import type { Config } from '../../config.ts';
import { wrongInput } from '../../domain/error.ts';
import type { Coder } from '../../ports.ts';

/** Before anything is claimed. @throws FleetError (2), one sentence on the first credential that cannot be used. */
export async function checkCredentials(given: {
  config: Config;
  knownCoders: ReadonlyMap<string, Coder>;
  home: string;
  env: NodeJS.ProcessEnv;
}): Promise<void> {
  const { config, knownCoders, home, env } = given;
  for (const [name, declared] of Object.entries(config.credentials)) {
    const wrong = await checkSecret({ name, declared, ...variablesOf(knownCoders.get(declared.coder)), home, env });
    if (wrong) throw wrongInput(wrong);
  }
}
