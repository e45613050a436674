import { matches } from '../adapters/glob.ts';
import { pathsAhead } from '../adapters/git/ahead.ts';
import { openSource } from '../adapters/git/source.ts';
import type { Config } from '../config.ts';
import type { Task } from '../domain/task.ts';
import { fold } from '../domain/twins.ts';
import type { Deps } from './context.ts';

/**
 * What this worker's configuration calls irreversible of an accepted result, as one sentence for the person who has to say yes;
 * undefined where nothing is. `paths`: what it changes; `brought`: what the branch that it goes into would get of its base. Both
 * have a rename by both its ends.
 */
export function irreversibleOf(
  { irreversible }: Pick<Config, 'irreversible'>,
  given: { task: Pick<Task, 'labels' | 'deliver'>; paths: readonly string[]; brought?: Brought | undefined },
): string | undefined {
  const { task, paths, brought = NOTHING } = given;
  const found = [
    ...irreversible.paths.flatMap((glob) => {
      const [exact, twin] = [matches([glob]), matches([fold(glob)])];
      const touched = (all: readonly string[]) => all.filter((path) => exact(path) || twin(fold(path)));
      const [own, others] = [touched(paths), touched(brought.paths)];
      const rule = `(irreversible.paths: ${glob})`;
      return [
        ...(own.length > 0 ? [`it changes ${some(own)} ${rule}`] : []),
        ...(others.length > 0 ? [`with its base it would bring along ${some(others)} ${rule}`] : []),
      ];
    }),
    ...(brought.unread ? [`what it would bring along with its base is unknown: ${brought.unread}`] : []),
    ...task.labels.flatMap((label) =>
      irreversible.labels.includes(label) ? `it has the label ${label} (irreversible.labels)` : [],
    ),
    ...(paths.length > 0 && irreversible.deliver.some((how) => how === task.deliver)
      ? [`it would be delivered by ${task.deliver} (irreversible.deliver)`]
      : []),
  ];
  return found.length > 0 ? found.join('; ').slice(0, LONGEST) : undefined;
}

/** `unread`: why it could not be told. */
type Brought = { paths: readonly string[]; unread?: string };
const NOTHING: Brought = { paths: [] };

/** What a merge or a pull request of a task's result would bring of its base into the target, beside what the result changes. */
export async function broughtAlong(
  { config, home }: Pick<Deps, 'config' | 'home'>,
  { task, base, signal }: { task: Pick<Task, 'repo' | 'deliver' | 'into'>; base: string; signal: AbortSignal },
): Promise<Brought> {
  const { repo, deliver, into } = task;
  if (config.irreversible.paths.length === 0 || !repo || (deliver !== 'merge' && deliver !== 'pr')) return NOTHING;
  const opened = await openSource({ repo, mirrorDir: home.mirror });
  const ahead = opened.ok ? await pathsAhead({ source: opened.source, commit: base, into, signal }) : opened;
  return ahead.ok ? ahead : { ...NOTHING, unread: ahead.failure.message };
}

const LONGEST = 1_000;
const SHOWN = 3;
const some = (paths: readonly string[]): string =>
  paths.length > SHOWN ? `${paths.slice(0, SHOWN).join(', ')} and ${paths.length - SHOWN} more` : paths.join(', ');
