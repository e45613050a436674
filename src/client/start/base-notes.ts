import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { findProgram } from '../../adapters/program/find-program.ts';
import { matches } from '../../adapters/glob.ts';
import { lfsPointers } from '../../adapters/git/worktree/lfs.ts';
import { reading, type PathSource } from '../../adapters/git/source/source.ts';
import { parseRepoFile } from '../../adapters/disk/repo-file.ts';
import {
  declaredIn,
  missingSetup,
  programOf,
  scriptOf,
  scriptsOf,
} from '../../domain/repository/declared-dependencies.ts';
import { testGlobs } from '../../domain/repository/protected-paths.ts';
import { mergePolicy, NO_FILE, type PolicyTask, type RepoFile } from '../../domain/repository/repo-policy.ts';
import { normalFolder } from '../../domain/repository/working-folder.ts';
import { commandsOf, openBase, type Base, type TaskOnBase } from './task-on-base.ts';
import { testNotes } from './test-notes.ts';

/**
 * What its owner should know of the commit that a task starts from, before an agent does: a sentence each, and its `.fleet.yaml`.
 * Refuses nothing.
 */
export async function baseNotes(
  source: PathSource,
  { task, base, env = process.env }: { task: PolicyTask; base: string; env?: NodeJS.ProcessEnv },
): Promise<{ file: RepoFile; notes: string[]; read: Base['read'] }> {
  const at = await openBase(source, base);
  const text = await at.read('.fleet.yaml');
  const parsed = parseRepoFile(text ?? '');
  // The worker says it, as what the task comes to.
  if (!parsed.ok) return { file: NO_FILE, notes: [], read: at.read };
  const known = { at, task, file: parsed.file };
  const notes = [
    ...uncommitted(source, at, base),
    ...(await withoutSetup(known)),
    ...(await cannotStart(known, env)),
    ...cannotPass(known),
    ...(await testNotes(source, known)),
    ...(await pointers(source, at)),
  ];
  return { file: parsed.file, notes, read: at.read };
}

function uncommitted({ checkout }: PathSource, { paths }: Base, base: string): string[] {
  if (checkout === null || paths.has('.fleet.yaml') || !existsSync(`${checkout}/.fleet.yaml`)) return [];
  return [`.fleet.yaml is not in ${base.slice(0, 12)}, where the task starts: commit it, or nothing of it holds`];
}

const INSTALLS = /\b(?:ci|i|install|sync|add)\b/;

async function withoutSetup({ at, task, file }: TaskOnBase): Promise<string[]> {
  if (file.setup.length > 0 || file.copy.length > 0) return [];
  if (commandsOf(task, file).some(({ command }) => INSTALLS.test(command))) return [];
  const missing = missingSetup(await declaredIn([undefined, normalFolder(task.cwd)], at));
  return missing === undefined ? [] : [`${missing}, as results are verified in a fresh checkout`];
}

/** What the commands would say on the base. */
async function cannotStart(known: TaskOnBase, env: NodeJS.ProcessEnv): Promise<string[]> {
  const { at, task, file } = known;
  const notes = commandsOf(task, file).map(async ({ command, folder }) => {
    const script = scriptOf(command);
    const manifest = `${folder === undefined ? '' : `${folder}/`}package.json`;
    const text = script === undefined ? undefined : await at.read(manifest);
    if (
      script !== undefined &&
      ![...at.paths].some((path) => /(?:^|\/)package\.json$/.test(path) && isAbove(path, manifest))
    )
      return `\`${command}\` cannot start on the base: there is no ${manifest}`;
    if (script !== undefined && text !== undefined && !Object.hasOwn(scriptsOf(text), script))
      return `\`${command}\` cannot start on the base: ${manifest} has no script ${script}`;
    const program = programOf(command);
    // What setup installs is not there yet.
    if (program === undefined || file.setup.length > 0 || (await findProgram(program, env))) return undefined;
    return `\`${command}\` cannot start where its worker has the programs that are here: there is no ${program} in the PATH`;
  });
  return (await Promise.all(notes)).filter((note) => note !== undefined);
}

/** Tests that the commands name, the base lacks, and the task may not make either. */
function cannotPass({ at, task, file }: TaskOnBase): string[] {
  const policy = mergePolicy(task, file);
  const isTest = matches(testGlobs(policy.restore));
  const isProtected = matches(policy.protect);
  const allow = policy.allow.map(matches);
  const whyNot = (path: string): string | undefined => {
    if (isProtected(path))
      return policy.newProtected === 'refuse'
        ? 'scope.protect lets none be added'
        : 'as scope.protect names it, a new one is left out when the result is checked';
    return isTest(path) && !allow.every((allowed) => allowed(path))
      ? 'it is outside of what may be changed'
      : undefined;
  };
  const isThere = (path: string) => at.paths.has(path) || at.tree.folders.has(Buffer.from(path).toString('latin1'));
  return commandsOf(task, file).flatMap(({ command, folder }) =>
    filesNamed(command, folder).flatMap((path) => {
      const why = isThere(path) ? undefined : whyNot(path);
      return why === undefined ? [] : [`\`${command}\` cannot pass: ${path} is not in the base, and ${why}`];
    }),
  );
}

/** Paths with an ending that stand in a command as they are, from the top. */
function filesNamed(command: string, folder: string | undefined): string[] {
  const words = command.split(/[\s;|&()<>{}'"`=]+/).map((word) => word.split('::', 1)[0] ?? '');
  const paths = words.filter((word) => /^[\w./@-]*[\w@-]\.\w{1,5}$/.test(word) && !/^[-/]/.test(word));
  return [...new Set(paths.map((path) => posix.join(folder ?? '.', path)))].filter((path) => !path.startsWith('..'));
}

/** npm takes the nearest on the way up. */
const isAbove = (path: string, manifest: string): boolean => manifest.startsWith(path.slice(0, -'package.json'.length));

async function pointers(source: PathSource, { tree }: Base): Promise<string[]> {
  const { gitDir, as } = reading(source);
  const found = await lfsPointers({ gitDir, as }, tree);
  if (found.length === 0) return [];
  const shown = found.slice(0, 3).join(', ');
  const which = found.length > 3 ? `${shown} and ${found.length - 3} more` : shown;
  const are = found.length === 1 ? 'is a Git LFS pointer' : 'are Git LFS pointers';
  return [`${which} ${are}: the agent and verification have that, not the content`];
}
