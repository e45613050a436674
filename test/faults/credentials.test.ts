import { chmod } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { credentialId } from '../../src/domain/names.ts';
import { mostAtOnce, PLANTED, startCredentialLab } from '../helpers/credential-lab.ts';
import { startHook } from '../helpers/hook.ts';
import { until } from '../helpers/until.ts';
import { giveBackSignal, leaseUpdate, namedSignal, reportSignal } from '../../src/workflows/messages.ts';

let lab: Awaited<ReturnType<typeof startCredentialLab>>;

beforeAll(async () => {
  lab = await startCredentialLab();
}, 120_000);
afterAll(() => lab.fleet[Symbol.asyncDispose]());

test('two workers on one credential of one seat never run two at once, and its secret is nowhere in a history', async () => {
  const { fleet, on, runs, state } = lab;
  const { worker, enqueue } = on('one');
  await using _ada = await worker('one-a', { single: 1 });
  await using _eve = await worker('one-b', { single: 1 });
  const ids = await Promise.all(Array.from({ length: 6 }, () => enqueue()));
  for (const id of ids) expect(await fleet.settled(id)).toMatchObject({ state: 'done', attempts: { used: 1 } });
  expect(mostAtOnce(await runs(), 'single')).toBe(1);
  const record = await state('single', ({ seats }) => seats.length === 0);
  expect(record.holders).toHaveLength(2);
  expect(record.window?.tokens).toBe(6 * 110);
  const [report] = await Promise.all([fleet.fleet.view(ids[0]!), fleet.fleet.view(ids[1]!)]);
  expect(report.runs[0]).toMatchObject({ credential: 'single' });

  for (const id of [...ids, credentialId('single')]) {
    const history = JSON.stringify(await fleet.client.workflow.getHandle(id).fetchHistory());
    const texts = history.match(/"data":"[^"]*"/g) ?? [];
    const plain = texts.map((text) => Buffer.from(text.slice(8, -1), 'base64').toString());
    expect([history, ...plain].join('\n')).not.toContain(PLANTED);
  }
}, 180_000);

test('a limited credential rests, and its run goes on with another one; where all rest, claims wait for the reset', async () => {
  const { fleet, on, runs, stands, state } = lab;
  const { worker, enqueue } = on('limited');
  await using ada = await worker('limited', { 'lim-a': 1, 'lim-b': 1 });
  await stands('lim-a', { resetsAt: Math.floor(Date.now() / 1_000) + 600 });
  const id = await enqueue();
  const report = await fleet.settled(id);
  expect(report).toMatchObject({ state: 'done', attempts: { used: 1 } });
  expect(report.runs.map(({ credential, reason }) => [credential, reason])).toEqual([
    ['lim-a', 'rate-limited'],
    ['lim-b', null],
  ]);
  const resting = await state('lim-a', (record) => record.resting);
  expect(resting).toMatchObject({ limits: 1, seats: [] });

  // The other one too: the worker claims no more for this coder, and says until when.
  const resetsAt = Math.floor(Date.now() / 1_000) + 60;
  await stands('lim-b', { resetsAt });
  const later = await enqueue();
  await state('lim-b', (record) => record.resting);
  const untilReset = new Date(resetsAt * 1_000).toISOString();
  // Once the limited run has given its seat back: until then that is what lacks.
  await until(async () =>
    (await ada.view()).closed?.find(({ coder, until: at }) => coder === 'metered' && at === untilReset),
  );
  await until(async () =>
    (await fleet.fleet.explain(later)).sentence.includes(`credential lim-b rests until ${untilReset}`),
  );
  expect((await fleet.cli(['workers'])).stdout).toMatch(/no metered: credential lim-a rests until/);
  expect((await fleet.cli(['credentials'])).stdout).toContain(`rests until ${untilReset}`);
  const before = (await runs()).filter(({ what }) => what === 'start').length;
  // The state is the server's: a restarted worker knows.
  await ada.stop();
  await using _again = await worker('limited', { 'lim-a': 1, 'lim-b': 1 });
  const settled = await fleet.settled(later, 120_000);
  expect(settled).toMatchObject({ state: 'done', attempts: { used: 1 } });
  expect(Date.parse(settled.runs.at(-1)!.startedAt)).toBeGreaterThanOrEqual(resetsAt * 1_000 - 1_000);
  expect((await runs()).filter(({ what }) => what === 'start').length).toBe(before + 1);
}, 240_000);

test('a refused credential is told of once and never tried again, until a person says that it is mended', async () => {
  const { fleet, on, runs, stands, state } = lab;
  const { worker, enqueue } = on('refused');
  const hook = await startHook();
  try {
    await using _ada = await worker('refused', { 'bad-a': 2, 'bad-b': 1 }, { alerts: { webhook: hook.webhook } });
    await stands('bad-a', { refused: true });
    const ids = await Promise.all([enqueue(), enqueue(), enqueue()]);
    for (const id of ids) expect(await fleet.settled(id)).toMatchObject({ state: 'done', attempts: { used: 1 } });
    const tried = async () => (await runs()).filter(({ what, key }) => what === 'start' && key === 'bad-a').length;
    expect(await tried()).toBeLessThanOrEqual(2);
    expect((await state('bad-a', ({ bad }) => bad)).bad).toMatchObject({ why: 'Invalid API key' });
    await until(() => hook.told.length > 0);

    // The last one: its run is parked, and those behind it wait.
    await stands('bad-b', { refused: true });
    const parked = await fleet.settled(await enqueue());
    expect(parked).toMatchObject({ state: 'parked', reason: 'auth' });
    const waits = await enqueue();
    await until(async () => (await fleet.fleet.explain(waits)).sentence.includes('was refused at'), {
      timeoutMs: 20_000,
    });
    const before = await tried();
    await stands('bad-a', {});
    expect((await fleet.cli(['credentials'])).stdout).toMatch(/bad-a .*refused .*Invalid API key/);
    expect(await fleet.cli(['credentials', 'ok', 'bad-a'])).toMatchObject({ code: 0 });
    expect(await fleet.cli(['credentials', 'ok', 'bad-z'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/there is no credential bad-z: known are .*bad-a/),
    });
    expect(await fleet.settled(waits)).toMatchObject({ state: 'done', runs: [{ credential: 'bad-a' }] });
    expect(await tried()).toBe(before + 1);
    const alerts = hook.told.filter(({ credential }) => credential !== undefined);
    expect(alerts).toMatchObject([
      { credential: 'bad-a', coder: 'metered', state: 'bad' },
      { credential: 'bad-b', state: 'bad' },
    ]);
    expect(JSON.stringify(hook.told)).not.toContain(PLANTED);
  } finally {
    hook.close();
  }
}, 180_000);

test('its state takes a run once, refuses without a trace, and frees what a holder that never answers had', async () => {
  const { fleet, on, state } = lab;
  const { worker } = on('raw');
  await using _carrier = await worker('raw', { raw: 2 });
  const handle = fleet.client.workflow.getHandle(credentialId('raw'));
  const known = await state('raw', ({ holders }) => holders.length === 1);
  const nobody = { ...known.holders[0]!, worker: 'nobody', hostQueue: 'host/nobody', leaseMs: 8_000 };
  await handle.signal(namedSignal, { holder: nobody, runs: [] });
  const lease = (runId: string) =>
    handle.executeUpdate(leaseUpdate, { args: [{ taskId: 't', runId, worker: 'nobody', hostQueue: 'host/nobody' }] });
  expect(await lease('1-a')).toEqual({ free: 1 });
  expect(await lease('1-a')).toEqual({ free: 1 });
  expect(await lease('1-b')).toEqual({ free: 0 });
  const { historyLength } = await handle.describe();
  await expect(lease('1-c')).rejects.toMatchObject({ cause: { type: 'NoSeat', message: /2 of 2 seats .* are taken/ } });
  expect((await handle.describe()).historyLength).toBe(historyLength);
  for (const tokens of [7, 7]) await handle.signal(giveBackSignal, { runId: '1-b', tokens });
  const limited = { taskId: 't', runId: '1-a', kind: 'limited', why: 'limit' } as const;
  for (const report of [limited, limited]) await handle.signal(reportSignal, report);
  const now = await state('raw', ({ resting }) => resting);
  expect(now).toMatchObject({ limits: 1, window: { tokens: 7 } });
  // Nobody polls that queue: its lease ends, and with it what it held.
  await state('raw', ({ seats, holders }) => seats.length === 0 && holders.length === 1);
}, 90_000);

test('the seat of a worker that was killed comes back within its lease; one that it adopts again stays taken', async () => {
  const { fleet, on, stands, state, go } = lab;
  const { worker, enqueue } = on('dead');
  await stands('dead', { wait: true });
  const patient = { lease: { heartbeat: '3s', grace: '27s', selfKill: '14s' } };
  const ada = await worker('dead-a', { dead: 1 }, patient);
  const id = await enqueue();
  const [seat] = (await state('dead', ({ seats }) => seats.length)).seats;
  expect(seat).toMatchObject({ taskId: id, worker: ada.name });
  // Restarted within its lease, it goes on with the run, and with its seat.
  await fleet.running(id);
  await ada.stop('SIGKILL');
  const again = await worker('dead-a', { dead: 1 }, patient);
  const kept = await state('dead', ({ holders }) => holders.length === 1);
  expect(kept.seats).toMatchObject([{ runId: seat!.runId }]);

  await using _eve = await worker('dead-b', { dead: 1 });
  const killedAt = Date.now();
  await again.stop('SIGKILL');
  const report = await state('dead', ({ seats }) => seats.some((one) => one.worker !== ada.name), 90_000);
  expect(report.seats).toHaveLength(1);
  // Its lease is 30 s; the rest is the claim.
  expect(Date.now() - killedAt).toBeLessThan(50_000);
  await go();
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', attempts: { used: 1 } });
}, 180_000);

test('machines with different numbers of seats: the smallest counts, and is said', async () => {
  const { fleet, on, state } = lab;
  const { worker } = on('differ');
  await using ada = await worker('differ-a', { differ: 3 });
  await using eve = await worker('differ-b', { differ: 2 });
  await state('differ', ({ holders }) => holders.length === 2);
  const shown = await fleet.cli(['credentials']);
  expect(shown.stdout).toMatch(/differ +metered +envFile +0 of 2/);
  expect(shown.stderr).toContain(`credential differ has 3 on ${ada.name}, 2 on ${eve.name}: the smallest counts`);
  const json = JSON.parse((await fleet.cli(['credentials', '--json'])).stdout) as Record<string, unknown>[];
  expect(json.find(({ name }) => name === 'differ')).toMatchObject({ coder: 'metered', seats: { total: 2, used: [] } });
}, 120_000);

test('a task may pin one; what cannot be is refused before anything is created', async () => {
  const { fleet, on, repo } = lab;
  const { worker, enqueue } = on('pinned');
  await using _ada = await worker('pinned', { 'pin-a': 1, 'pin-b': 1 });
  const report = await fleet.settled(await enqueue({ credential: 'pin-b' }));
  expect(report).toMatchObject({ state: 'done', coder: 'metered', runs: [{ credential: 'pin-b' }] });
  const run = (...flags: string[]) => fleet.cli(['enqueue', 'pinned', 'x', '--repo', repo, ...flags]);
  expect(await run('--credential', 'nope')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/--credential nope is unknown: .*see fleet credentials/),
  });
  expect(await run('--credential', 'pin-a', '--coder', 'claude')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/--credential pin-a must be one of coder claude: it is of metered/),
  });
}, 120_000);

test('a worker does not start with a secret that others can read, and does not show it', async () => {
  const { fleet, on } = lab;
  const { worker } = on('open');
  const ada = await worker('open', { open: 1 });
  await ada.stop();
  await chmod(`${ada.home}/open.env`, 0o644);
  const refused = await fleet.cli(['worker'], { env: { FLEET_HOME: ada.home } });
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/credentials\.open\.envFile must be for its owner alone: .* is 0644/),
  });
  const shown = await fleet.cli(['config', 'show'], { env: { FLEET_HOME: ada.home } });
  expect(refused.stderr + shown.stdout + ada.output()).not.toContain(PLANTED);
}, 60_000);
