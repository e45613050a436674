import type { RunRecord } from '../../adapters/state/run-registry.ts';
import { rated } from '../../domain/agent/cost.ts';
import type { Usage } from '../../domain/agent/event.ts';
import { greaterUsage } from '../../domain/agent/model-traffic.ts';
import type { Coder } from '../../ports.ts';
import type { Deps } from '../worker/context.ts';
import type { Follower } from './event-follower.ts';

/** The model of a run: as the agent says, else as its model's server says, else as it was told. */
export const modelOf = (
  follower: Pick<Follower, 'model' | 'wired'>,
  { record, coder }: { record: RunRecord | undefined; coder: Coder },
): string | null =>
  follower.model ?? follower.wired?.model ?? record?.model ?? record?.prepared?.task.model ?? coder.model ?? null;

/** What a run has used so far, with its cost by the configuration's prices where its coder does not tell. */
export function usageOf(
  { config }: Pick<Deps, 'config'>,
  follower: Follower,
  about: { record: RunRecord | undefined; coder: Coder },
): Usage {
  const model = modelOf(follower, about);
  return rated(greaterUsage(follower.usage, follower.wired?.usage), {
    model,
    rates: config,
    complete: follower.ended !== null,
  });
}
