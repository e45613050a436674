import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { environment } from '../../src/activities/worker/environment.ts';
import type { AgentEvent } from '../../src/domain/agent/event.ts';
import type { Coder, StartInput } from '../../src/ports.ts';

const LIMIT_MS = 110_000;

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
  for (const folder of [home, userHome, join(dir, 'tmp')]) mkdirSync(folder);
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
  const dispose = () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  return { dir, home, userHome, tree, git, [Symbol.dispose]: dispose };
}

export interface CoderRun {
  events: AgentEvent[];
  /** Stdout, as fed to the parser. */
  lines: string[];
  exitCode: number | null;
  stderr: string;
}

/** What a worker tells the coder about a run, and the worker's environment on top of the test's own. */
export interface CoderInput extends Partial<
  Pick<StartInput, 'prompt' | 'inherit' | 'proxy' | 'resume' | 'model' | 'mcp'>
> {
  env: Record<string, string>;
}

export interface LiveCoder extends AsyncDisposable {
  /** As far as it came. */
  run: CoderRun;
  pid: number;
  /** Its process has ended and said all. */
  over(): boolean;
  /** Resolves at its end, which a limit brings about. */
  ended: Promise<CoderRun>;
  /** SIGKILL to its process group; resolves at its end. */
  kill(): Promise<CoderRun>;
}

/** Does with a coder what a worker does with it, without keeper and fleet. */
export function startCoder(coder: Coder, at: Workspace, order: CoderInput): LiveCoder {
  const { env, ...told } = order;
  const {
    argv,
    stdin,
    env: set,
    files,
  } = coder.start({
    tree: at.tree,
    home: at.home,
    userHome: at.userHome,
    inherit: 'project',
    runId: told.resume ? '2-test' : '1-test',
    prompt: 'Please add hello.txt.',
    ...told,
  });
  for (const [path, file] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true });
    if ('text' in file) writeFileSync(path, file.text);
    else if ('copy' in file) copyFileSync(file.copy, path);
    else symlinkSync(file.link, path);
  }
  const [program = '', ...args] = argv;
  const child = spawn(program, args, {
    cwd: at.tree,
    env: environment({ ...process.env, ...env }, coder.env, {
      PWD: at.tree,
      HOME: at.home,
      TMPDIR: join(at.dir, 'tmp'),
      ...set,
    }),
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
  let over = false;
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
    .then((exitCode) => Object.assign(run, { exitCode }))
    .finally(() => {
      over = true;
      clearTimeout(limit);
      killGroup();
    });
  ended.catch(() => undefined);
  const kill = () => {
    killGroup();
    return ended;
  };
  return {
    run,
    pid: child.pid ?? 0,
    over: () => over,
    ended,
    kill,
    [Symbol.asyncDispose]: async () => void (await kill()),
  };
}

/** The CLI and its group are dead when it resolves. */
export const runCoder = (coder: Coder, at: Workspace, order: CoderInput): Promise<CoderRun> =>
  startCoder(coder, at, order).ended;

export const only = <T extends AgentEvent['type']>(
  events: readonly AgentEvent[],
  type: T,
): Extract<AgentEvent, { type: T }>[] =>
  events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
