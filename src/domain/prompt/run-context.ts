import { feedbackOf } from '../view/decide.ts';
import type { RunView, TaskView } from '../view/task-view.ts';
import type { Answered } from '../people/waiting.ts';

/** What a run is told beside its task. */
export interface RunContext {
  feedback: string[];
  /** What a person said who sent the task on; it is also the last of `feedback`, for workers that do not know it apart. */
  person?: string;
  /** What people answered to what its agents asked. */
  answers?: Answered[];
  /** What other tasks told this one by their callbacks. */
  notes?: string[];
  /** The agent proposed tasks in a conversation that goes on, and believes that they were taken. */
  dropped?: true;
}

/**
 * Also why runs were rejected that a person's `retry` has forgiven. A conversation that goes on knows already what came
 * before the run that it is of.
 */
export function whatIsTold(view: TaskView, run: RunView, notes: readonly string[]): RunContext {
  const { runs, decision, answers = [] } = view;
  const { sameSession, resumedFrom } = run;
  const news = sameSession ? runs.slice(runs.findIndex(({ runId }) => runId === resumedFrom)) : runs;
  const feedback = feedbackOf(news);
  const person = decision?.action === 'retry' ? decision.why : '';
  const fresh = answers.filter(({ at }) => !sameSession || at > (news[0]?.startedAt ?? ''));
  return {
    ...(person ? { feedback: [...feedback, person], person } : { feedback }),
    ...(fresh.length > 0 ? { answers: fresh } : {}),
    ...(notes.length > 0 ? { notes: [...notes] } : {}),
    ...(sameSession && news.some(({ dropped }) => dropped) ? { dropped: true } : {}),
  };
}
