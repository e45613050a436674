import { setCurrentDetails, upsertMemo, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { taskLines } from '../../domain/view/run-summary.ts';
import type { TaskView } from '../../domain/view/task-view.ts';
import type { Task } from '../../domain/task/schema.ts';
import { madeOf, saidAtStart, saidOf, saysMore, type SaidOf } from '../../domain/list/task-row.ts';
import { ATTRIBUTES, MEMO } from '../../search-attributes.ts';
import { renderSummary } from './summary.ts';

/** Tells the server how a task stands, for lists, statistics and budgets: its state each time, of the rest what has changed. */
export class SearchAttributeWriter {
  #known = new Map<string, string>();
  #said: SaidOf;

  constructor({ claimQueue }: TaskView) {
    this.#said = saidAtStart({ claimQueue });
  }

  /** What a client has said at the start, but for a task that was started by hand. */
  begin(task: Task): void {
    const { queue, priority, type, repo, dependsOn } = task;
    upsertSearchAttributes([
      { key: ATTRIBUTES.queue, value: queue },
      { key: ATTRIBUTES.priority, value: priority },
      { key: ATTRIBUTES.type, value: type },
      ...(repo ? [{ key: ATTRIBUTES.repo, value: repo }] : []),
      ...(dependsOn.length ? [{ key: ATTRIBUTES.dependsOn, value: dependsOn }] : []),
    ]);
    if (!workflowInfo().memo?.[MEMO.made]) upsertMemo({ [MEMO.made]: madeOf(task) });
  }

  priority(value: number): void {
    upsertSearchAttributes([{ key: ATTRIBUTES.priority, value }]);
  }

  dependsOn(value: string[]): void {
    upsertSearchAttributes([{ key: ATTRIBUTES.dependsOn, value }]);
  }

  state(view: TaskView): void {
    const { state, since, reason, worker, coder, model, usage } = view;
    const tokens = usage.inputTokens + usage.outputTokens;
    const lines = taskLines(view);
    const costUsd = Number(usage.costUsd.toPrecision(9));
    upsertSearchAttributes([
      { key: ATTRIBUTES.state, value: state },
      ...(since ? [{ key: ATTRIBUTES.since, value: new Date(since) }] : []),
      ...(this.#differs('reason', reason) ? [{ key: ATTRIBUTES.reason, value: reason }] : []),
      ...(worker && this.#differs('worker', worker) ? [{ key: ATTRIBUTES.worker, value: worker }] : []),
      ...(coder && this.#differs('coder', coder) ? [{ key: ATTRIBUTES.coder, value: coder }] : []),
      ...(model && this.#differs('model', model) ? [{ key: ATTRIBUTES.model, value: model }] : []),
      ...(tokens && this.#differs('tokens', tokens) ? [{ key: ATTRIBUTES.tokens, value: tokens }] : []),
      ...(costUsd && this.#differs('costUsd', costUsd) ? [{ key: ATTRIBUTES.costUsd, value: costUsd }] : []),
      ...(lines.length && this.#differs('runs', lines.join()) ? [{ key: ATTRIBUTES.runs, value: lines }] : []),
    ]);
    this.say(view);
  }

  /** What lists and the Web UI show beside that; an event of the history only where it has changed. */
  say(view: TaskView): void {
    const said = saidOf(view, this.#said);
    if (saysMore(said, this.#said)) {
      this.#said = said;
      upsertMemo({ [MEMO.said]: said });
    }
    setCurrentDetails(renderSummary(view));
  }

  #differs(name: string, value: string | number | null): boolean {
    const text = value === null ? '' : String(value);
    if ((this.#known.get(name) ?? '') === text) return false;
    this.#known.set(name, text);
    return true;
  }
}
