import { isFollowUpOf } from './follow-up-id.ts';
import type { Task } from '../task/schema.ts';

/** What only people may say of a follow-up, as the beginning of a sentence. */
export function notForAgents(
  above: Task,
  { child, asked, id }: { child: Task; asked: Record<string, unknown>; id: string },
): string | undefined {
  const { base, callback, dependsOn, review, verify } = child;
  // A task that names a scope may change the tests in it, one that names none may not.
  if (!above.scope.allow && above.type === 'code') {
    if (child.scope.allow) return `scope.allow must be left out, as task ${id} names none`;
    if (child.type !== 'code' && child.artifacts.length > 0)
      return `artifacts of a task of type ${child.type} must be left out, as task ${id} names no scope.allow`;
  }
  if (base !== undefined && base !== above.base)
    return 'base must be left out (it starts where its parent does, or from its result with dependsOn)';
  const other = dependsOn.find((on) => on !== id && !isFollowUpOf(id, on));
  if (other !== undefined) return `dependsOn must be ${id} or other follow-ups of it`;
  const limit = Object.keys(child.limits).find((key) => above.limits[key as keyof Task['limits']] === undefined);
  if (limit) return `limits.${limit} must be left out`;
  // By a label or a model it would choose its credential or its price.
  const label = child.labels.find((one) => !above.labels.includes(one));
  if (label !== undefined) return `labels must not have ${label}`;
  if (asked['model'] !== undefined && child.model !== above.model) return `model must be ${above.model ?? 'left out'}`;
  if (child.overlap !== above.overlap && child.overlap === 'serialize') return 'overlap must be left out';
  if (asked['pr'] !== undefined) return 'pr must be left out';
  if (review && !above.review) return 'review must be left out';
  if (callback?.webhook && callback.webhook !== above.callback?.webhook) return 'callback.webhook must be left out';
  if (callback?.task && ![id, above.callback?.task].includes(callback.task))
    return `callback.task must be ${id} or left out`;
  if (verify?.retries !== undefined && above.verify?.retries === undefined) return 'verify.retries must be left out';
  if (verify?.challenge === 'off' && above.verify?.challenge !== 'off') return 'verify.challenge must be left out';
  return verify?.heldOut ? 'verify.heldOut must be left out' : undefined;
}
