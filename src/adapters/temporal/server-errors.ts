import { statfs } from 'node:fs/promises';
import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { resolveHome } from '../../config.ts';
import { FleetError } from '../../domain/error.ts';
import { clientOptions } from './connection.ts';
import { ownDevServer } from './dev-server.ts';

const TROUBLE = { DEADLINE_EXCEEDED: 4, RESOURCE_EXHAUSTED: 8, INTERNAL: 13, UNAVAILABLE: 14 };
const GONE = /ECONNREFUSED|ECONNRESET|No connection established|Connection dropped/;
/** What history answers once a write has failed, for as long as none succeeds. */
const STUCK = /shard status unknown/;
const FULL = /disk is full|no space left/i;
/** Less than one write-ahead segment of the database. */
const FULL_BYTES = 1024 * 1024;

/** One sentence for a server that was there and did not do what it was asked; undefined for an error of any other kind. */
export async function serverTrouble(error: unknown, env: NodeJS.ProcessEnv): Promise<FleetError | undefined> {
  const said = error instanceof ServiceError ? error.cause : error;
  if (error instanceof FleetError || !isGrpcServiceError(said)) return undefined;
  if (!Object.values(TROUBLE).includes(said.code)) return undefined;
  const { address } = await clientOptions(env);
  const sentence = (text: string) =>
    new FleetError('unavailable', `the Temporal server at ${address} ${text}`, { cause: error });
  if (FULL.test(said.details) || (await isFull(env, address)))
    return sentence('has a full disk and can write nothing: free some space there, and it goes on by itself');
  if (STUCK.test(said.details)) return sentence('cannot write to its database: look whether its disk is full');
  if (GONE.test(said.details))
    return sentence("is gone: start it again, with `fleet up` where it is this machine's own");
  if (said.code === TROUBLE.DEADLINE_EXCEEDED)
    return sentence(
      'did not answer in time: it is busy, hangs or cannot be reached any more; look at its load, and try again',
    );
  if (said.code === TROUBLE.INTERNAL) return undefined;
  return sentence(`cannot do this now: ${said.details}`);
}

/** A dev server does not say itself that its disk is full. */
async function isFull(env: NodeJS.ProcessEnv, address: string): Promise<boolean> {
  const home = resolveHome(env);
  if ((await ownDevServer(home))?.address !== address) return false;
  const { bavail, bsize } = await statfs(home);
  return bavail * bsize < FULL_BYTES;
}
