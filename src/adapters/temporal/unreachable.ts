import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { FleetError } from '../../domain/error.ts';
import { isOfThisMachine, listens, splitAddress } from './address.ts';

const REFUSED = [7, 16]; // PERMISSION_DENIED, UNAUTHENTICATED
const DEFAULT_PORT = 7233;

/** No Temporal server answers, or it refuses this client. */
export class ServerUnreachable extends FleetError {
  override readonly name: string = 'ServerUnreachable';
  /** Something accepts connections at its address: it may be a server that is only busy. */
  readonly accepts: boolean;

  constructor(message: string, { accepts, cause }: { accepts: boolean; cause: unknown }) {
    super(isRefusal(cause) ? 'permission-denied' : 'unavailable', message, { cause });
    this.accepts = accepts;
  }
}

/** The server answered, and does not let this client in: to ask again is of no use. */
export function isRefusal(error: unknown): boolean {
  const said = saidOf(error);
  return isGrpcServiceError(said) && REFUSED.includes(said.code);
}

/**
 * One sentence for a server that did not answer within `waitedMs`, or refuses; `error`: what the client was told. A server
 * that accepts connections may be healthy, and under load.
 */
export async function unreachable(
  address: string,
  { error, waitedMs = 0 }: { error?: unknown; waitedMs?: number } = {},
): Promise<ServerUnreachable> {
  const open = !isRefusal(error) && (await listens(address));
  const fail = (sentence: string) => new ServerUnreachable(sentence, { accepts: open, cause: error });
  if (isRefusal(error))
    return fail(`the Temporal server at ${address} refuses this client: ${(saidOf(error) as Error).message}`);
  if (open)
    return fail(
      `no Temporal server answered at ${address}${waitedMs ? ` within ${Math.round(waitedMs / 1_000)}s` : ''}, though something accepts connections there: it may be busy, so look at the load of its machine and try again; where it is no Temporal server, set TEMPORAL_ADDRESS`,
    );
  if (!(await isOfThisMachine(address)))
    return fail(
      `no Temporal server answers at ${address}: look whether it runs there and this machine can reach it, or set TEMPORAL_ADDRESS`,
    );
  const { port } = splitAddress(address);
  // `fleet up` starts one at the default port alone.
  const how = port === DEFAULT_PORT ? 'fleet up' : `temporal-dev.sh --port ${port}`;
  return fail(`no Temporal server answers at ${address}: start one with \`${how}\`, or set TEMPORAL_ADDRESS`);
}

const saidOf = (error: unknown): unknown => (error instanceof ServiceError ? error.cause : error);
