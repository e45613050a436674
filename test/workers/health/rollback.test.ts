import { expect, jest, test } from '@jest/globals';
import { acceptRollback, readNotices } from '../../../src/client/fleet/rollback.ts';
import type { FleetConnection } from '../../../src/client/connection.ts';
import { tempDir } from '../../helpers/temp.ts';
import { site, type Server, type Stand } from '../rollback-site.ts';

const CLAIM = { workflowRunId: 'run-of-else', n: 1 };
const tasksOf = async (server: Server) =>
  (await readNotices(server.client)).flatMap(({ runs }) => runs.map(({ taskId }) => taskId));

test('what the server forgot stays missing when newer work is known, over a restart, until the newer data is back', async () => {
  await using temp = await tempDir();
  const { server, worker } = site(temp.path);
  const ada = await worker('ada');
  for (const id of ['long', 'one', 'two']) ada.work(id, 'createWorktree');
  const older = server.copy();
  ada.work('one', 'releaseRun');
  ada.work('two', 'releaseRun');
  await ada.watch.look();
  expect(ada.watch.noticed).toBe(false);

  const newer = server.copy();
  server.data = older;
  await ada.watch.look();
  expect([ada.holds.open, await tasksOf(server)]).toEqual([false, ['two', 'one']]);
  ada.work('long', 'releaseRun');
  await ada.watch.look();
  expect(ada.holds.open).toBe(false);
  const again = await worker('ada');
  expect([again.holds.open, await tasksOf(server)]).toEqual([false, ['two', 'one']]);

  // What was done meanwhile on the older data is what the newer data lacks.
  server.data = newer;
  await again.watch.look();
  expect(await tasksOf(server)).toEqual(['long']);
  server.data.histories['run-of-long'] = structuredClone(older.histories['run-of-long']!);
  await again.watch.look();
  expect([again.holds.open, await tasksOf(server)]).toEqual([true, []]);
});

test('a copy from between is named by what it lacks, and a task that was deleted is not waited for by it', async () => {
  await using temp = await tempDir();
  const { server, worker } = site(temp.path);
  const ada = await worker('ada');
  const older = server.copy();
  ada.work('one', 'createWorktree');
  const between = server.copy();
  ada.work('two', 'createWorktree');
  ada.work('three', 'createWorktree');
  const newer = server.copy();
  server.data = older;
  await ada.watch.look();
  expect(await tasksOf(server)).toEqual(['three', 'two', 'one']);
  server.data = between;
  await ada.watch.look();
  expect(await tasksOf(server)).toEqual(['three', 'two']);
  delete newer.histories['run-of-two'];
  server.data = newer;
  await ada.watch.look();
  expect(ada.holds.open).toBe(true);
});

test('a history that went on from the older copy with the same numbers is not taken for the one that was lost', async () => {
  await using temp = await tempDir();
  const { server, worker } = site(temp.path);
  const ada = await worker('ada');
  ada.work('one', 'createWorktree');
  const older = server.copy();
  ada.work('one', 'releaseRun');
  server.data = older;
  server.now += 5_000;
  server.data.histories['run-of-one']!.push({
    ...{ activityType: 'releaseRun', activityId: '2', at: new Date(server.now).toISOString() },
  });
  await ada.watch.look();
  expect(await tasksOf(server)).toEqual(['one']);
});

test('other workers hold for what one has noticed, without an alert of theirs, until a person accepts it; a worker that comes later is covered', async () => {
  await using temp = await tempDir();
  const { server, worker } = site(temp.path);
  const [ada, bob, eve] = [await worker('ada'), await worker('bob'), await worker('eve')];
  const older = server.copy();
  eve.work('zero', 'createWorktree');
  ada.work('one', 'createWorktree');
  server.data = older;
  await ada.watch.look();
  await bob.watch.lookBeforeClaim(CLAIM);
  expect([bob.watch.noticed, bob.holds.open]).toEqual([true, false]);
  const alerts = ({ holds }: Stand) => holds.causes.filter((cause) => holds.trouble(cause) !== undefined);
  expect([alerts(ada).length, alerts(bob).length]).toEqual([1, 0]);

  const said = { by: 'jo@desk', why: 'the newer file is gone' };
  const wire = { client: server.client } as FleetConnection;
  expect((await acceptRollback(wire, said)).map(({ taskId }) => taskId)).toEqual(['one']);
  for (const one of [bob, ada, eve]) {
    await one.watch.look();
    expect(one.holds.open).toBe(true);
  }
  expect([ada.ledger.has({ workflowRunId: 'run-of-one', n: 1 }), await acceptRollback(wire, said)]).toEqual([
    false,
    [],
  ]);

  // The next rollback is another one, also to a copy that has the acceptance.
  const accepted = server.copy();
  ada.work('later', 'createWorktree');
  server.data = accepted;
  await ada.watch.look();
  expect([ada.holds.open, await tasksOf(server)]).toEqual([false, ['later']]);
});

test('a claim of a run that was here shows a rollback by itself, and holds until it is accepted', async () => {
  await using temp = await tempDir();
  const { server, worker } = site(temp.path);
  const ada = await worker('ada');
  ada.work('one', 'createWorktree');
  delete server.data.histories['run-of-one'];
  ada.work('two', 'createWorktree');
  await ada.watch.look();
  expect(ada.holds.open).toBe(true);
  await ada.watch.lookBeforeClaim({ workflowRunId: 'run-of-one', n: 1 });
  expect([ada.holds.open, await tasksOf(server)]).toEqual([false, ['one']]);
  await acceptRollback({ client: server.client } as FleetConnection, { by: 'jo@desk', why: '' });
  await ada.watch.lookBeforeClaim({ workflowRunId: 'run-of-one', n: 1 });
  expect(ada.holds.open).toBe(true);
});

test('a look begins after it was asked for: an answer of the server of before does not count', async () => {
  await using temp = await tempDir();
  const { server, worker } = site(temp.path);
  const ada = await worker('ada');
  const older = server.copy();
  ada.work('one', 'createWorktree');
  let answer = () => {};
  server.late = new Promise((resolve) => (answer = resolve));
  const newer = server.data;
  const before = ada.watch.look();
  const asked = ada.watch.look();
  answer();
  await before;
  expect(server.data).toBe(newer);
  server.data = older;
  await asked;
  expect(ada.holds.open).toBe(false);
});

test('while the server is away nothing changes, and after it others have time to look before the next claim', async () => {
  await using temp = await tempDir();
  const { server, worker } = site(temp.path);
  const bob = await worker('bob');
  await bob.watch.lookBeforeClaim(CLAIM);
  server.away = true;
  await expect(bob.watch.look()).rejects.toThrow('away');
  server.away = false;
  await expect(bob.watch.lookBeforeClaim(CLAIM)).rejects.toThrow('other workers compare');
  expect(bob.holds.open).toBe(true);
  const later = performance.now() + 6_000;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => later);
  try {
    await bob.watch.lookBeforeClaim(CLAIM);
  } finally {
    clock.mockRestore();
  }
});

test('a slow server is asked again, and a look that had no answer in time refuses no claim', async () => {
  await using temp = await tempDir();
  const { server, worker } = site(temp.path);
  const bob = await worker('bob');
  server.slow = 1;
  await expect(bob.watch.look()).rejects.toThrow('Timeout expired');
  await bob.watch.lookBeforeClaim(CLAIM);
  server.slow = 1;
  await bob.watch.lookBeforeClaim(CLAIM);
  server.slow = 100;
  await expect(bob.watch.lookBeforeClaim(CLAIM)).rejects.toThrow('Timeout expired');
  server.slow = 0;
  await bob.watch.lookBeforeClaim(CLAIM);
  expect([bob.holds.open, server.slow]).toEqual([true, 0]);
});
