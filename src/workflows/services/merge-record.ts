import {
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  setCurrentDetails,
  upsertMemo,
} from '@temporalio/workflow';
import {
  mergeOrder,
  placesToTell,
  shownOf,
  type MergeAnswer,
  type MergeEntry,
  type MergeQueueRecord,
} from '../../domain/deliver/merge.ts';
import { mergedSignal } from '../messages.ts';

/** One place that changes what a merge queue has waiting, and tells its tasks. */
export class MergeState {
  readonly record: MergeQueueRecord;
  #changed = true;
  /** What is being merged, and who of them wants to leave: these hear of it once it is known what became of them. */
  #underWay: readonly MergeEntry[] = [];
  readonly #leaving = new Set<string>();

  constructor(kept: MergeQueueRecord) {
    this.record = { ...kept, waiting: [...kept.waiting] };
  }

  ordered = (): MergeQueueRecord['waiting'] => mergeOrder(this.record.waiting, Date.now());

  enter(entry: MergeEntry): void {
    if (this.wants(entry)) return;
    this.leave(entry.id);
    this.record.waiting.push(entry);
  }

  leave(id: string): void {
    this.record.waiting = this.record.waiting.filter((other) => other.id !== id);
    this.#changed = true;
  }

  /** At its task's word. */
  quit(id: string): void {
    this.leave(id);
    if (this.#underWay.some((member) => member.id === id)) this.#leaving.add(id);
    else this.#sayLeft(id);
  }

  begin(members: readonly MergeEntry[]): void {
    this.#underWay = members;
  }

  /** Who left meanwhile, and was told nothing, was not merged; `unsure`: nobody knows. */
  ended({ unsure = false } = {}): void {
    this.#underWay = [];
    if (!unsure) this.#leaving.forEach((id) => this.#sayLeft(id));
    this.#leaving.clear();
  }

  #sayLeft(id: string): void {
    void this.#signal(id, { left: true }).catch(() => undefined);
  }

  /** It waits, and for this result of its task. */
  wants = ({ id, commit }: Pick<MergeEntry, 'id' | 'commit'>): boolean =>
    this.record.waiting.some((other) => other.id === id && other.commit === commit);

  /** The last word to a task. */
  async tell(id: string, answer: Exclude<MergeAnswer, { place: number } | { left: true }>): Promise<void> {
    this.#leaving.delete(id);
    await this.#signal(id, answer);
    this.leave(id);
  }

  /** For as long as the queue is there: lists show what waits, and tasks hear of their places. */
  async attend(): Promise<void> {
    for (;;) {
      await condition(() => this.#changed);
      this.#changed = false;
      this.#publish();
      for (const { entry, place } of placesToTell(this.ordered())) {
        if (!this.record.waiting.includes(entry)) continue;
        entry.place = place;
        if (!(await this.#signal(entry.id, { place }))) this.leave(entry.id);
      }
    }
  }

  /** Lists read the memo: for that, nobody needs to answer. */
  #publish(): void {
    const merges = shownOf(this.record, this.ordered());
    upsertMemo({ merges });
    setCurrentDetails(`${merges.count} waiting to be merged into ${merges.into}`);
  }

  /** False: it is closed. */
  async #signal(id: string, answer: MergeAnswer): Promise<boolean> {
    try {
      await getExternalWorkflowHandle(id).signal(mergedSignal, answer);
      return true;
    } catch (error) {
      if (isCancellation(error)) throw error;
      return false;
    }
  }
}
