import { upsertSearchAttributes } from '@temporalio/workflow';
import { runLines } from '../domain/run-line.ts';
import type { TaskView } from '../domain/run.ts';
import type { Task } from '../domain/task.ts';
import { ATTRIBUTES } from './attributes.ts';

/** Tells the server how a task stands, for lists, statistics and budgets: its state each time, of the rest what has changed. */
export class Told {
  #known = new Map<string, string>();

  begin({ queue, priority, type, repo, dependsOn }: Task): void {
    upsertSearchAttributes([
      { key: ATTRIBUTES.queue, value: queue },
      { key: ATTRIBUTES.priority, value: priority },
      { key: ATTRIBUTES.type, value: type },
      ...(repo ? [{ key: ATTRIBUTES.repo, value: repo }] : []),
      ...(dependsOn.length ? [{ key: ATTRIBUTES.dependsOn, value: dependsOn }] : []),
    ]);
  }

  priority(value: number): void {
    upsertSearchAttributes([{ key: ATTRIBUTES.priority, value }]);
  }

  dependsOn(value: string[]): void {
    upsertSearchAttributes([{ key: ATTRIBUTES.dependsOn, value }]);
  }

  state(view: TaskView): void {
    const { state, reason, worker, coder, model, usage, runs } = view;
    const tokens = usage.inputTokens + usage.outputTokens;
    const lines = runLines(runs);
    const costUsd = Number(usage.costUsd.toPrecision(9));
    upsertSearchAttributes([
      { key: ATTRIBUTES.state, value: state },
      ...(this.#differs('reason', reason) ? [{ key: ATTRIBUTES.reason, value: reason }] : []),
      ...(worker && this.#differs('worker', worker) ? [{ key: ATTRIBUTES.worker, value: worker }] : []),
      ...(coder && this.#differs('coder', coder) ? [{ key: ATTRIBUTES.coder, value: coder }] : []),
      ...(model && this.#differs('model', model) ? [{ key: ATTRIBUTES.model, value: model }] : []),
      ...(tokens && this.#differs('tokens', tokens) ? [{ key: ATTRIBUTES.tokens, value: tokens }] : []),
      ...(costUsd && this.#differs('costUsd', costUsd) ? [{ key: ATTRIBUTES.costUsd, value: costUsd }] : []),
      ...(lines.length && this.#differs('runs', lines.join()) ? [{ key: ATTRIBUTES.runs, value: lines }] : []),
    ]);
  }

  #differs(name: string, value: string | number | null): boolean {
    const text = value === null ? '' : String(value);
    if ((this.#known.get(name) ?? '') === text) return false;
    this.#known.set(name, text);
    return true;
  }
}
