import { parse } from 'yaml';
import type { Reason } from '../../../src/domain/agent/failure.ts';
import { asProject, type Ecosystem } from './ecosystems.ts';
import type { Exercise } from './exercise.ts';
import { tempDir } from '../../helpers/temp.ts';
import { Judge, type Judged } from './judge.ts';
import { agentScript, baseFiles, resultOf, type Kind } from './kind.ts';
import { passesNaively } from './naive.ts';
import { makeRepository } from './repositories.ts';

/** What became of one result. */
export interface Row {
  language: string;
  exercise: string;
  kind: string;
  honest: boolean;
  trace?: string;
  known?: string;
  /** The commands end with 0. */
  naive: boolean;
  /** Undefined where there was no verdict: the judge was not asked, or something else was wrong. */
  accepted?: boolean;
  /** Why not. */
  said?: string;
}

interface Options {
  /** How many are tried at a time. */
  jobs: number;
  naiveOnly: boolean;
  say: (line: string) => void;
}

/** Ends that say something about the result, and nothing about the machine or this program. */
const VERDICTS: ReadonlySet<Reason> = new Set<Reason>([
  ...(['receipts-rejected', 'scope-violation', 'fabricated', 'tampered', 'timed-out', 'check-cannot-start'] as const),
]);

type Case = Judged & { row: Row };

/** Exercises whose reference does not pass here are left out, as are honest results that do not: they would be no honest ones. */
export async function runGenerated(
  exercises: readonly Exercise[],
  { ecosystem, kinds, sample }: { ecosystem: Ecosystem; kinds: readonly Kind[]; sample?: Sample },
  { jobs, naiveOnly, say }: Options,
): Promise<Row[]> {
  ecosystem.install?.(exercises);
  await using temp = await tempDir();
  const cases: Case[] = [];
  await inTurn([...exercises.entries()], 1, async ([index, exercise]) => {
    const project = asProject(exercise, ecosystem);
    const own = sample ? sampled(kinds, sample, index) : kinds;
    const some = await casesOf(project, { kinds: own, root: temp.path, protect: ecosystem.protect });
    const honest = some.find(({ row }) => row.kind === 'reference');
    if (honest && !(await naively(honest, temp.path, project))) {
      say(`${exercise.language} ${exercise.slug}: the reference does not pass here`);
      return;
    }
    await inTurn(some, jobs, async (each) => {
      const passes = each === honest || (await naively(each, temp.path, project));
      if (passes || !each.row.honest) cases.push(each);
      else say(`${each.id}: an honest result that does not pass is none`);
    });
    say(`${exercise.language} ${exercise.slug}: ${some.length} results`);
  });
  if (naiveOnly) return cases.map(({ row }) => row);
  await using judge = await Judge.start(jobs);
  await judge.judge(cases, (id, report) => {
    const { row } = cases.find((each) => each.id === id)!;
    const { state, reason, message } = report;
    if (state !== 'done') row.said = `${reason ?? state}: ${message ?? ''}`;
    const judged = state === 'done' || state === 'awaiting-approval' || (reason && VERDICTS.has(reason));
    if (judged) row.accepted = state === 'done';
    if (row.accepted !== row.honest) say(`${id}: ${row.said?.split('\n')[0] ?? 'accepted'}`);
  });
  return cases.map(({ row }) => row);
}

/** Other kinds for each exercise, so that a few each try them all. */
interface Sample {
  size: number;
  /** The place of the first exercise among all. */
  from: number;
}

function sampled(kinds: readonly Kind[], { size, from }: Sample, index: number): Kind[] {
  const [first, ...rest] = kinds;
  const at = ((from + index) * size) % Math.max(rest.length, 1);
  return [...(first ? [first] : []), ...[...rest, ...rest].slice(at, at + Math.min(size, rest.length))];
}

/** Results of one exercise, with a repository for each of their bases. */
async function casesOf(
  exercise: Exercise,
  { kinds, root, protect }: { kinds: readonly Kind[]; root: string; protect: readonly string[] },
): Promise<Case[]> {
  const { language, slug } = exercise;
  const repos = new Map<Kind['base'], string>();
  const cases: Case[] = [];
  for (const kind of kinds) {
    const result = resultOf(exercise, kind);
    if (!result) continue;
    const repo = repos.get(kind.base) ?? `${root}/${language}-${slug}${kind.base ? `-${kind.base}` : ''}`;
    if (!repos.has(kind.base)) repos.set(kind.base, await makeRepository(repo, baseFiles(exercise, kind)));
    const { name, honest, trace, known } = kind;
    cases.push({
      ...{ id: `${language}-${slug}-${name}`, repo, protect, script: agentScript(result) },
      row: {
        ...{ language, exercise: slug, kind: name, honest, naive: false },
        ...(trace ? { trace } : {}),
        ...(known ? { known } : {}),
      },
    });
  }
  return cases;
}

async function naively({ id, repo, script, row }: Case, root: string, { files }: Exercise): Promise<boolean> {
  const commands = parse(files['.fleet.yaml']!) as { setup?: string[]; verify?: string[] };
  row.naive = await passesNaively({ repo, script, commands, dir: `${root}/naive-${id}` });
  return row.naive;
}

async function inTurn<T>(all: readonly T[], jobs: number, each: (one: T) => Promise<void>): Promise<void> {
  const queue = [...all];
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) await each(next);
  };
  await Promise.all(Array.from({ length: jobs }, work));
}
