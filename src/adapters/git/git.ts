import { execa, type Options } from 'execa';
import type { Readable, Writable } from 'node:stream';
import { localEnvironment, networkEnvironment } from './environment.ts';
import type { FolderSize } from '../disk/measure-folder.ts';

/** Objects of one repository for another. */
export interface CopyObjects {
  /** Where `pack-objects` runs: its repository, rights and environment. */
  from: Pick<GitOptions, 'gitDir' | 'as' | 'env'> & { gitDir: string };
  /** Where the objects go. */
  to: Pick<GitOptions, 'gitDir' | 'as' | 'env'> & { gitDir: string };
  /** What `rev-list` would take, one a line: `<commit>`, `^<commit>`, `--not`. */
  revs: readonly string[];
  /** Check the content and links of every object: for whatever an agent has made. */
  strict: boolean;
  /** A handful of objects is stored loose, as `git fetch` does, instead of one more pack. */
  looseBelow?: number;
  /** `false` leaves the content of files out: the target has it. */
  blobs?: false;
  maxBytes?: number;
  timeoutMs?: number;
  /** `keep`: the same is carried on from where it goes to, so its pack stays in memory; `use`: it may be there from such a copy. */
  pack?: 'keep' | 'use';
}

export interface Owner {
  uid: number;
  gid: number;
}

/** A started git. Resolves, and never rejects, when it has ended. */
export interface GitProcess extends Promise<GitEnd> {
  pid?: number | undefined;
  stdin: Writable | null;
  stdout: Readable | null;
  kill(signal: NodeJS.Signals): boolean;
}

interface GitEnd {
  failed: boolean;
  exitCode?: number | undefined;
  signal?: string | undefined;
  /** The error's code where it could not be started, e.g. `ENOENT`. */
  code?: string | undefined;
  timedOut: boolean;
  isMaxBuffer: boolean;
  cause?: unknown;
  stdout?: unknown;
  stderr?: unknown;
}

export interface GitOptions {
  /** Absolute; nothing is ever discovered unless `cwd` is given instead. */
  gitDir?: string;
  /** Default `/`. */
  cwd?: string;
  /** Set on top of the clean environment. */
  env?: Record<string, string>;
  input?: string | Buffer;
  /** Default one minute; the process, and with `network` its whole group, is killed then. */
  timeoutMs?: number;
  /** Whose rights git runs with; has an effect only where we are root. */
  as?: Owner;
  /** Really talks to a remote: the user's own git configuration, HOME and credentials, but no prompt and no terminal. */
  network?: boolean;
  /** With `network`: ends it early, as when its time is up. */
  signal?: AbortSignal;
  /** Most bytes of stdout; default 256 MiB. */
  maxBytes?: number;
}

export interface GitFailure {
  /** Null where it was killed or could not start. */
  code: number | null;
  stderr: string;
  /** Its time was up, or whoever started it gave up. */
  timedOut: boolean;
  /** Why the machine is to blame and no repository: a signal's name, or why it could not be started, e.g. `ENOENT`. */
  broken?: string;
}

/** A git process that did not end with 0. */
export class GitFailed extends Error implements GitFailure {
  readonly args: readonly string[];
  readonly code: number | null;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly broken?: string;

  constructor(args: readonly string[], failed: GitFailure) {
    const said = failed.broken ?? (lastLine(failed.stderr) || (failed.timedOut ? 'timed out' : 'no message'));
    super(`git ${redact(args[0] ?? '')} failed (${failed.code ?? 'killed'}): ${said}`);
    this.name = 'GitFailed';
    this.args = args.map(redact);
    this.code = failed.code;
    this.stderr = redact(failed.stderr);
    this.timedOut = failed.timedOut;
    if (failed.broken !== undefined) this.broken = failed.broken;
  }
}

/** Never a hook, a monitor, an attribute file of the user's, a collection, or a commit graph that somebody else wrote. */
const COMMON = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'gc.auto=0', 'maintenance.auto=false'];
const LOCAL = [
  ...COMMON,
  'core.attributesFile=/dev/null',
  'core.commitGraph=false',
  'core.multiPackIndex=false',
  'safe.bareRepository=explicit',
  'protocol.allow=never',
];
const NETWORK = [...COMMON, 'protocol.ext.allow=never', 'http.lowSpeedLimit=1000', 'http.lowSpeedTime=60'];
const SET = { local: LOCAL.flatMap((one) => ['-c', one]), network: NETWORK.flatMap((one) => ['-c', one]) };

/** Who starts git, and walks large folders: this process, unless a worker has given the work to another. */
export interface GitRunner {
  git(args: readonly string[], options?: GitOptions): Promise<Buffer>;
  copyObjects(copy: CopyObjects): Promise<void>;
  folderSize(path: string): Promise<FolderSize>;
}

/** Runs one git process to its end and gives its stdout. Throws {@link GitFailed}. */
export async function git(args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  // What talks to a remote needs this process's own environment, and takes longer than any start.
  return runner && !options.network ? runner.git(args, options) : runGit(args, options);
}

let runner: GitRunner | undefined;
/** From now on git is started by `other`; undefined: by this process again. */
export function delegateGit(other: GitRunner | undefined): void {
  runner = other;
}
export const delegate = (): GitRunner | undefined => runner;

/** As {@link git}, started by this process. */
export async function runGit(args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  const child = startGit(args, options, { stdin: options.input === undefined ? 'ignore' : 'pipe' });
  if (options.input !== undefined) {
    child.stdin?.on('error', () => {});
    child.stdin?.end(options.input);
  }
  return ended(child, args);
}

/** Starts git with stdin and stdout as the caller wants them; its end is to be awaited with {@link ended}. */
export function startGit(args: readonly string[], options: GitOptions, io: Options): GitProcess {
  const timeoutMs = options.timeoutMs ?? 60_000;
  const all = [
    ...SET[options.network ? 'network' : 'local'],
    ...(options.gitDir ? [`--git-dir=${options.gitDir}`] : []),
    // Given to spawn, a missing folder would look like a missing git.
    ...(options.cwd ? ['-C', options.cwd] : []),
    ...args,
  ];
  const child = started(
    () =>
      execa('git', all, {
        reject: false,
        encoding: 'buffer',
        stripFinalNewline: false,
        maxBuffer: options.maxBytes ?? 256 * 1024 * 1024,
        cwd: '/',
        env: { ...(options.network ? networkEnvironment() : localEnvironment()), ...options.env },
        extendEnv: false,
        killSignal: 'SIGKILL',
        ...(options.network ? { detached: true, cleanup: false } : { timeout: timeoutMs }),
        ...switchUser(options.as),
        ...io,
      }) as unknown as GitProcess,
  );
  if (options.network) killGroupAfter(child, timeoutMs, options.signal);
  return child;
}

/** Without file descriptors execa throws what says nothing of them. */
function started(start: () => GitProcess): GitProcess {
  try {
    return start();
  } catch (cause) {
    throw Object.assign(new Error('git cannot be started: too many open files', { cause }), { code: 'EMFILE' });
  }
}

export async function ended(child: GitProcess, args: readonly string[]): Promise<Buffer> {
  const result = await child;
  if (result.failed) {
    const told = result.stderr instanceof Uint8Array ? Buffer.from(result.stderr).toString() : '';
    const stderr = result.isMaxBuffer
      ? 'the output is larger than allowed'
      : told || (result.cause instanceof Error ? result.cause.message : '');
    const timedOut = result.timedOut || givenUp.has(child);
    const broken = timedOut || result.isMaxBuffer ? undefined : brokenBy(result);
    throw new GitFailed(args, {
      ...{ code: result.exitCode ?? null, stderr, timedOut },
      ...(broken === undefined ? {} : { broken }),
    });
  }
  return result.stdout instanceof Uint8Array
    ? Buffer.from(result.stdout.buffer, result.stdout.byteOffset, result.stdout.length)
    : Buffer.alloc(0);
}

/** What a shell, and the loader of a program, ends with where the program cannot be run. Git itself never does. */
const CANNOT_RUN: readonly (number | undefined)[] = [126, 127];

/** A reader that is gone ends git by SIGPIPE: that is no fault of git's. */
function brokenBy({ code, exitCode, signal }: GitEnd): string | undefined {
  if (signal) return signal === 'SIGPIPE' ? undefined : signal;
  if (CANNOT_RUN.includes(exitCode)) return `exit code ${exitCode}`;
  return exitCode === undefined && code?.startsWith('E') && !code.startsWith('ERR_') ? code : undefined;
}

/** Fetches what is named and leaves no other trace. */
export const FETCH: readonly string[] = [
  ...['fetch', '--quiet', '--no-tags', '--no-auto-gc', '--no-write-fetch-head', '--no-recurse-submodules'],
];

/** stdout as text without its last line break. */
export async function gitText(args: readonly string[], options: GitOptions = {}): Promise<string> {
  return (await git(args, options)).toString('utf8').replace(/\n$/, '');
}

/** The last line that git said, fit for a person, without credentials. */
export function lastLine(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const fatal = lines.find((line) => /^(fatal|error|ERROR):/.test(line)) ?? lines.at(-1) ?? '';
  return redact(fatal.replace(/^(fatal|error|remote): /, '')).slice(0, 300);
}

/** Hides what stands before the `@` of a URL. */
export const redact = (text: string): string => text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^/\s@]+@/gi, '$1');

function switchUser(as: Owner | undefined): { uid?: number; gid?: number } {
  return as && process.getuid?.() === 0 && as.uid !== 0 ? { uid: as.uid, gid: as.gid } : {};
}

/** Ended by us before its time. */
const givenUp = new WeakSet<GitProcess>();

/** In a session of its own it has no terminal, so ssh cannot ask; its helpers end with it. */
function killGroupAfter(child: GitProcess, timeoutMs: number, signal?: AbortSignal): void {
  const kill = () => {
    givenUp.add(child);
    try {
      if (child.pid) process.kill(-child.pid, 'SIGKILL');
    } catch {
      child.kill('SIGKILL');
    }
  };
  const timer = setTimeout(kill, timeoutMs);
  if (signal?.aborted) kill();
  signal?.addEventListener('abort', kill);
  void child.finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', kill);
  });
}
