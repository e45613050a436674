import { notFound } from '../../domain/error.ts';
import { CREDENTIAL_TYPE, credentialId } from '../../domain/names.ts';
import type { CredentialRecord } from '../../domain/scheduling/seats.ts';
import { mendedSignal } from '../../workflows/messages.ts';
import { isNotFound, mapBounded, type FleetConnection } from '../connection.ts';

const WIDTH = 16;

/** All credentials that a worker has named, by name. No worker needs to answer. */
export async function listCredentials(wire: FleetConnection): Promise<CredentialRecord[]> {
  const ids = new Set<string>();
  const query = `WorkflowType = '${CREDENTIAL_TYPE}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of wire.client.workflow.list({ query })) ids.add(workflowId);
  const found = await mapBounded([...ids].sort(), WIDTH, (id) => readRecord(wire, id));
  return found.flatMap((record) => record ?? []);
}

/** Undefined where no worker has named it. */
export const findCredential = (wire: FleetConnection, name: string): Promise<CredentialRecord | undefined> =>
  readRecord(wire, credentialId(name));

/** A person says that a credential is as it should be. @throws FleetError (2) where there is none of that name */
export async function mendCredential(wire: FleetConnection, name: string, by: string): Promise<CredentialRecord> {
  const record = await findCredential(wire, name);
  if (!record) {
    const names = (await listCredentials(wire)).map((one) => one.name);
    const known = names.length ? `known are ${names.join(', ')}` : 'no worker has named one yet';
    throw notFound(`there is no credential ${name}: ${known}`);
  }
  await wire.client.workflow.getHandle(credentialId(name)).signal(mendedSignal, { by });
  return record;
}

async function readRecord({ client }: FleetConnection, id: string): Promise<CredentialRecord | undefined> {
  try {
    const { memo, status } = await client.workflow.getHandle(id).describe();
    return status.name === 'RUNNING' ? (memo?.['record'] as CredentialRecord | undefined) : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
