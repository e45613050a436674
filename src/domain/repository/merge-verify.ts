import type { Task } from '../task/schema.ts';

type Verify = NonNullable<Task['verify']>;

/** What satisfies both: every command, test and held-out check, and the stricter setting; how often to try again, and to challenge nothing, is for `above` to say. */
export function verifyBoth(above: Task['verify'], more: Task['verify']): Task['verify'] {
  if (!above || !more) return above ?? more;
  const control = above.control || more.control;
  const retries = above.retries ?? more.retries;
  const challenge = above.challenge ?? (more.challenge === 'auto' ? 'auto' : undefined);
  return {
    ...union('commands', above, more),
    ...union('failToPass', above, more),
    ...union('results', above, more),
    ...union('heldOut', above, more),
    ...(control === undefined ? {} : { control }),
    ...(retries === undefined ? {} : { retries }),
    ...(challenge === undefined ? {} : { challenge }),
    ...([above.where, more.where].includes('other') ? { where: 'other' } : {}),
  };
}

function union(key: 'commands' | 'failToPass' | 'results' | 'heldOut', ...of: Verify[]): Verify {
  const all = of.flatMap((one): unknown[] => one[key] ?? []);
  const once = new Map(all.map((one) => [JSON.stringify(one), one]));
  return once.size > 0 ? { [key]: [...once.values()] } : {};
}
