import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { environment } from '../../src/activities/environment.ts';
import type { AgentEvent } from '../../src/domain/event.ts';
import type { Coder } from '../../src/ports.ts';

const LIMIT_MS = 90_000;

export interface Workspace extends Disposable {
  dir: string;
  home: string;
  userHome: string;
  tree: string;
  git(...args: string[]): string;
}

/** A throwaway HOME and a git tree with one commit, removed at the end. */
export function workspace(files: Record<string, string> = {}): Workspace {
  const dir = mkdtempSync(join(tmpdir(), 'fleet-coder-'));
  const [home, userHome, tree] = ['home', 'user', 'tree'].map((name) => join(dir, name)) as [string, string, string];
  for (const folder of [home, userHome]) mkdirSync(folder);
  for (const [path, text] of Object.entries({ 'note.txt': 'hi\n', ...files })) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: tree, encoding: 'utf8' });
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Agent');
  git('config', 'user.email', 'agent@localhost');
  git('add', '-A');
  git('commit', '-qm', 'base');
  return { dir, home, userHome, tree, git, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

export interface CoderRun {
  events: AgentEvent[];
  /** Stdout, as fed to the parser. */
  lines: string[];
  exitCode: number | null;
  stderr: string;
}

/** Does with a coder what a worker does with it, without keeper and fleet. The CLI and its group are dead when it resolves. */
export async function runCoder(
  coder: Coder,
  at: Workspace,
  env: Record<string, string>,
  resume?: { id: string; file: string },
): Promise<CoderRun> {
  const prompt = 'Please add hello.txt.';
  const order = {
    ...at,
    inherit: 'project' as const,
    runId: resume ? '2-test' : '1-test',
    prompt,
    ...(resume ? { resume } : {}),
  };
  const { argv, stdin, env: set, files } = coder.start(order);
  for (const [path, file] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true });
    if ('text' in file) writeFileSync(path, file.text);
    else if ('copy' in file) copyFileSync(file.copy, path);
    else symlinkSync(file.link, path);
  }
  const [program = '', ...args] = argv;
  const child = spawn(program, args, {
    cwd: at.tree,
    env: environment({ ...process.env, ...env }, coder.env, { PWD: at.tree, ...set }),
    detached: true,
  });
  const killGroup = () => {
    try {
      if (child.pid) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Nothing of it is left.
    }
  };
  const limit = setTimeout(killGroup, LIMIT_MS);
  const parse = coder.parser();
  const run: CoderRun = { events: [], lines: [], exitCode: null, stderr: '' };
  createInterface({ input: child.stdout }).on('line', (line) => {
    run.lines.push(line);
    run.events.push(...parse(line));
  });
  child.stderr.on('data', (piece: Buffer) => (run.stderr += piece.toString()));
  child.stdin.on('error', () => undefined).end(stdin);
  try {
    run.exitCode = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  } finally {
    clearTimeout(limit);
    killGroup();
  }
  return run;
}

export const only = <T extends AgentEvent['type']>(
  events: readonly AgentEvent[],
  type: T,
): Extract<AgentEvent, { type: T }>[] =>
  events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
