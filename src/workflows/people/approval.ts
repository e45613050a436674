import { ApplicationFailure, CancellationScope, condition, setHandler } from '@temporalio/workflow';
import type { Failure } from '../../domain/agent/failure.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { AgentsWord, Approval, ApprovalStage, PersonsWord } from '../../domain/people/waiting.ts';
import { alert } from '../state/alert.ts';
import type { TaskRecord } from '../state/task-record.ts';
import { approveUpdate, rejectUpdate } from '../messages.ts';

/** Who said no where nobody said anything in time. */
export const BY_TIMEOUT = 'timeout';

/** A person's yes or no to a task that waits for it. The first one counts. */
export class Approvals {
  readonly #record: TaskRecord;
  #said: { approved: boolean; by: string; why: string } | undefined;

  constructor(record: TaskRecord) {
    this.#record = record;
    const validator = (said: PersonsWord) => this.#mayBeSaid(said);
    setHandler(approveUpdate, ({ by, why }) => this.#say({ approved: true, by, why }), { validator });
    setHandler(rejectUpdate, ({ by, why }) => this.#say({ approved: false, by, why }), { validator });
  }

  /** Waits for as long as it takes, or for `withinMs`, after which it is a no; no slot is held meanwhile. */
  async ask(
    stage: ApprovalStage,
    why: string,
    { word, withinMs }: { word?: AgentsWord | undefined; withinMs?: number | undefined } = {},
  ): Promise<Approval> {
    const { view } = this.#record;
    this.#said = undefined;
    const approvals = (view.approvals ??= []);
    view.approval = {
      id: `a${approvals.length + 1}`,
      stage,
      why,
      since: new Date().toISOString(),
      ...(withinMs === undefined ? {} : { deadline: new Date(Date.now() + withinMs).toISOString() }),
      ...(word ? { word } : {}),
    };
    this.#record.wait('awaiting-approval', why);
    const alerting = new CancellationScope();
    void alerting.run(() => alert(view));
    try {
      const said = () => this.#said !== undefined;
      await (withinMs === undefined ? condition(said) : condition(said, withinMs));
    } finally {
      alerting.cancel();
      view.approval = null;
    }
    return this.#note(
      stage,
      this.#said ?? { approved: false, by: BY_TIMEOUT, why: `nobody said yes in time to this: ${why}` },
    );
  }

  /** Without asking anybody: the configuration says yes. `by`: its key. */
  grant(stage: ApprovalStage, said: { by: string; why: string }): void {
    this.#note(stage, { approved: true, ...said });
  }

  #note(stage: ApprovalStage, said: { approved: boolean; by: string; why: string }): Approval {
    const approval = { stage, ...said, at: new Date().toISOString() };
    (this.#record.view.approvals ??= []).push(approval);
    return approval;
  }

  #say(said: { approved: boolean; by: string; why: string }): void {
    this.#said = said;
  }

  #mayBeSaid({ approval: id }: PersonsWord): void {
    const { state, approval, approvals = [] } = this.#record.view;
    const last = approvals.at(-1);
    const earlier = id === undefined ? undefined : approvals[Number(id.slice(1)) - 1];
    const said = this.#said ?? earlier ?? (approval ? undefined : last);
    if (said) throw refused(`it was ${said.approved ? 'approved' : 'rejected'} by ${said.by} already`);
    if (approval && id !== undefined && id !== approval.id)
      throw refused(`it waits for ${approval.id}, not ${id}: ${approval.why}`);
    if (!approval) throw refused(`the task is ${state}: nothing of it waits for an approval`);
  }
}

/** Before the first run, where the task asks for that. A failure: a person said no. */
export async function approveRun(task: Task, record: TaskRecord, approvals: Approvals): Promise<Failure | undefined> {
  const { view } = record;
  if (task.approval !== 'before-run' && task.approval !== 'both') return undefined;
  if (view.approvals?.some(({ stage, approved }) => stage === 'before-run' && approved)) return undefined;
  const said = await approvals.ask('before-run', "it waits for a person's yes before it runs");
  if (!said.approved) return { reason: 'not-approved', message: said.why || `${said.by} did not approve it` };
  record.enter('queued');
  return undefined;
}

const refused = (message: string): ApplicationFailure => ApplicationFailure.nonRetryable(message, 'NotAwaited');
