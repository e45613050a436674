import {
  condition,
  proxyLocalActivities,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { TaskServices } from '../../activities/services/task-services.ts';
import { FAILURES, type Failure, type FailurePolicy } from '../../domain/agent/failure.ts';
import {
  askFault,
  handInFault,
  heldLongEnough,
  labelOf,
  leaseFault,
  leastLeaseMs,
  STILL_HELD,
  TEXT_MAX,
  TRUSTED,
  type Submission,
  type LeaseRequest,
} from '../../domain/people/external-agent.ts';
import type { TaskView } from '../../domain/view/task-view.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { Asked } from '../../domain/people/waiting.ts';
import { ATTRIBUTES } from '../../search-attributes.ts';
import type { Approvals } from '../people/approval.ts';
import type { TaskRecord } from '../state/task-record.ts';
import { askUpdate, completeUpdate, failUpdate, holdUpdate } from '../messages.ts';
import { refused, refuseOutside } from './reject-external.ts';

const WHY_MAX = 2_000;

/**
 * A task that is for an agent outside the fleet. Nobody else may hold it, hand its result in or say that it failed; a lease
 * that is not renewed ends by a durable timer. What is handed in stays until a verdict, or a person, says no to it.
 */
export class ExternalAgent {
  readonly #task: Task;
  readonly #record: TaskRecord;
  readonly #as: string;
  /** It may be held: nothing else comes first. */
  #offered = false;
  #failed: string | undefined;
  #asked: Asked | undefined;
  /** When the last lease ended by itself. */
  #expired: string | undefined;
  /** Why what was handed in last was not accepted. */
  #refused: Failure | undefined;

  private constructor(task: Task & { for: string }, record: TaskRecord) {
    this.#task = task;
    this.#record = record;
    this.#as = task.for;
    record.view.outside = null;
    record.view.handedIn = null;
    this.#findable();
    setHandler(holdUpdate, (said) => this.#hold(said), { validator: (said: LeaseRequest) => this.#mayHold(said) });
    setHandler(completeUpdate, (said) => this.#complete(said), {
      validator: (said: Submission) => this.#mayComplete(said),
    });
    setHandler(failUpdate, ({ why }) => void (this.#failed = why.trim()), {
      validator: (said: { as: string; why: string }) => this.#mayFail(said),
    });
    setHandler(askUpdate, (said) => this.#ask(said), { validator: (said) => this.#mayAsk(said) });
  }

  static of(task: Task, record: TaskRecord): ExternalAgent | undefined {
    if (task.for !== undefined) return new ExternalAgent({ ...task, for: task.for }, record);
    refuseOutside(record);
    return undefined;
  }

  /**
   * Until it has handed a result in, for as long as that takes. `go`: there is a commit for a worker to verify; `delivered`:
   * there is none, and a person, or the configuration, lets its word do; `again`: there is something else to look at first.
   */
  async turn(approvals: Approvals): Promise<'go' | 'delivered' | 'again' | Failure> {
    this.#settleBase();
    for (;;) {
      const { handedIn } = this.#record.view;
      if (handedIn?.commit !== undefined) return 'go';
      if (handedIn && (await this.#settleWords(handedIn, approvals))) return 'delivered';
      const said = handedIn ? undefined : await this.#wait();
      if (said) return said;
    }
  }

  /** The agent is told what to start from: a commit that its repository has, and so no merge that only a worker could make. */
  #settleBase(): void {
    const { dependencies, view } = this.#record;
    const [result] = dependencies.resultsFor(this.#task).results ?? [];
    if (!result) return;
    view.base = result.commit;
    dependencies.based = true;
  }

  async #wait(): Promise<'again' | Failure | undefined> {
    const { view } = this.#record;
    this.#failed = this.#asked = undefined;
    this.#offered = true;
    try {
      this.#waiting();
      for (;;) {
        const { outside } = view;
        const news = () => this.#said() || view.outside?.until !== outside?.until;
        if (outside) await condition(news, Math.max(1, Date.parse(outside.until) - Date.now()));
        else await condition(() => news() || this.#findEarlierDelivery());
        const failure = this.#failure();
        if (failure) return failure;
        if (view.handedIn) return undefined;
        if (!outside && !view.outside && this.#findEarlierDelivery()) return 'again';
        if (view.outside && view.outside.until === outside?.until) this.#expire();
      }
    } finally {
      this.#offered = false;
      view.outside = null;
    }
  }

  /** While nobody holds it: a late result came in, or what it waits by has changed. */
  #findEarlierDelivery(): boolean {
    return this.#record.candidate !== undefined || this.#record.place.moved;
  }

  /** A word changes no state: a person's yes takes the place of evidence. */
  async #settleWords({ as, result }: Submission, approvals: Approvals): Promise<boolean> {
    const { trustsOutside } = proxyLocalActivities<TaskServices>({
      startToCloseTimeout: '10s',
      summary: `is ${as} trusted?`,
    });
    const { approval, labels } = this.#task;
    const free = approval === 'never' || approval === 'before-run';
    const why = `nothing but the word of ${as} shows that it is done: ${result}`.slice(0, WHY_MAX);
    if (free && (await trustsOutside({ as, labels }))) {
      approvals.grant('before-deliver', { by: TRUSTED, why });
      return true;
    }
    const said = await approvals.ask('before-deliver', why);
    if (said.approved) return true;
    this.#refuse({ reason: 'not-approved', message: said.why || `${said.by} did not approve it` });
    return false;
  }

  /** What was handed in came to nothing: where that was the agent's doing, it is to hand in another result. */
  handBack(failure: Failure): void {
    const { attempt, next }: FailurePolicy = FAILURES[failure.reason];
    // What infrastructure did to it is tried again as it is.
    if (attempt || next === 'mend') this.#refuse(failure);
  }

  #refuse(failure: Failure): void {
    this.#record.view.handedIn = null;
    this.#refused = failure;
  }

  /** Without its lease, as nobody can say how long an answer takes: it claims the task again. */
  #ask({ as: _, ...asked }: { as: string } & Asked): { question: string } {
    this.#record.asked = this.#asked = asked;
    return { question: `q${(this.#record.view.answers?.length ?? 0) + 1}` };
  }

  #failure(): Failure | undefined {
    if (this.#asked) return { reason: 'asked', message: this.#asked.text };
    if (this.#failed === undefined) return undefined;
    return { reason: 'blocked-by-agent', message: `${this.#as} says that it failed: ${this.#failed}` };
  }

  #said(): boolean {
    return this.#failed !== undefined || this.#asked !== undefined || this.#record.view.handedIn !== null;
  }

  #waiting(): void {
    const because = this.#refused ? ` (not accepted: ${this.#refused.message})` : '';
    this.#record.enter('queued', this.#refused);
    this.#record.say(
      `waits for ${this.#as}${this.#expired ? `, whose lease ended at ${this.#expired}` : ''}${because}`,
    );
  }

  #expire(): void {
    this.#expired = this.#record.view.outside?.until;
    this.#record.view.outside = null;
    this.#waiting();
  }

  #hold({ leaseMs }: LeaseRequest): TaskView {
    const least = leastLeaseMs(workflowInfo().historyLength);
    const until = new Date(Date.now() + Math.max(leaseMs, least)).toISOString();
    const renewed = this.#record.view.outside !== null;
    this.#expired = undefined;
    const refused = this.#refused?.message;
    this.#record.view.outside = { as: this.#as, until, ...(refused === undefined ? {} : { notAccepted: refused }) };
    if (!renewed) this.#record.enter('running');
    this.#record.say(`${this.#as} works on it, outside the fleet, until ${until} at the latest`);
    return this.#record.view;
  }

  #complete({ as, result, commit }: Submission): void {
    this.#record.view.handedIn = { as, result, ...(commit === undefined ? {} : { commit }) };
  }

  #mayHold({ as, leaseMs }: LeaseRequest): void {
    this.#mayBe(as);
    const fault = leaseFault(leaseMs);
    if (fault) throw refused(fault);
    const { state, message, handedIn, outside } = this.#record.view;
    if (handedIn) throw refused(`it was handed in by ${handedIn.as} already, and is ${state}`);
    if (this.#failed !== undefined) throw refused(`${as} said a moment ago that it failed`);
    if (!this.#offered || (!outside && this.#findEarlierDelivery()))
      throw refused(`it is ${state} and waits for something else${message ? `: ${message}` : ''}`);
    if (outside && heldLongEnough(outside.until, { leaseMs, nowMs: Date.now() }))
      throw refused(`it is still held by ${as} until ${outside.until}: renew it later, or for longer`, STILL_HELD);
  }

  #mayComplete({ as, ...handed }: Submission): void {
    this.#mayEnd(as);
    const fault = handInFault(this.#task, handed);
    if (fault) throw refused(fault);
  }

  #mayFail({ as, why }: { as: string; why: string }): void {
    this.#mayEnd(as);
    if (typeof why !== 'string' || !why.trim() || why.length > TEXT_MAX) throw refused('say why it failed');
  }

  #mayAsk({ as, ...asked }: { as: string } & Asked): void {
    this.#mayEnd(as);
    const fault = askFault(asked);
    if (fault) throw refused(fault);
  }

  #mayEnd(as: string): void {
    this.#mayBe(as);
    const { state, outside, handedIn } = this.#record.view;
    if (handedIn) throw refused(`it was handed in by ${handedIn.as} already, and is ${state}`);
    if (this.#failed !== undefined) throw refused(`${as} said a moment ago that it failed`);
    if (this.#asked) throw refused(`${as} asks something: ${this.#asked.text}`);
    if (outside && this.#offered) return;
    if (this.#expired) throw refused(`the lease of ${as} ended at ${this.#expired}: claim it again`);
    throw refused(`${as} does not hold it, as it is ${state}: claim it first`);
  }

  #mayBe(as: string): void {
    if (as !== this.#as) throw refused(`it is for ${this.#as}, not for ${as}`);
  }

  /** One that was started by hand carries no label yet. */
  #findable(): void {
    const labels = workflowInfo().typedSearchAttributes.get(ATTRIBUTES.labels) ?? [];
    const label = labelOf(this.#as);
    if (labels.includes(label)) return;
    upsertSearchAttributes([{ key: ATTRIBUTES.labels, value: [...new Set([...this.#task.labels, label])] }]);
  }
}
