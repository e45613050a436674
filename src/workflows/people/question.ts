import { ApplicationFailure, CancellationScope, condition, setHandler } from '@temporalio/workflow';
import type { Failure } from '../../domain/agent/failure.ts';
import type { Asked } from '../../domain/people/waiting.ts';
import { alert } from '../state/alert.ts';
import type { TaskRecord } from '../state/task-record.ts';
import { answerUpdate } from '../messages.ts';

type Late = 'delivered' | 'kept' | Failure | undefined;

/** Asking is free of attempts, and no way to go on for ever. */
const MOST = 20;
/** Nor is it one where nobody listens. */
const MOST_UNHEARD = 3;
export const BY_DEFAULT = 'default';

/** What agents ask people. The first answer counts; after the deadline the default does, where there is one. */
export class Questions {
  readonly #record: TaskRecord;
  #said: { answer: string; by: string } | undefined;

  constructor(record: TaskRecord) {
    this.#record = record;
    setHandler(answerUpdate, ({ answer, by }) => void (this.#said = { answer, by }), {
      validator: (said) => this.#mayBeSaid(said.question),
    });
  }

  /**
   * Waits for as long as the question allows; no slot is held meanwhile. A failure: nobody answered, or too much was asked; else
   * what a late result came to.
   */
  async ask(asked: Asked, settleLate: () => Promise<Late>): Promise<Late> {
    const { view } = this.#record;
    const answers = (view.answers ??= []);
    if (answers.length >= MOST) return { reason: 'asked', message: `it asked ${MOST} times before: ${asked.text}` };
    if (answers.length >= MOST_UNHEARD && answers.slice(-MOST_UNHEARD).every(({ by }) => by === BY_DEFAULT))
      return {
        reason: 'asked',
        message: `nobody answered the last ${MOST_UNHEARD} times that it asked: ${asked.text}`,
      };
    this.#said = undefined;
    const now = Date.now();
    const question = {
      ...asked,
      id: `q${answers.length + 1}`,
      askedAt: new Date(now).toISOString(),
      deadline: asked.deadlineMs === null ? null : new Date(now + asked.deadlineMs).toISOString(),
    };
    view.question = question;
    this.#record.wait('awaiting-answer', asked.text);
    const alerting = new CancellationScope();
    void alerting.run(() => alert(view));
    const woken = () => this.#said !== undefined || this.#record.candidate !== undefined;
    try {
      for (;;) {
        const left = asked.deadlineMs === null ? null : now + asked.deadlineMs - Date.now();
        if (left !== null && left <= 0) break;
        await (left === null ? condition(woken) : condition(woken, left));
        const late = await settleLate();
        if (late) return late;
        if (this.#said) break;
        this.#record.wait('awaiting-answer', asked.text);
      }
    } finally {
      alerting.cancel();
      view.question = null;
    }
    const said = this.#said ?? (asked.default === null ? undefined : { answer: asked.default, by: BY_DEFAULT });
    if (!said) return { reason: 'asked', message: `nobody answered by ${question.deadline}: ${asked.text}` };
    answers.push({ question: question.id, text: asked.text, ...said, at: new Date().toISOString() });
    return undefined;
  }

  #mayBeSaid(id: string | undefined): void {
    const { state, question, answers = [] } = this.#record.view;
    const earlier = answers.find((one) => one.question === id) ?? (question ? undefined : answers.at(-1));
    if (question && this.#said) throw refused(`${this.#said.by} answered it a moment ago: ${this.#said.answer}`);
    if (earlier) throw refused(`question ${earlier.question} was answered by ${earlier.by}: ${earlier.answer}`);
    if (!question) throw refused(`the task is ${state}: it asks nothing`);
    if (id !== undefined && id !== question.id) throw refused(`it asks ${question.id}, not ${id}: ${question.text}`);
  }
}

const refused = (message: string): ApplicationFailure => ApplicationFailure.nonRetryable(message, 'NotAsked');
