import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { sumUsage, type Usage } from '../domain/event.ts';
import { FAILURES, type Failure, type Reason } from '../domain/failure.ts';
import { attemptsUsed, feedbackOf, resumeFrom } from '../domain/policy.ts';
import { reviewUsage } from '../domain/review.ts';
import type {
  AgentOutcome,
  Claim,
  Gated,
  LateResult,
  ResumeFrom,
  RunView,
  SavedWork,
  TaskState,
  TaskView,
  Verified,
} from '../domain/run.ts';
import type { Choice } from '../domain/route.ts';
import type { Task } from '../domain/task.ts';
import type { Triaged } from '../domain/triage.ts';
import { ATTRIBUTES } from './attributes.ts';
import { newRun, newTask, shortened } from './new.ts';
import { renderSummary } from './summary.ts';
import { Told } from './told.ts';

const RUNS_KEPT = 30;

/** The task's record: one place that changes its view, its search attributes and the summary in the Web UI. */
export class TaskBook {
  readonly view: TaskView;
  /** Where it waits as long as no rule leads elsewhere. */
  readonly unpinned: string;
  /** Since a person last said `retry`; more than the view keeps. */
  #counted: RunView[] = [];
  readonly #claims = new Map<string, Claim>();
  readonly #accepted: string[] = [];
  readonly #told = new Told();
  #runs = 0;

  constructor(id: string, task: Task) {
    this.view = newTask(id, task, workflowInfo().startTime.toISOString());
    this.unpinned = this.view.claimQueue;
    // A client has set them at the start; a task started by hand gets them here.
    if (workflowInfo().typedSearchAttributes.get(ATTRIBUTES.state) === 'queued') {
      setCurrentDetails(renderSummary(this.view));
      return;
    }
    upsertSearchAttributes([
      { key: ATTRIBUTES.queue, value: task.queue },
      { key: ATTRIBUTES.priority, value: task.priority },
      { key: ATTRIBUTES.type, value: task.type },
      ...(task.repo ? [{ key: ATTRIBUTES.repo, value: task.repo }] : []),
    ]);
    this.enter('queued');
  }

  /** What the policy decides on. */
  get counted(): readonly RunView[] {
    return this.#counted;
  }
  /**
   * What the claimed run is told: also why runs were rejected that a person's `retry` has forgiven, and what the person said. A
   * conversation that goes on knows already what came before the run that it is of.
   */
  get told(): { feedback: string[]; person?: string } {
    const { runs, decision } = this.view;
    const { sameSession, resumedFrom } = this.#run();
    const news = sameSession ? runs.slice(runs.findIndex(({ runId }) => runId === resumedFrom)) : runs;
    const person = decision?.action === 'retry' ? decision.why : '';
    return person ? { feedback: [...feedbackOf(news), person], person } : { feedback: feedbackOf(news) };
  }
  get nextRun(): number {
    return this.#runs + 1;
  }

  enter(state: TaskState, why?: { reason: Reason; message: string }): void {
    const { view } = this;
    Object.assign(view, { state, reason: why?.reason ?? null, message: why?.message ?? null });
    if (state === 'done' || state === 'failed' || state === 'cancelled') view.endedAt = now();
    this.#told.state(view);
    setCurrentDetails(renderSummary(view));
  }

  /** What the state of now waits for. */
  say(message: string | null): void {
    this.view.message = message;
    setCurrentDetails(renderSummary(this.view));
  }

  /** Leads back to the state of now. */
  remember(): () => void {
    const { state, reason, message } = this.view;
    return () => this.enter(state, reason ? { reason, message: message ?? '' } : undefined);
  }

  /** Waiting again: at once, or from `retryAt`. The message still says what the last run ended with. */
  queueAgain(failure: Failure, delayMs: number): void {
    this.enter('queued', failure);
    this.view.retryAt = delayMs > 0 ? new Date(Date.now() + delayMs).toISOString() : null;
  }

  claimed(claim: Claim): void {
    const { view } = this;
    this.#runs = claim.n;
    this.#claims.set(claim.runId, claim);
    view.claimQueue = this.unpinned;
    const run = newRun(claim, { view, at: now() });
    if (view.runs.length >= RUNS_KEPT) view.runs.shift();
    view.runs.push(run);
    this.#counted.push(run);
    const { worker, coder } = claim;
    delete view.redirect;
    Object.assign(view, { worker, coder, model: run.model, retryAt: null, verdict: null, receipts: [], commit: null });
    this.enter('setting-up');
  }

  /** Of what class the task is, said once. */
  triaged(triaged: Triaged): void {
    this.view.triaged ??= triaged;
    setCurrentDetails(renderSummary(this.view));
  }

  /** Null: the rules are asked anew. */
  redirected(to: (Choice & { claimQueue: string }) | null): void {
    const { claimQueue, ...choice } = to ?? { claimQueue: this.unpinned };
    delete this.view.redirect;
    Object.assign(this.view, { claimQueue }, 'coder' in choice ? { redirect: choice } : {});
    setCurrentDetails(renderSummary(this.view));
  }

  claimOf({ runId }: RunView): Claim | undefined {
    return this.#claims.get(runId);
  }

  prepared({ base, resumed, session }: { base: string; resumed?: string | null; session?: boolean }): void {
    this.view.base = base;
    Object.assign(this.#run(), { resumedFrom: resumed ?? null, sameSession: session ?? false });
  }

  resumeFor = (task: Task): ResumeFrom | null => resumeFrom(task, this.view.runs.slice(0, -1));

  launched(outcome: AgentOutcome): void {
    const run = this.#run();
    Object.assign(run, { model: outcome.model ?? run.model, exitCode: outcome.exitCode });
    this.view.model = run.model;
    this.#used(run, outcome.usage);
  }

  gated(gated: Gated): void {
    this.view.gate = gated;
    this.#used(this.#run(), gated.evidence['usage'] as Usage);
  }

  verified({ verdict, receipts, commit, elsewhere }: Verified): void {
    const run = this.#run();
    // A second worker's verdict comes with the same review.
    if (!run.receipts.some(({ kind }) => kind === 'review')) this.#used(run, reviewUsage(receipts));
    Object.assign(run, { commit, receipts: shortened(receipts) });
    Object.assign(this.view, { verdict, receipts, commit });
    if (verdict.accepted && !elsewhere && commit) this.#accepted.push(commit);
  }

  /** Accepted results of earlier runs: one of them may have been delivered unheard. */
  acceptedBefore({ commit }: Verified): string[] {
    return this.#accepted.filter((other) => other !== commit);
  }

  ended(failure = this.#overtaken()): void {
    const run = this.#run();
    Object.assign(run, {
      endedAt: now(),
      reason: failure?.reason ?? null,
      message: failure?.message ?? null,
      counts: !failure || FAILURES[failure.reason].attempt,
    });
    this.view.attempts.used = attemptsUsed(this.counted);
    this.view.worker = null;
  }

  saved(saved: SavedWork | null): void {
    this.#run().saved = saved ?? this.#run().saved;
  }

  /** Of a run that ended as lost; anything else that comes late is only noted as saved. */
  late({ runId, saved, finished }: LateResult): void {
    const run = this.view.runs.find((other) => other.runId === runId);
    if (!run?.endedAt) return;
    run.saved = saved ?? run.saved;
    if (finished && run.reason === 'host-lost' && run.late === null) run.late = 'candidate';
  }

  /** A late result that waits for its receipts. */
  get candidate(): RunView | undefined {
    return this.view.runs.find(({ late }) => late === 'candidate');
  }

  lateVerified(run: RunView, verified: Verified): void {
    run.commit = verified.commit;
    run.receipts = shortened(verified.receipts);
    if (!verified.verdict.accepted) run.late = 'rejected';
  }

  /** Its accepted result was delivered, or could not be: neither used an attempt. */
  lateEnded(run: RunView, { verdict, receipts, commit }: Verified, failure?: Failure): void {
    Object.assign(run, { late: null, reason: failure?.reason ?? null, message: failure?.message ?? null });
    if (!failure) Object.assign(this.view, { verdict, receipts, commit });
  }

  /** The task is done by another run: what is still on its way comes too late. */
  supersede(): void {
    for (const run of this.view.runs) if (run.late === 'candidate') run.late = 'superseded';
  }

  delivered(branch: string | null, commit: string): void {
    Object.assign(this.view, { branch, commit });
  }

  /** The branch turned out to be there already, by an earlier run: that one is the accepted one. */
  #overtaken(): Failure | undefined {
    const { runs, branch, commit } = this.view;
    const earlier = branch && this.#run().commit !== commit && runs.find((run) => run.commit === commit);
    if (!earlier) return undefined;
    Object.assign(earlier, { reason: null, message: null, counts: true });
    return { reason: 'superseded', message: `run ${earlier.runId} had been delivered before its worker was lost` };
  }

  forgive(): void {
    this.#counted = [];
    this.view.attempts.used = 0;
  }

  /** The last run whose result was kept on a rescue ref, for a person to accept. */
  get rescued(): RunView | undefined {
    return this.view.runs.findLast((run) => run.commit !== null);
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
