import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectFleet, type Fleet } from '../../src/client.ts';
import { tempDir } from '../helpers/temp.ts';
import { startTemporal, type TestServer } from '../helpers/temporal.ts';
import { until } from '../helpers/until.ts';
import { cli } from './world.ts';

/** No worker is attached: what is asked of the server is seen at the server. */
let server: TestServer;
let temp: Awaited<ReturnType<typeof tempDir>>;
let fleet: Fleet;

beforeAll(async () => {
  [server, temp] = await Promise.all([startTemporal(), tempDir()]);
  fleet = await connectFleet({ env: server.env });
});
afterAll(async () => {
  await fleet?.close();
  await server?.stop();
  await temp?.[Symbol.asyncDispose]();
});

const make = (ids: string[], labels: string[], dependsOn: string[] = []) =>
  fleet.enqueueAll(ids.map((id) => ({ id, input: { objective: id, type: 'research', labels, dependsOn } })));
const asked = async (id: string) => {
  const events = (await fleet.temporal.workflow.getHandle(id).fetchHistory()).events ?? [];
  return events.some(({ workflowExecutionCancelRequestedEventAttributes: cancelled }) => cancelled);
};
const run = (argv: string[], answer?: string) =>
  cli(argv, { env: server.env, ...(answer === undefined ? {} : { ask: async () => answer }) });
const indexed = (label: string, n: number) =>
  until(async () => (await fleet.findOpen({ labels: [label], states: [] }, 9)).length === n);

test('several ids: all are known before one is cancelled, and a person agrees', async () => {
  await make(['a1', 'a2', 'a3'], ['ids']);
  expect(await run(['cancel', 'a1', 'nope', '--yes'])).toMatchObject({
    code: 2,
    err: 'fleet: there is no task nope\n',
  });
  const unasked = await run(['cancel', 'a1', 'a2']);
  expect(unasked).toMatchObject({ code: 2, out: '' });
  expect(unasked.err).toContain('say --yes');
  expect(await run(['cancel', 'a1', 'a2'], 'n')).toMatchObject({ code: 1, out: '' });
  expect(await Promise.all(['a1', 'a2'].map(asked))).toEqual([false, false]);

  expect(await run(['cancel', 'a1', 'a2'], 'y')).toMatchObject({ code: 0 });
  expect(await Promise.all(['a1', 'a2', 'a3'].map(asked))).toEqual([true, true, false]);
  // One alone is not asked about.
  expect(await run(['cancel', 'a3'])).toMatchObject({ code: 0, out: 'task a3 is being cancelled\n' });
});

test('by label and by state, up to a bound', async () => {
  await make(['b1', 'b2'], ['web', 'api']);
  await make(['b3'], ['web'], ['b1']);
  await indexed('web', 3);
  expect(await run(['cancel', '--label', 'web', '--most', '2', '--yes'])).toMatchObject({
    ...{ code: 2, out: '', err: 'fleet: these are more than 2 tasks: say --most <n>, or name fewer\n' },
  });
  const waiting = await run(['cancel', '--label', 'web', '--state', 'blocked', '--json']);
  expect([waiting.code, waiting.json()]).toEqual([0, { cancelled: ['b3'], left: [] }]);
  const both = await run(['cancel', '--label', 'web', '--label', 'api', '--yes', '--json']);
  expect(both.json()).toEqual({ cancelled: expect.arrayContaining(['b1', 'b2']), left: [] });
  expect(await Promise.all(['b1', 'b2', 'b3'].map(asked))).toEqual([true, true, true]);
  expect(await run(['cancel', '--label', 'none'])).toMatchObject({ code: 0, out: 'no open task is like that\n' });
});

test('what has closed, or left its state, is left as it is and said', async () => {
  await make(['c1', 'c2'], ['gone']);
  await fleet.temporal.workflow.getHandle('c1').terminate();
  expect(await run(['cancel', 'c1', 'c2', '--yes'])).toMatchObject({
    ...{ code: 2, out: 'task c2 is being cancelled\n', err: 'task c1 is cancelled already\n' },
  });
  await make(['c3'], ['later']);
  expect(await fleet.cancelMany(['c3'], { states: ['blocked'] })).toEqual([{ id: 'c3', why: 'task c3 is queued now' }]);
  expect(await asked('c3')).toBe(false);
});
