import {
  QueryNotRegisteredError,
  ServiceError,
  WorkflowNotFoundError,
  isGrpcDeadlineError,
  type Client,
} from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import type { ServerIdentity } from '../adapters/temporal/server-identity.ts';
import type { Config } from '../config.ts';
import { type FleetError, notFound } from '../domain/error.ts';

/** What every part of the client works over. */
export interface FleetConnection {
  client: Client;
  config: Config;
}

/** What is done of a connection as a whole. */
export interface Ends {
  prepare(): Promise<void>;
  identify(): Promise<ServerIdentity>;
  close(): Promise<void>;
}

/** A worker that is there answers a query or an update well within this. */
const ANSWER_MS = 3_000;
const CANCELLED = 1;
const NOT_FOUND = 5;
const FAILED_PRECONDITION = 9;
const UNAVAILABLE = 14;

/** Undefined where no worker answered in time: an expected outcome, as workers come and go. */
export async function answered<T>(
  { client }: FleetConnection,
  call: () => Promise<T>,
  ms = ANSWER_MS,
): Promise<T | undefined> {
  try {
    return await client.withDeadline(Date.now() + ms, call);
  } catch (error) {
    // Of a queue that nobody has polled for minutes a query is refused; where the last worker just went, it is cancelled.
    // An invalid task that has just ended has no queries at all.
    if (error instanceof QueryNotRegisteredError) return undefined;
    if (isGrpcDeadlineError(error) || [CANCELLED, FAILED_PRECONDITION].includes(codeOf(error) ?? 0)) return undefined;
    throw error;
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError || codeOf(error) === NOT_FOUND;
}

/** Nobody accepts connections there: a server that is only slow lets a call time out. */
export const isUnavailable = (error: unknown): boolean => codeOf(error) === UNAVAILABLE;

/** The gRPC code: a worker's connection has it on the error itself, a client's on its cause. */
function codeOf(error: unknown): number | undefined {
  const chain = error instanceof ServiceError ? [error, error.cause] : [error];
  const codes = chain.map((one): unknown => (one as { code?: unknown } | null | undefined)?.code);
  return codes.find((code) => typeof code === 'number');
}

export const unknownTask = (id: string, why = ''): FleetError =>
  notFound(`there is no task ${id}${why && `: ${why}`}`, {
    hint: 'fleet tasks --all lists all that the server remembers',
  });

/** The first of some payloads, e.g. of heartbeat details. */
export async function decoded(client: Client, payloads: readonly Payload[]): Promise<unknown> {
  const { payloadConverter, payloadCodecs } = client.options.loadedDataConverter;
  let plain = [...payloads];
  for (const codec of [...payloadCodecs].reverse()) plain = await codec.decode(plain);
  return plain[0] && payloadConverter.fromPayload(plain[0]);
}

/** In order, `width` at a time. */
export async function mapBounded<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane));
  return results;
}
