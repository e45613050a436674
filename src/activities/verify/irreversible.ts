import { matches } from '../../adapters/glob.ts';
import { pathsAhead } from '../../adapters/git/source/ahead.ts';
import { openSource } from '../../adapters/git/source/source.ts';
import type { Config } from '../../config.ts';
import type { StoredEvent } from '../../domain/agent/event.ts';
import { irreversiblePattern, protectedBranch } from '../../domain/people/irreversible.ts';
import type { Task } from '../../domain/task/schema.ts';
import { fold } from '../../domain/evidence/path-collisions.ts';
import { toolCalls } from '../../receipts/claims/shell-calls.ts';
import { commandsIn } from '../../receipts/claims/shell-commands.ts';
import type { Deps } from '../worker/context.ts';

/**
 * What this worker's configuration calls irreversible of an accepted result, as one sentence for the person who has to say yes;
 * undefined where nothing is. `paths`: what it changes; `brought`: what the branch that it goes into would get of its base. Both
 * have a rename by both its ends.
 */
export function irreversibleOf(
  { irreversible }: Pick<Config, 'irreversible'>,
  given: {
    task: Pick<Task, 'labels' | 'deliver' | 'into'>;
    paths: readonly string[];
    brought?: Brought | undefined;
    /** Commands that its agent was seen to run, and the run's own folders. */
    ran?: { commands: readonly (readonly string[])[]; own: readonly string[] };
  },
): string | undefined {
  const { task, paths, brought = NOTHING, ran = { commands: [], own: [] } } = given;
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
      : paths.length > 0 && task.deliver === 'merge'
        ? mergeSentence(task.into, irreversible.branches)
        : []),
    ...ranSentences(ran, irreversible.commands),
  ];
  return found.length > 0 ? found.join('; ').slice(0, LONGEST) : undefined;
}

function mergeSentence(into: string | undefined, branches: readonly string[]): string[] {
  const rule = protectedBranch(into, branches);
  if (rule === undefined) return [];
  return [`it would be merged into ${into ?? rule} (irreversible.branches${into === undefined ? '' : `: ${rule}`})`];
}

/** One for each rule: what was done already is told as well, before more comes of it. */
function ranSentences(
  { commands, own }: { commands: readonly (readonly string[])[]; own: readonly string[] },
  patterns: readonly string[],
): string[] {
  const found = new Map<string, string>();
  for (const words of commands) {
    const rule = irreversiblePattern(words, { patterns, own });
    if (rule !== undefined && !found.has(rule)) found.set(rule, words.join(' ').replace(/\s+/g, ' ').slice(0, COMMAND));
  }
  return [...found].map(([rule, command]) => `its agent ran ${command} (irreversible.commands: ${rule})`);
}

/** The commands of an agent's shell calls, as its own output and its hooks tell them. */
export const commandsRun = (events: readonly StoredEvent[]): string[][] =>
  toolCalls(events).flatMap(({ shell, input }) => (shell ? commandsIn(input) : []));

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
const COMMAND = 200;
const SHOWN = 3;
const some = (paths: readonly string[]): string =>
  paths.length > SHOWN ? `${paths.slice(0, SHOWN).join(', ')} and ${paths.length - SHOWN} more` : paths.join(', ');
