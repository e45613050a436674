import { matches } from '../adapters/glob.ts';
import type { Config } from '../config.ts';
import type { Task } from '../domain/task.ts';
import { fold } from '../domain/twins.ts';

/**
 * What this worker's configuration calls irreversible of an accepted result, as one sentence for the person who has to say yes;
 * undefined where nothing is. `paths`: what it changes, a rename by both its ends.
 */
export function irreversibleOf(
  { irreversible }: Pick<Config, 'irreversible'>,
  { task, paths }: { task: Pick<Task, 'labels' | 'deliver'>; paths: readonly string[] },
): string | undefined {
  const found = [
    ...irreversible.paths.flatMap((glob) => {
      const [exact, twin] = [matches([glob]), matches([fold(glob)])];
      const touched = paths.filter((path) => exact(path) || twin(fold(path)));
      return touched.length > 0 ? `it changes ${some(touched)} (irreversible.paths: ${glob})` : [];
    }),
    ...task.labels.flatMap((label) =>
      irreversible.labels.includes(label) ? `it has the label ${label} (irreversible.labels)` : [],
    ),
    ...(paths.length > 0 && irreversible.deliver.some((how) => how === task.deliver)
      ? [`it would be delivered by ${task.deliver} (irreversible.deliver)`]
      : []),
  ];
  return found.length > 0 ? found.join('; ').slice(0, LONGEST) : undefined;
}

const LONGEST = 1_000;
const SHOWN = 3;
const some = (paths: readonly string[]): string =>
  paths.length > SHOWN ? `${paths.slice(0, SHOWN).join(', ')} and ${paths.length - SHOWN} more` : paths.join(', ');
