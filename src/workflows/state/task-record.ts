import { workflowInfo } from '@temporalio/workflow';
import { sumUsage, type Usage } from '../../domain/agent/event.ts';
import { FAILURES, type Failure, type Reason } from '../../domain/agent/failure.ts';
import { attemptsUsed, resumeFrom, startOf, type StartedFrom } from '../../domain/view/decide.ts';
import { reviewUsage } from '../../domain/evidence/review.ts';
import type { Gated, RunView, Verified } from '../../domain/view/task-view.ts';
import type { TaskState } from '../../domain/task/state.ts';
import type { ResumeFrom, SavedWork } from '../../domain/agent/saved-work.ts';
import type { AgentOutcome } from '../../domain/run/outcome.ts';
import type { Claim } from '../../domain/run/claim.ts';
import type { Choice } from '../../domain/routing/route.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { Triaged } from '../../domain/routing/triage.ts';
import { whatIsTold, type RunContext } from '../../domain/prompt/run-context.ts';
import type { Asked } from '../../domain/people/waiting.ts';
import { ATTRIBUTES } from '../../search-attributes.ts';
import { Dependents } from './dependents.ts';
import { Dependencies } from './dependencies.ts';
import { newRun, newTask, shortened } from './initial-view.ts';
import { QueuePosition } from './queue-position.ts';
import { AcceptedResults } from './accepted-results.ts';
import { SearchAttributeWriter } from './search-attributes.ts';

const RUNS_KEPT = 30;

/** The task's record: one place that changes its view, its search attributes and the summary in the Web UI. */
export class TaskRecord {
  readonly view: ReturnType<typeof newTask>;
  /** Since a person last said `retry`; more than the view keeps. */
  #counted: RunView[] = [];
  readonly #claims = new Map<string, Claim>();
  readonly #searchAttributes: SearchAttributeWriter;
  readonly dependants: Dependents;
  readonly place: QueuePosition;
  readonly results = new AcceptedResults();
  /** What other tasks told this one by their callbacks. */
  readonly notes: string[] = [];
  readonly dependencies: Dependencies;
  /** Why it is to be closed as cancelled, where no person said so. */
  cancelled: Failure | undefined;
  /** What its agent asks a person. */
  asked!: Asked;
  #runs = 0;

  constructor(id: string, task: Task) {
    this.view = newTask(id, task, workflowInfo().startTime.toISOString());
    const { view } = this;
    this.#searchAttributes = new SearchAttributeWriter(view);
    this.place = new QueuePosition(view.claimQueue);
    this.dependants = new Dependents(view, task.callback);
    this.dependencies = new Dependencies(view);
    // A client has set them at the start; a task started by hand gets them here.
    const isTold = workflowInfo().typedSearchAttributes.get(ATTRIBUTES.state) === view.state;
    if (isTold) this.#searchAttributes.say(view);
    else {
      this.#searchAttributes.begin(task);
      this.enter(view.state);
    }
  }

  /** What the policy decides on. */
  get counted(): readonly RunView[] {
    return this.#counted;
  }
  /** What the prompt of the claimed run tells beside the objective. */
  get runContext(): RunContext {
    return whatIsTold(this.view, this.#run(), this.notes);
  }
  get nextRun(): number {
    return this.#runs + 1;
  }

  enter(state: TaskState, why?: { reason: Reason | null; message: string }): void {
    const { view } = this;
    if (view.state !== state) view.since = now();
    Object.assign(view, { state, reason: why?.reason ?? null, message: why?.message ?? null });
    if (state === 'done' || state === 'failed' || state === 'cancelled') view.endedAt = now();
    this.#searchAttributes.state(view);
    this.dependants.changed();
  }

  /** Enters a state in which no slot is held, and says what the task waits for. */
  wait(state: Extract<TaskState, `awaiting-${string}` | 'blocked'>, message: string): void {
    if (this.view.state === state) this.say(message);
    else this.enter(state, { reason: null, message });
  }

  /** Sets the message of the current state. */
  say(message: string | null): void {
    this.view.message = message;
    this.#searchAttributes.say(this.view);
  }

  /** Returns a function that restores the current state. */
  snapshotState(): () => void {
    const { state, reason, message } = this.view;
    return () => this.enter(state, reason ? { reason, message: message ?? '' } : undefined);
  }

  /** Queues the task again, at once or from `retryAt`. The message still says how the last run ended. */
  queueAgain(failure: Failure, delayMs: number): void {
    const quota = FAILURES[failure.reason].next === 'wait' && failure.reason !== 'disk';
    this.place.readyAt = delayMs > 0 ? Date.now() + delayMs : 0;
    this.view.retryAt = delayMs > 0 ? new Date(this.place.readyAt).toISOString() : null;
    this.enter(quota && delayMs > 0 ? 'awaiting-quota' : 'queued', failure);
  }

  claimed(claim: Claim): void {
    const { view } = this;
    this.place.claimed();
    this.#runs = claim.n;
    this.#claims.set(claim.runId, claim);
    view.claimQueue = this.place.unpinned;
    const run = newRun(claim, { view, at: now() });
    if (view.runs.length >= RUNS_KEPT) view.runs.shift();
    view.runs.push(run);
    this.#counted.push(run);
    const { worker, coder } = claim;
    delete view.redirect;
    Object.assign(view, { worker, coder, model: run.model, retryAt: null, verdict: null, receipts: [], commit: null });
    this.enter('setting-up');
  }

  /** Sets the task's class; only the first one counts. */
  triaged(triaged: Triaged): void {
    this.view.triaged ??= triaged;
    this.#searchAttributes.say(this.view);
  }

  /** Changes what the task depends on, between runs. */
  needs(change: { add: string[]; drop: string[] }): void {
    this.dependencies.change(change);
    this.place.moved = true;
    this.#searchAttributes.dependsOn(this.view.dependsOn.map(({ id }) => id));
  }

  prioritised(priority: number): void {
    this.view.priority = priority;
    this.place.moved = true;
    this.#searchAttributes.priority(priority);
  }

  /** Sends the next claim to where a rule leads. Null: the rules are asked again. */
  redirected(to: (Choice & { claimQueue: string }) | null): void {
    const { claimQueue, ...choice } = to ?? { claimQueue: this.place.unpinned };
    delete this.view.redirect;
    Object.assign(this.view, { claimQueue }, 'coder' in choice ? { redirect: choice } : {});
    this.#searchAttributes.say(this.view);
  }

  claimOf({ runId }: RunView): Claim | undefined {
    return this.#claims.get(runId);
  }

  prepared(prepared: StartedFrom & { base: string }, resume: ResumeFrom | null): void {
    this.view.base = prepared.base;
    this.dependencies.based = true;
    Object.assign(this.#run(), startOf(prepared, { resume, runs: this.view.runs }));
  }

  resumeFor = (task: Task): ResumeFrom | null => resumeFrom(task, this.view.runs.slice(0, -1));

  launched(outcome: AgentOutcome): void {
    const run = this.#run();
    if (outcome.asked) this.asked = outcome.asked;
    Object.assign(run, { model: outcome.model ?? run.model, exitCode: outcome.exitCode });
    this.view.model = run.model;
    this.#used(run, outcome.usage);
  }

  gated(gated: Gated): void {
    this.view.gate = gated;
    this.#used(this.#run(), gated.evidence['usage'] as Usage);
  }

  verified(verified: Verified): void {
    const { verdict, receipts, commit } = verified;
    const run = this.#run();
    // A second worker's verdict comes with the same review.
    if (!run.receipts.some(({ kind }) => kind === 'review')) this.#used(run, reviewUsage(receipts));
    Object.assign(run, { commit, receipts: shortened(receipts) });
    Object.assign(this.view, { verdict, receipts, commit });
    this.results.note(verified);
  }

  ended(failure = this.#findEarlierDelivery()): void {
    this.#endedAs(Object.assign(this.#run(), { endedAt: now() }), failure);
    this.view.worker = null;
  }

  /** Records that the delivery of an accepted run failed. */
  deliveryFailed(failure: Failure): void {
    const run = this.view.runs.find(({ runId }) => runId === this.results.kept?.runId);
    if (run) this.#endedAs(run, failure);
    this.results.kept = null;
  }

  #endedAs(run: RunView, failure: Failure | undefined): void {
    Object.assign(run, {
      reason: failure?.reason ?? null,
      message: failure?.message ?? null,
      counts: !failure || (FAILURES[failure.reason].attempt && !failure.local),
      ...(failure?.local ? { local: true } : {}),
    });
    this.view.attempts.used = attemptsUsed(this.counted);
  }

  saved(saved: SavedWork | null): void {
    this.#run().saved = saved ?? this.#run().saved;
  }

  /** A late result that waits for its receipts. */
  get candidate(): RunView | undefined {
    return this.view.runs.find(({ late }) => late === 'candidate');
  }

  delivered({ branch, commit }: { branch: string | null; commit: string }, hostQueue: string): void {
    this.results.branch = { commit, hostQueue };
    Object.assign(this.view, { branch, commit });
  }

  /** Where an earlier run had delivered the branch already, that run is the accepted one. */
  #findEarlierDelivery(): Failure | undefined {
    const { runs, branch, commit } = this.view;
    const earlier = branch && this.#run().commit !== commit && runs.find((run) => run.commit === commit);
    if (!earlier) return undefined;
    Object.assign(earlier, { reason: null, message: null, counts: true });
    return { reason: 'superseded', message: `run ${earlier.runId} had been delivered before its worker was lost` };
  }

  resetAttempts(): void {
    this.#counted = [];
    this.view.attempts.used = 0;
  }

  /** The last run whose result was kept on a rescue ref, for a person to accept. */
  get rescued(): RunView | undefined {
    return this.view.runs.findLast(({ commit, savedGone }) => commit !== null && !savedGone);
  }

  #used(run: RunView, usage: Usage): void {
    run.usage = sumUsage(run.usage, usage);
    this.view.usage = sumUsage(this.view.usage, usage);
  }

  #run(): RunView {
    const run = this.view.runs.at(-1);
    if (!run) throw new Error('no run');
    return run;
  }
}

const now = (): string => new Date().toISOString();
