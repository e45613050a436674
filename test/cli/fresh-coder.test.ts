import { expect, test } from '@jest/globals';
import { connectFleet } from '../../src/client.ts';
import { attachRecord } from '../../src/workers/record.ts';
import { startTemporal } from '../helpers/temporal.ts';

test('the coder of a worker that comes while a task is checked is not unknown', async () => {
  const server = await startTemporal();
  try {
    await using fleet = await connectFleet({ env: server.env });
    const task = { objective: 'x', type: 'research', coder: 'fresh', review: { coder: 'fresh' } } as const;
    const enqueued = fleet.enqueue(task);
    enqueued.catch(() => undefined);
    await fleet.workers();
    await attachRecord(fleet.temporal, {
      ...{ name: 'ada', machine: 'm', hostQueue: 'host/ada-1', queues: ['fleet'], version: '0', pid: 1, slots: 1 },
      ...{ coders: [{ name: 'fresh', version: '1' }], since: new Date().toISOString() },
      lease: { heartbeatMs: 5_000, graceMs: 5_000 },
    });
    expect(await enqueued).toMatch(/^x-/);
  } finally {
    await server.stop();
  }
});
