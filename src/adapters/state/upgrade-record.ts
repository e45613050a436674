import { mergePolicy, repoFile } from '../../domain/repository/repo-policy.ts';
import type { RunRecord } from './run-record.ts';

/** As of this version: up to 0.1 a record had the server's address, and a policy asked for less. */
export function upgraded(record: RunRecord, server: string): RunRecord {
  const { prepared } = record;
  return {
    ...record,
    credential: record.credential ?? null,
    server: record.server.includes('/') ? server : record.server,
    prepared: prepared && {
      ...prepared,
      policy: { ...mergePolicy(prepared.task, repoFile.parse({})), ...prepared.policy },
    },
  };
}
