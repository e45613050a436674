import type { Fleet } from '../../client.ts';
import type { Stamp } from '../../client/act/channel-calls.ts';
import { hasCode } from '../../domain/error.ts';
import { WAITING } from '../../domain/list/inbox.ts';
import { renewal } from '../../domain/scheduling/seats.ts';
import { reflect, tellEnds } from './reflect.ts';
import { want, type ChannelState, type StateFile } from './state.ts';
import { clip, line } from './text.ts';

/** A task that lists do not have is looked at again so often. */
const AGAIN_MS = 15_000;
/** Workers and credentials. */
const OTHERS_MS = 15_000;
/** Visibility lags: a task that was started a moment ago may not be listed yet. */
const LAG_MS = 60_000;
/** What is older was told elsewhere. */
const NEWS_MS = 86_400_000;
const WIDTH = 8;

interface Seen {
  stamp: string;
  atMs: number;
}

/** Looks at the fleet, by its lists and at what has changed, and makes the messages say it. Nothing of it is kept but the messages. */
export class Watch {
  readonly #file: StateFile;
  readonly #fleet: Fleet;
  readonly #place: { ownerChat: string; longest: number };
  readonly #seen = new Map<string, Seen>();
  #othersMs = 0;

  constructor(file: StateFile, fleet: Fleet, place: { ownerChat: string; longest: number }) {
    this.#file = file;
    this.#fleet = fleet;
    this.#place = place;
  }

  /** Tasks that wait are looked at in the next round, whatever lists say of them. */
  again(): void {
    for (const seen of this.#seen.values()) seen.atMs = 0;
  }

  async round(nowMs = Date.now()): Promise<void> {
    const { state } = this.#file;
    const asking = Object.values(state.messages).flatMap(({ about, closed }) => (about && !closed ? about.task : []));
    const followed = Object.entries(state.tasks).flatMap(([id, { open }]) => (open ? id : []));
    const known = [...new Set([...asking, ...followed])];
    const stamps = await this.#fleet.channel.stamps(known);
    const due = [...new Set([...stamps.keys(), ...known])].filter((id) => this.#isDue(id, stamps.get(id), nowMs));
    for (let at = 0; at < due.length; at += WIDTH)
      await Promise.all(due.slice(at, at + WIDTH).map((id) => this.#look(id, stamps.get(id)?.stamp ?? '', nowMs)));
    this.#file.change((now) => tellEnds(now, this.#place.longest, Date.now()));
    if (nowMs - this.#othersMs >= OTHERS_MS) {
      this.#othersMs = nowMs;
      await this.#others();
    }
  }

  #isDue(id: string, stamp: Stamp | undefined, nowMs: number): boolean {
    const seen = this.#seen.get(id);
    if (!stamp) return !seen || nowMs - seen.atMs >= AGAIN_MS;
    if (!seen || seen.stamp !== stamp.stamp) return true;
    return WAITING.includes(stamp.state) && seen.atMs === 0;
  }

  async #look(id: string, stamp: string, nowMs: number): Promise<void> {
    try {
      const report = await this.#fleet.view(id);
      this.#file.change((state) => reflect(state, report, this.#place));
      // Where no worker answered, it is asked again at once, and so is what lists do not know yet.
      this.#seen.set(id, { stamp: report.partial ? '' : stamp, atMs: nowMs });
    } catch (error) {
      if (!hasCode(error, 'not-found')) throw error;
      this.#file.change((state) => forgotten(state, id, { why: error.message, longest: this.#place.longest }));
    }
  }

  /** Each once for each time that it happens. */
  async #others(): Promise<void> {
    const [workers, credentials] = await Promise.all([this.#fleet.workers(), this.#fleet.credentials()]);
    const { ownerChat: chat } = this.#place;
    const nowMs = Date.now();
    this.#file.change((state) => {
      const tell = (key: string, text: string) => want(state, key, { chat, text: clip(text, 1_000), closed: true });
      for (const { name, machine, state: is, changedAt, view } of workers) {
        if (is === 'lost' && nowMs - Date.parse(changedAt) < NEWS_MS)
          tell(
            `worker/${name}/lost/${changedAt}`,
            `Worker ${name} on ${machine} was lost: others take its tasks over.`,
          );
        if (is === 'holding' && view)
          tell(
            `worker/${name}/holding/${view.since}`,
            `Worker ${name} on ${machine} takes no new work: ${line(view.holds.join('; '), 500)}`,
          );
      }
      for (const record of credentials)
        if (record.bad)
          tell(
            `credential/${record.name}/${record.bad.at}`,
            `Credential ${record.name} was refused (${line(record.bad.why, 300)}): ${renewal(record)}`,
          );
    });
  }
}

/** The server does not know the task, or not any more. */
function forgotten(state: ChannelState, id: string, { why, longest }: { why: string; longest: number }): void {
  const task = state.tasks[id];
  const nowMs = Date.now();
  if (task && nowMs - task.at < LAG_MS) return;
  if (task) task.open = false;
  for (const [key, message] of Object.entries(state.messages))
    if ((key === `task/${id}` || message.about?.task === id) && !message.closed)
      want(state, key, { ...message, text: clip(`${message.text}\n\n${why}`, longest), buttons: [], closed: true });
}
