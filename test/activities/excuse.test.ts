import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from '@jest/globals';
import type { Deps } from '../../src/activities/worker/context.ts';
import type { Attached } from '../../src/activities/worker/services.ts';
import { excuseOf } from '../../src/activities/worker/excuse.ts';
import type { Failure, Reason } from '../../src/domain/agent/failure.ts';
import type { Verdict } from '../../src/domain/evidence/receipt.ts';
import type { AgentOutcome } from '../../src/domain/run/outcome.ts';

const at = (name: string) =>
  ({ name, machine: 'm', hostQueue: `host/${name}`, queues: ['fleet'], coders: [{ name: 'codex' }] }) as Attached;

/** Of a run on worker A whose receipts said no for that reason. */
async function excuse(reason: Reason, given: { full?: boolean; beside?: string[]; fault?: string } = {}) {
  const { full = false, beside = [], fault } = given;
  const met: Failure[] = [];
  const deps = {
    worker: { name: 'A', machine: 'm', hostQueue: 'host/A' },
    attached: () => Promise.resolve(['A', ...beside].map(at)),
    fitness: { fault: () => Promise.resolve(fault), met: (failure: Failure) => void met.push(failure) },
    disk: { wasFullSince: () => Promise.resolve(full), excess: () => Promise.resolve(undefined) },
    registry: { find: () => ({ taskId: 't', wanting: { queue: 'fleet', repo: null, coder: 'codex' } }) },
  } as unknown as Deps;
  const outcome = { stopped: null, ended: null, startedAt: '2026-01-01T00:00:00Z', claim: '' } as unknown;
  const verdict = { accepted: false, reason, reasons: ['acceptance: no'] } as unknown as Verdict;
  const found = await new MockActivityEnvironment().run(() =>
    excuseOf(deps, { taskId: 't', runId: '1-a' }, { outcome: outcome as AgentOutcome, verdict }),
  );
  return { found: found as Failure | undefined, met };
}

test('a full disk excuses what its receipts do not show', async () => {
  expect((await excuse('receipts-rejected', { full: true })).found).toEqual({
    reason: 'disk',
    message: 'the disk was full while it ran; acceptance: no',
  });
  expect((await excuse('receipts-rejected')).found).toBeUndefined();
});

test.each<Reason>(['scope-violation', 'tampered', 'fabricated', 'blocked-by-agent', 'invalid-task', 'crashed'])(
  'it does not excuse %s',
  async (reason) => expect((await excuse(reason, { full: true })).found).toBeUndefined(),
);

test.each<Reason>(['check-cannot-start', 'setup-failed', 'coder-missing', 'repo-unavailable'])(
  '%s that a verification met may be its worker’s own: another one is tried first',
  async (reason) => {
    const failure = { reason, message: 'acceptance: no' };
    expect(await excuse(reason, { beside: ['B'] })).toEqual({ found: { ...failure, local: true }, met: [failure] });
    expect((await excuse(reason)).found).toBeUndefined();
  },
);

test('a machine that does not work excuses all of them', async () => {
  expect((await excuse('check-cannot-start', { fault: 'no', beside: ['B'] })).found).toEqual({
    reason: 'machine-fault',
    message: 'worker A: no',
  });
});
