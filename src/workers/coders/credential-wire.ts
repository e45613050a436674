import { WorkflowUpdateFailedError, type Client } from '@temporalio/client';
import { CREDENTIAL_QUEUE, CREDENTIAL_TYPE, credentialId } from '../../domain/names.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import {
  named,
  newCredential,
  type CredentialRecord,
  type Seat,
  type SeatHolder,
  type SeatReport,
} from '../../domain/scheduling/seats.ts';
import { giveBackSignal, leaseUpdate, namedSignal, reportSignal } from '../../workflows/messages.ts';

/** Well within the time that a claim has. */
const LEASE_MS = 1_200;
const DEADLINE_MS = 3_000;

/** Talks to the durable states of credentials: see the workflow `fleetCredential`. */
export class CredentialWire {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** True, or why there is none. */
  async lease(credential: string, seat: Omit<Seat, 'since'>): Promise<true | string> {
    const handle = this.#client.workflow.getHandle(credentialId(credential));
    try {
      await this.#within(() => handle.executeUpdate(leaseUpdate, { args: [seat], updateId: seat.runId }), LEASE_MS);
      return true;
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError && error.cause) return error.cause.message;
      return `the state of credential ${credential} does not answer`;
    }
  }

  giveBack(credential: string, back: { runId: string; tokens: number }): Promise<void> {
    return this.#within(() =>
      this.#client.workflow.getHandle(credentialId(credential)).signal(giveBackSignal, back),
    ).catch(unlessGone);
  }

  report(credential: string, report: SeatReport): Promise<void> {
    return this.#within(() =>
      this.#client.workflow.getHandle(credentialId(credential)).signal(reportSignal, report),
    ).catch(unlessGone);
  }

  /** Starts the state, with what is known of it from before, or tells it that the worker is there. */
  async name(said: { name: string; coder: string; holder: SeatHolder; runs: RunRef[] }): Promise<void> {
    const { name, coder, holder, runs } = said;
    const kept = (await this.read(name)) ?? newCredential(name, coder);
    const record = named({ ...kept, coder }, { holder, runs, now: new Date().toISOString() });
    await this.#within(() =>
      this.#client.workflow.signalWithStart(CREDENTIAL_TYPE, {
        ...{ workflowId: credentialId(name), taskQueue: CREDENTIAL_QUEUE, args: [record], memo: { record } },
        ...{ staticSummary: `credential ${name} of ${coder}`, signal: namedSignal, signalArgs: [{ holder, runs }] },
      }),
    );
  }

  /** Undefined where there is none. */
  async read(name: string): Promise<CredentialRecord | undefined> {
    try {
      const { memo } = await this.#within(() => this.#client.workflow.getHandle(credentialId(name)).describe());
      return memo?.['record'] as CredentialRecord | undefined;
    } catch (error) {
      unlessGone(error);
      return undefined;
    }
  }

  /** Those that are open; empty where the server does not say. */
  async all(): Promise<CredentialRecord[]> {
    const query = `WorkflowType = '${CREDENTIAL_TYPE}' AND ExecutionStatus = 'Running'`;
    const records: CredentialRecord[] = [];
    try {
      for await (const { memo } of this.#client.workflow.list({ query }))
        if (memo?.['record']) records.push(memo['record'] as CredentialRecord);
    } catch {
      return [];
    }
    return records;
  }

  #within<T>(call: () => Promise<T>, ms = DEADLINE_MS): Promise<T> {
    return this.#client.withDeadline(Date.now() + ms, call);
  }
}

/** A state that somebody ended is begun anew by the next look. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof Error && error.name === 'WorkflowNotFoundError')) throw error;
}
