import type { ReachedLine } from './domain/task/network.ts';
import type { SecretFound } from './domain/secrets/secret-shapes.ts';
import type { ContainedResult } from './domain/values/contained.ts';
import type { PassedTrials } from './domain/evidence/passed-trials.ts';
import type { AgentEvent, HookLog, StoredEvent } from './domain/agent/event.ts';
import type { Finding, ReceiptKind } from './domain/evidence/receipt.ts';
import type { Policy } from './domain/repository/repo-policy.ts';
import type { Place } from './domain/prompt/review-prompt.ts';
import type { Reviewed } from './domain/evidence/review.ts';
import type { AgentOutcome } from './domain/run/outcome.ts';
import type { Submodules } from './domain/repository/submodule.ts';
import type { AgentTool, Task } from './domain/task/schema.ts';
import type { Twin } from './domain/evidence/path-collisions.ts';
import type { ModelWay, OwnConfig, Upstream, WireApi } from './domain/agent/upstream.ts';
import type { WireLog } from './domain/agent/model-traffic.ts';

/** Every seam on one page: an interface stands here only where two implementations ship. */

/** What an agent finds of others beside its task: nothing, the repository's instructions, or those and the user's own set-up. */
export type Inherit = 'none' | 'project' | 'user';

/** For `fleet doctor` and the docs. */
export interface CoderAbout {
  /** The command that installs it. */
  install: string;
  /** The version that it was tried with, and the oldest that is known to do. */
  tried: string;
  least: string;
  /** `binary`: it passes the conformance suite with the real program; `recorded`: only its parser was tried. */
  by: 'binary' | 'recorded';
}

/** Something that a CLI loads into every conversation by itself. */
export interface ContextSource {
  kind: 'instructions' | 'skill' | 'plugin' | 'mcp' | 'settings';
  /** Under the user's HOME, or the repository. */
  from: 'user' | 'project';
  /** Relative to that folder. */
  glob: string;
}

/** An agent CLI: data plus two pure functions. One file each in `coders/`. */
export interface Coder {
  readonly name: string;
  /** The program and its leading arguments, e.g. `['claude']`. */
  readonly command: readonly string[];
  /** Has a terminal event and reports tool calls; false for any program that only exits. */
  readonly structured: boolean;
  /** Names of the worker's environment variables that the agent needs, e.g. its API key. */
  readonly env: readonly string[];
  /** Those of them that hold a key: an agent that has a model proxy gets none. Missing: those whose value its upstream uses. */
  readonly keys?: readonly string[];
  /** What it asks by itself, with `*` for any part of a name, where its model calls do not go through the run's model proxy. */
  readonly hosts?: readonly string[];
  /** Can be given a server of tools by the Model Context Protocol. */
  readonly mcp?: true;
  readonly about?: CoderAbout;
  /** What the CLI would load where nothing kept it from it. */
  readonly context?: readonly ContextSource[];
  start(order: StartInput): AgentStart;
  /**
   * Where its model calls would go by a credential's variables (those named in `env`), for the run's model proxy to go there in
   * its place; undefined where they cannot go through one, e.g. by a login in the CLI's own folder.
   */
  upstream?(env: Readonly<Record<string, string | undefined>>, run: ModelWay): Upstream | undefined;
  /** Files below the user's HOME in which the CLI's own configuration may name another address for its model calls. */
  ownConfig?: readonly string[];
  /** Whether a line only says that the CLI is alive: no sign of work. */
  heartbeat?(line: string): boolean;
  /**
   * Where a HOME keeps a session, as one file: the names on the way to it, `*` for any part of a name. Missing where the
   * CLI cannot go on with a session of another HOME.
   */
  sessionFile?(session: string): string[];
  /** The model where the task names none, as far as the configuration tells. */
  model?: string | undefined;
  /**
   * A parser for one run: takes one line of stdout, without its line break, and gives what it means. Never throws.
   * `earlier`: the events of that run so far, where another worker process read its first lines.
   */
  parser(earlier?: readonly AgentEvent[]): (line: string) => AgentEvent[];
}

/** What a coder is told about a run. All paths are absolute. */
export interface StartInput {
  runId: string;
  tree: string;
  /** The run's own HOME. */
  home: string;
  /** The worker's user's HOME: where a login of the CLI may be found. */
  userHome: string;
  model?: string;
  prompt: string;
  inherit: Inherit;
  /** Named pipe for the coder's hooks, where it has any. */
  hooks?: string;
  /** The run's model proxy: base URL without the version folder, the key it takes, and what it speaks. Missing where the calls go direct. */
  proxy?: { url: string; key: string; api: WireApi };
  /** See `ownConfig`. */
  own?: OwnConfig;
  /** A server of tools of ours, by stdio: for coders with `mcp` only. */
  mcp?: { command: string; args: string[]; tools: readonly AgentTool[] };
  /** The session to go on with: its id, and its file as found by `sessionFile` in another run's HOME. */
  resume?: { id: string; file: string };
}

export interface AgentStart {
  argv: string[];
  /** Written to stdin, which is then closed. */
  stdin: string;
  /** Set on top of the allow-listed environment. */
  env: Record<string, string>;
  /** Files to put in place first: text, a copy, or a link to a file that may or may not exist; `login`: renewed there. */
  files: Record<string, { text: string } | { copy: string } | { link: string; login?: true }>;
  /** Its hooks tell of each tool call by the named pipe of the order. */
  hooks?: boolean;
}

/** What asking for a link came to: `gone` is sure, `unknown` is not (refused, limited, too slow, or not to be asked). */
export type LinkState = { link: string; state: 'there' } | { link: string; state: 'gone' | 'unknown'; why: string };

/** One kind of evidence. One file each in `receipts/`. */
export interface ReceiptCollector<E = Evidence> {
  readonly kind: ReceiptKind;
  /** Undefined where this kind says nothing about this run, e.g. acceptance without a command. */
  collect(evidence: E): Promise<Finding | undefined>;
}

/** What the collectors work from: gathered once, after the agent's process tree was dead. */
export interface Evidence extends Tried {
  task: Task;
  structured: boolean;
  outcome: AgentOutcome;
  events: readonly StoredEvent[];
  /** Events of the run whose work this one went on from, where that was on this worker. */
  before: readonly StoredEvent[];
  /** What the coder's hooks said; null where it has none, or they could not speak. */
  hooks: HookLog | null;
  /** What the run's model proxy saw; null where an older worker had none. */
  wire: WireLog | null;
  /** What the agent reached of the network by its way out; `all`: nothing was left out for its size. */
  reached: { lines: readonly ReachedLine[]; all: boolean };
  /** Asks whether links answer: bounded in time, and never at a private address that the worker's owner did not name. */
  askLinks(links: readonly string[]): Promise<LinkState[]>;
  /** Declared outputs are copied here. */
  outputsDir: string;
  /** The agent's worktree, dead and never trusted. */
  tree: string;
  /** What differs in places that the run has no business in, a word each, e.g. `hooks`: its owner may work in `checkout`, nobody in `stores`. */
  elsewhere: { checkout: string[]; stores: string[] };
  /** What the collectors before this one found. */
  found: readonly (Finding & { kind: ReceiptKind })[];
  /** File with the change as a patch, cut at 4 MB; missing where nothing was changed. */
  patch: string;
  /** Secrets that would be delivered. */
  secretsFound: readonly SecretFound[];
  /** Has the policy's reviewer look at the result. */
  askReviewer(prompt: (place: Place) => string): Promise<Reviewed>;
}

/** What a result can be tried out with, by any worker. */
export interface Tried {
  policy: Policy;
  result: ResultTree;
  /** The commit whose files a trial puts back; missing: the base. */
  rules?: string;
  /** The setup commands passed when the run began; missing: not known. */
  setUp?: true;
  /** The user's checkout that `policy.copy` is taken from; null for a URL. */
  checkout: string | null;
  /** The submodules of a commit, brought here; of those that an agent added or moved only what the base's own repositories have. */
  submodules(at: { gitDir: string; commit: string }): Promise<Submodules>;
  /** A place to try something in, empty each time. */
  space(name: SpaceName): Promise<Space>;
  /** What `make` gave for this base and key on this worker before, or now. */
  ofBase<T>(key: string, make: () => Promise<{ value: T; keep: boolean }>): Promise<T>;
  /** What the collectors that ran tests leave for those behind them. */
  passed: PassedTrials;
  /** The owner's checks lie here: no agent sees the folder. */
  heldOutDir: string;
  /** The text of a check that was sealed to this worker. @throws where it was sealed to another, with a sentence */
  unseal(text: string): Promise<string>;
}

export type SpaceName = 'acceptance' | 'author' | 'base' | 'challenge' | 'control' | 'held-out';

/** Folders of one trial; all that its commands can write to. */
export interface Space {
  /** Absolute; a checkout goes here. */
  tree: string;
  /** Beside it: for what the commands report. */
  aside: string;
  /** What they get from us, and can only read. */
  given: string;
  /** Appended to, capped; both streams. */
  logFile: string;
  /** Keeps the build caches that its commands left, for the spaces of later trials on this base: only where nothing of an agent's ran. */
  keepBuildCache(): Promise<void>;
  /** Runs a shell command in the tree, contained and with a clean environment; all of it is dead when it resolves. */
  run(command: SpaceCommand): Promise<ContainedResult>;
}

export interface SpaceCommand {
  command: string;
  /** It makes the checkout ready, and judges nothing: it may fetch packages. */
  setup?: boolean;
  timeoutMs: number;
  env?: Record<string, string>;
  /** Folders in front of PATH. */
  path?: readonly string[];
}

/** The agent's tree as walked and hashed by us into the run's result repository. */
export interface ResultTree {
  /** The result repository (bare, ours). */
  gitDir: string;
  base: string;
  /** The commit to deliver; equal to `base` where nothing changed. */
  commit: string;
  tree: string;
  changes: Change[];
  /** The agent's own commits carried over, oldest first. */
  commits: { id: string; subject: string }[];
  /** Files that the agent left uncommitted, committed by the worker. */
  leftUncommitted: number;
  /** Why the agent's history was not carried over, if so; the changes then are one commit of ours. */
  odd: string | null;
  /** Nested repositories, special files, links that leave the tree: each makes the result unacceptable. */
  violations: string[];
  /** Files that the agent changed, removed or added in submodules, but for what they ignore: no part of the result. */
  inSubmodules?: string[];
  /** Added paths that are the same as another one on some file system, such as `README` beside `readme`. */
  twins: Twin[];
  /** Where the worker put files back: what the agent left, in the parent of `commit`, and the paths that are as in the base again. */
  own?: { commit: string; changes: Change[]; restored: string[] };
}

export type Change = { path: string; kind: 'added' | 'modified' | 'deleted' | 'mode' | 'type' };
