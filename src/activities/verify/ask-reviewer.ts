import { mkdir } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { runProgram } from '../../adapters/keeper/contained.ts';
import { findProgram } from '../../adapters/program/find-program.ts';
import { checkoutTree } from '../../adapters/git/worktree/checkout.ts';
import { LineReader } from '../../adapters/program/line-reader.ts';
import { putFiles } from '../../adapters/disk/put-files.ts';
import { readWire } from '../../adapters/proxy/wire-file.ts';
import { removeTree } from '../../adapters/disk/remove-tree.ts';
import type { Prepared } from '../../adapters/state/run-registry.ts';
import { rated } from '../../domain/agent/cost.ts';
import { formatDuration, toMs } from '../../domain/values/duration.ts';
import {
  addUsage,
  NO_USAGE,
  sumUsage,
  type AgentEvent,
  type Usage,
  type CoderFailure,
} from '../../domain/agent/event.ts';
import { FAILURES, type Failure } from '../../domain/agent/failure.ts';
import type { Place } from '../../domain/prompt/review-prompt.ts';
import type { Opinion, Reviewed, ReviewFailure } from '../../domain/evidence/review.ts';
import { readOpinion } from '../../domain/evidence/read-opinion.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { Review } from '../../domain/task/schema.ts';
import { endedBy } from '../../domain/agent/model-traffic.ts';
import type { Coder } from '../../ports.ts';
import { accountOf, noAccount, type Account } from '../credentials/credentials.ts';
import { missing, coderPlan, requireRun, type Deps } from '../worker/context.ts';
import { environment } from '../worker/environment.ts';
import { openModelCalls } from '../output/model-calls.ts';
import { agentsWay } from '../prepare/network.ts';

export interface Question {
  prepared: Pick<Prepared, 'policy' | 'sealed'>;
  /** What is laid out for the reviewer to read. */
  files: { gitDir: string; commit: string };
  /** All that the reviewer printed goes here. */
  logFile: string;
  /** What is asked; `boundary` is random and new. */
  prompt: (place: Place) => string;
  signal: AbortSignal;
}

const TIMES = 2;
const REVIEWERS = { by: 'what a reviewer may reach', reach: ['model'] };

/**
 * Asks the reviewer, and once more where that gives no opinion: in a checkout that it can only read, with a HOME of its own
 * and nothing of the run under review. What it says is read; what it does has no effect.
 */
export async function askReviewer(deps: Deps, ref: RunRef, question: Question): Promise<Reviewed> {
  const { review } = question.prepared.policy;
  if (!review) throw new Error('no reviewer is named');
  const { coder: name, model = null } = review;
  const startedAt = performance.now();
  const known = deps.coders.get(name);
  let answer: Answer = { failure: notThere(deps, name), usage: NO_USAGE };
  let asked = 0;
  for (; known && asked < TIMES && 'failure' in answer; asked += 1) {
    // No seat is needed: a review is short, and its run waits for it.
    const credential = deps.seats.first(name);
    const account = await accountOf(deps, { record: { credential }, coder: known.coder }).catch(noAccount);
    const said = await ('reason' in account
      ? { failure: asReview(account), usage: NO_USAGE }
      : askOnce(deps, ref, { ...question, review, coder: known.coder, account, again: asked > 0 }));
    if ('failure' in said) await tellReviewers(deps, ref, { credential, failure: said.failure });
    answer = { ...said, usage: sumUsage(answer.usage, said.usage) };
  }
  const durationMs = Math.round(performance.now() - startedAt);
  return { ...answer, coder: name, model, asked, durationMs };
}

type Answer = ({ opinion: Opinion } | { failure: ReviewFailure }) & { usage: Usage };

const notThere = (deps: Deps, coder: string): ReviewFailure => ({ ...missing(deps, coder), reason: 'coder-missing' });

const asReview = ({ reason, message }: Failure): ReviewFailure => ({
  reason: reason === 'rate-limited' ? reason : 'auth',
  message,
});

/** A reviewer's limit is one of all runs of that account. */
async function tellReviewers(
  { seats }: Deps,
  { taskId, runId }: RunRef,
  { credential, failure }: { credential: string | null; failure: ReviewFailure },
): Promise<void> {
  const { reason, message: why, until } = failure;
  if (credential === null) return;
  const said = { taskId, runId: `${runId}-review`, why };
  if (reason === 'auth') await seats.report(credential, { ...said, kind: 'refused' });
  if (reason === 'rate-limited')
    await seats.report(credential, { ...said, kind: 'limited', ...(until ? { until } : {}) });
}

async function askOnce(
  deps: Deps,
  ref: RunRef,
  question: Question & { review: Review; coder: Coder; account: Account; again: boolean },
): Promise<Answer> {
  const { coder, account, review, prepared, logFile } = question;
  const { review: dir } = deps.home.run(ref.taskId, ref.runId);
  const [tree, home, tmp, desk] = ['tree', 'home', 'tmp', 'desk'].map((folder) => `${dir}/${folder}`) as Four;
  await removeTree(dir);
  await checkoutTree({ ...question.files, dir: tree });
  for (const folder of [home, tmp, desk]) await mkdir(folder, { recursive: true });
  const id = `${ref.runId}-review-${randomBytes(4).toString('hex')}`;
  const place = { id, file: deps.home.run(ref.taskId, ref.runId).reviewWire };
  const wireFile = deps.home.task(ref.taskId).runOf(requireRun(deps, ref).n).reviewWire;
  try {
    const secrets = deps.secrets.of(coder, account.env);
    const calls = await openModelCalls(deps, { ...place, wireFile, coder, account, secrets, model: review.model });
    const out = await agentsWay(deps, {
      ...{
        coder,
        account,
        gateway: calls.gateway,
        proxied: calls.proxy !== undefined,
        repo: undefined,
        narrowed: [REVIEWERS],
        place,
      },
    });
    const start = coder.start({
      ...{ runId: id, home, userHome: account.userHome, ...(calls.proxy ? { proxy: calls.proxy } : {}) },
      own: calls.own,
      // Not the files under review: a CLI takes instructions from what it finds in its working folder.
      tree: desk,
      inherit: 'none',
      prompt: question.prompt({ tree, boundary: randomBytes(16).toString('hex'), again: question.again }),
      ...(review.model ? { model: review.model } : {}),
    });
    await putFiles(start.files);
    const listener = new Listener(coder);
    const program = {
      ...{ argv: start.argv, stdin: start.stdin, cwd: desk, timeoutMs: toMs(review.timeout), logFile },
      stdout: (bytes: Buffer) => listener.hear(bytes),
    };
    const options = {
      ...coderPlan(deps, {
        show: [{ path: tree, readOnly: true }, ...[home, tmp, desk].map((path) => ({ path }))],
        tmp,
        sealed: prepared.sealed,
        files: start.files,
      }),
      ...out.plan,
      limits: prepared.policy.limits,
      secrets,
      env: environment(deps.env, [], {
        ...calls.env,
        ...out.env,
        ...{ HOME: home, TMPDIR: tmp, PWD: desk, FLEET_TASK: ref.taskId, FLEET_RUN: `${ref.runId}-review` },
        ...start.env,
      }),
    };
    const end = await deps.programs.run('agent', question.signal, (signal) =>
      runProgram(program, { ...options, signal }),
    );
    listener.close();
    // What it came to is whole once nothing is under way any more.
    await deps.proxy.close(place);
    const ended = listener.ended && { ok: listener.ended.ok, failure: listener.ended.failure ?? null };
    const failure = endedBy(ended ?? null, readWire(wireFile), false)?.failure ?? null;
    const gone = end.exitCode !== 0 && !(await findProgram(coder.command[0] ?? '', deps.env));
    const made = gone ? { failure: notThere(deps, coder.name) } : judge(listener, { ...end, failure, review });
    const model = listener.model ?? review.model ?? coder.model ?? null;
    const complete = listener.ended !== undefined;
    return {
      ...made,
      usage: rated(listener.usage, { model, rates: { prices: deps.config.prices, models: {} }, complete }),
    };
  } finally {
    await deps.proxy.close(place);
    await removeTree(dir);
  }
}

type Four = [string, string, string, string];

function judge(
  { said, until, complete }: Listener,
  end: {
    exitCode: number | null;
    signal: string | null;
    timedOut: boolean;
    failure: CoderFailure | null;
    review: Review;
  },
): { opinion: Opinion } | { failure: ReviewFailure } {
  const { coder, timeout } = end.review;
  const none = (why: string): { failure: ReviewFailure } => ({
    failure: { reason: 'unreviewed', message: `reviewer ${coder} ${why}` },
  });
  if (end.timedOut) return none(`gave no answer within ${formatDuration(toMs(timeout))}`);
  const { failure } = end;
  if (failure === 'rate-limited' || failure === 'overloaded' || failure === 'auth') {
    const message = `reviewer ${coder}: ${FAILURES[failure].meaning}`;
    return { failure: { reason: failure, message, ...(until ? { until } : {}) } };
  }
  if (end.exitCode !== 0 || failure) return none(`ended with ${failure ?? end.signal ?? `exit code ${end.exitCode}`}`);
  if (!complete) return none('broke off');
  const opinion = readOpinion(said);
  return opinion ? { opinion } : none('gave an answer that cannot be read');
}

const PLAIN_MAX = 16_000;

/** Reads a coder's output as it comes: its last message, its end and its tokens. */
class Listener {
  usage: Usage = NO_USAGE;
  said = '';
  model: string | undefined;
  ended: Extract<AgentEvent, { type: 'ended' }> | undefined;
  until: string | undefined;
  readonly #lines = new LineReader();
  readonly #parse: ReturnType<Coder['parser']>;
  readonly #structured: boolean;

  constructor(coder: Coder) {
    this.#parse = coder.parser();
    this.#structured = coder.structured;
  }

  /** It came to its end by its own word, where it has one. */
  get complete(): boolean {
    return !this.#structured || this.ended?.ok === true;
  }

  hear(bytes: Buffer): void {
    for (const { line } of this.#lines.push(bytes)) this.#take(line);
  }

  close(): void {
    for (const { line } of this.#lines.flush()) this.#take(line);
  }

  #take(line: string): void {
    // A program of any kind: all that it prints is its message.
    if (!this.#structured) this.said = `${this.said}${line}\n`.slice(-PLAIN_MAX);
    for (const event of this.#parse(line)) {
      // The conversation that counts is the agent's.
      if (event.type === 'usage') {
        const { window: _, ...said } = event;
        this.usage = { ...addUsage(this.usage, said), contextTokens: 0 };
      }
      if (event.type === 'started') this.model = event.model || this.model;
      if (event.type === 'rate-limited') this.until = event.until ?? this.until;
      if (event.type === 'text') this.said = event.text;
      if (event.type === 'ended') [this.ended, this.said] = [event, event.text || this.said];
    }
  }
}
