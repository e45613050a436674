import type { RunRecord } from '../adapters/run-registry.ts';
import type { Coder } from '../ports.ts';
import type { Deps } from './context.ts';
import { environment } from './environment.ts';

/** What a coder is allowed to its model by: variables, and a HOME where its login may lie. */
export interface Account {
  env: Record<string, string>;
  userHome: string;
}

/** The account that a run works under: its credential's, or the worker's own. */
export async function accountOf(
  deps: Deps,
  { coder }: { record: Pick<RunRecord, 'credential'>; coder: Coder },
): Promise<Account> {
  const named = new Set(coder.env);
  const all = environment(deps.env, coder.env, {});
  return {
    env: Object.fromEntries(Object.entries(all).filter(([name]) => named.has(name))),
    userHome: deps.env['HOME'] ?? '/',
  };
}
