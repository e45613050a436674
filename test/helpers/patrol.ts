import { expect } from '@jest/globals';
import type { PatrolRound } from '../../src/domain/produce/patrol.ts';
import type { TestFleet } from './fleet.ts';

/** Says something, and is done with it. */
export const TALKER = { command: ['sh', '-c', 'cat > /dev/null; echo done'], protocol: 'none' as const };

/** Of a queue of its own, so that the rounds of each test are by its worker. */
export async function patrolRound(fleet: TestFleet, queue: string): Promise<PatrolRound> {
  const { stdout, stderr, code } = await fleet.cli(['patrol', '--queue', queue, '--json']);
  expect([stderr, code]).toEqual(['', 0]);
  return JSON.parse(stdout) as PatrolRound;
}

/** A task that changes no files, and is done by a command. */
export const message = (id: string, more: object = {}) => ({
  objective: id,
  type: 'message' as const,
  verify: ['true'],
  deliver: 'none' as const,
  ...more,
});
