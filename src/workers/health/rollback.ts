import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Holds } from '../../activities/worker/claim-holds.ts';
import type { RollbackCheck } from '../../activities/worker/services.ts';
import type { Ledger, LedgerEntry } from '../../adapters/state/ledger.ts';
import { identifyServer } from '../../adapters/temporal/server-identity.ts';
import { readAccepted, readRollback, writeNotices } from '../../client/fleet/rollback.ts';
import { isNotFound, isUnavailable } from '../../client/connection.ts';
import { openNotices, rollbackSentence, type ForgottenRun, type RollbackNotice } from '../../domain/worker/rollback.ts';

const EVERY_MS = 3_000;
/** After the server was away: every worker has looked by then, and said what it noticed. */
const OTHERS_LOOK_MS = 2 * EVERY_MS;
const DEADLINE_MS = 3_000;
const PAGE = 200;
/** The server keeps no more than some MB of what all workers noticed. */
const NAMED = 100;
const SCHEDULED = proto.temporal.api.enums.v1.EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED;

/** Causes of the hold: what this worker noticed itself, and what others did. */
const OWN = 'rollback';
const OTHERS = 'rollback elsewhere';

interface Watched {
  client: Client;
  holds: Holds;
  ledger: Ledger;
  worker: { name: string; hostQueue: string };
  log(line: string): void;
}

/**
 * Compares what this worker did with the server's history of it: at the start, every three seconds, and before each claim.
 * A server that knows less has lost what came after a copy of its data was made. What it lost is kept in the ledger and
 * said on the server, for all workers: none takes new work until the server knows it again, or a person has accepted
 * the older data. What cannot be asked now changes nothing.
 */
export class RollbackWatch implements RollbackCheck {
  readonly #watched: Watched;
  #looking: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #awayAt = Number.NEGATIVE_INFINITY;

  private constructor(watched: Watched) {
    this.#watched = watched;
  }

  static async start(watched: Watched): Promise<RollbackWatch> {
    const watch = new RollbackWatch(watched);
    watch.#hold([]);
    const look = () => void watch.look().catch(() => undefined);
    await watch.look().catch(() => undefined);
    watch.#timer = setInterval(look, EVERY_MS);
    return watch;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.allSettled([this.#looking, this.#next]);
  }

  get noticed(): boolean {
    const { holds } = this.#watched;
    return holds.has(OWN) || holds.has(OTHERS);
  }

  async lookBeforeClaim(run: { workflowRunId: string; n: number }): Promise<void> {
    const { ledger } = this.#watched;
    if (ledger.has(run)) ledger.missRun(run);
    await this.look().catch((error: unknown) => {
      if (isUnavailable(error)) throw error;
      // One that is slow may be in time now.
      return this.look();
    });
    const waitMs = this.#awayAt + OTHERS_LOOK_MS - performance.now();
    if (waitMs > 0)
      throw new Error(`the server was away: other workers compare for ${Math.ceil(waitMs / 1_000)} s more`);
  }

  /** One that is under way may have been answered by the server of before: the next one counts, for all who wait. */
  look(): Promise<void> {
    if (!this.#looking) return this.#begin();
    this.#next ??= this.#looking
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#begin();
      });
    return this.#next;
  }

  #begin(): Promise<void> {
    const failed = (error: unknown): never => {
      if (isUnavailable(error)) this.#awayAt = performance.now();
      throw error;
    };
    this.#looking = this.#look()
      .catch(failed)
      .finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { client, ledger, log } = this.#watched;
    const before = ledger.missing.length;
    await this.#compare();
    if (ledger.missing.length > before) this.#hold([]);
    if (ledger.missing.length > 0) await this.#accept(await readAccepted(client));
    const notices = await this.#tell();
    const held = this.noticed;
    this.#hold(notices);
    if (held && !this.noticed)
      log('taking new work again: the server knows what was done here, or its data was accepted');
  }

  /** Newest first, as far as the server does not know it; what it knows again is not missing any more. */
  async #compare(): Promise<void> {
    const { client, ledger } = this.#watched;
    const missing = ledger.missing;
    const [newest] = missing;
    if (newest) {
      // Where the newest is known, all that it lacks was deleted one by one.
      const found = (await knows(client, newest)) ? missing : await knownOf(client, missing.toReversed());
      if (found.length > 0) ledger.find(found);
    }
    const lost: LedgerEntry[] = [];
    try {
      let retentionMs: number | undefined;
      for (const entry of ledger.expected) {
        if (await knows(client, entry)) break;
        retentionMs ??= (await identifyServer(client.connection, client.options.namespace)).retentionMs;
        // Closed tasks are forgotten after the server's retention.
        if (retentionMs && Date.now() - Date.parse(entry.at) >= retentionMs) break;
        lost.push(entry);
      }
    } finally {
      if (lost.length > 0) ledger.miss(lost);
    }
  }

  async #accept(accepted: { at: string; by: string } | null): Promise<void> {
    const { ledger, log } = this.#watched;
    const over = accepted ? ledger.missing.filter(({ at }) => at <= accepted.at) : [];
    if (over.length === 0) return;
    ledger.forget(over);
    log(`${accepted!.by} goes on with the older database: what it does not know of is not waited for any more`);
  }

  /** What this worker noticed, beside what others did; gives what counts of all. */
  async #tell(): Promise<RollbackNotice[]> {
    const { client, ledger, worker } = this.#watched;
    const { noticed, accepted } = await readRollback(client);
    const own = noticeOf(worker, ledger.missing);
    const others = noticed.filter(({ hostQueue }) => hostQueue !== worker.hostQueue);
    const written = noticed.find(({ hostQueue }) => hostQueue === worker.hostQueue);
    if (sameNotice(own, written)) return openNotices(noticed, accepted);
    const now = own ? [...others, own] : others;
    await writeNotices(client, now);
    return openNotices(now, accepted);
  }

  #hold(notices: readonly RollbackNotice[]): void {
    const { holds, ledger, worker, log } = this.#watched;
    const noticed = noticeOf(worker, ledger.missing);
    const own = noticed ? rollbackSentence([noticed]) : null;
    const others = notices.filter(({ hostQueue }) => hostQueue !== worker.hostQueue);
    const said = own === null && others.length > 0 ? rollbackSentence(others) : null;
    if (!this.noticed && (own ?? said)) log((own ?? said)!);
    holds.set(OWN, own);
    holds.set(OTHERS, said);
  }
}

/** As people are told: each run once. Undefined where nothing is missing. */
function noticeOf({ name, hostQueue }: Watched['worker'], missing: readonly LedgerEntry[]): RollbackNotice | undefined {
  const runs = new Map<string, ForgottenRun>();
  for (const { taskId, workflowRunId, n, activityType, at } of missing) {
    const key = `${workflowRunId}/${n}`;
    if (!runs.has(key)) runs.set(key, { taskId, n, ended: activityType === 'releaseRun', at });
  }
  const all = [...runs.values()];
  const more = Math.max(0, all.length - NAMED);
  return all.length > 0 ? { worker: name, hostQueue, runs: all.slice(0, NAMED), more } : undefined;
}

const sameNotice = (one: RollbackNotice | undefined, other: RollbackNotice | undefined): boolean =>
  one?.more === other?.more && isDeepStrictEqual(one?.runs, other?.runs);

/** The entries, oldest first, up to the first that the server does not know. */
async function knownOf(client: Client, entries: readonly LedgerEntry[]): Promise<LedgerEntry[]> {
  const known: LedgerEntry[] = [];
  for (const entry of entries) {
    if (!(await knows(client, entry))) break;
    known.push(entry);
  }
  return known;
}

/** Whether the workflow's history has come as far as the entry. */
async function knows(client: Client, entry: LedgerEntry): Promise<boolean> {
  const { namespace } = client.options;
  const execution = { workflowId: entry.taskId, runId: entry.workflowRunId };
  let nextPageToken: Uint8Array | undefined;
  do {
    try {
      const page = await client.withDeadline(Date.now() + DEADLINE_MS, () =>
        client.workflowService.getWorkflowExecutionHistoryReverse({
          ...{ namespace, execution, maximumPageSize: PAGE },
          ...(nextPageToken ? { nextPageToken } : {}),
        }),
      );
      if ((page.history?.events ?? []).some((event) => isEntry(event, entry))) return true;
      nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  } while (nextPageToken);
  return false;
}

/** A history that went on from an older copy counts its activities anew: only the time tells them apart. */
function isEntry(
  { eventType, eventTime, activityTaskScheduledEventAttributes: of }: proto.temporal.api.history.v1.IHistoryEvent,
  entry: LedgerEntry,
): boolean {
  const same = of?.activityId === entry.activityId && of.activityType?.name === entry.activityType;
  const atMs = Number(eventTime?.seconds ?? 0) * 1_000 + Number(eventTime?.nanos ?? 0) / 1e6;
  return eventType === SCHEDULED && same && Math.abs(atMs - Date.parse(entry.at)) < 2;
}
