import { expect, test } from '@jest/globals';
import { connectFleet } from '../../src/client.ts';
import { startTemporal } from '../helpers/temporal.ts';
import { until } from '../helpers/until.ts';
import { standIn } from './stand-in.ts';

const HOUR_MS = 3_600_000;

test.each([HOUR_MS, -HOUR_MS])(
  'a worker whose clock is %i ms ahead is shown by the clock of the server',
  async (aheadMs) => {
    const server = await startTemporal();
    try {
      const began = Date.now();
      await using _ = await standIn(server.address, { aheadMs });
      await using fleet = await connectFleet({ env: server.env });
      const worker = await until(async () => (await fleet.workers()).find(({ view }) => view));
      const near = (iso: string | null | undefined) =>
        expect(Math.abs(Date.parse(iso ?? '') - began)).toBeLessThan(60_000);
      near(worker.attachedAt);
      near(worker.heardAt);

      const id = await fleet.enqueue({ objective: 'block', type: 'research' });
      const { live } = await until(async () => {
        const report = await fleet.view(id);
        return report.live?.lastEventAt ? report : undefined;
      });
      near(live?.lastEventAt);
      await fleet.cancel(id);
    } finally {
      await server.stop();
    }
  },
);
