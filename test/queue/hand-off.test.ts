import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createProposed } from '../../src/client/start/hand-off.ts';
import { loadConfig } from '../../src/config.ts';
import type { Task, TaskInput } from '../../src/domain/task/schema.ts';
import { parseTask } from '../../src/domain/task/parse.ts';
import { agent, git, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let repo: string;
/** Two coders, of which one may hand on without a person's yes, and one may not at all. */
const HAND_OFF = { allow: [{ from: 'free' }, { from: 'relaxes' }], deny: [{ from: 'barred' }] };
/** Writes down what its prompt says of other tasks. */
const HEARS = [
  'sh',
  '-c',
  'sed -n "/^# What other tasks say/,\\$p" | sed -n 3p >heard.txt; git add -A; git commit -qm Heard',
];

/** Rewrites what its repository asks for, and proposes one to start from that. */
const RELAXES = `cat >/dev/null; mkdir -p "$FLEET_OUTBOX/follow-ups" src; echo '{}' >.fleet.yaml; echo x >src/made; git add -A; git commit -qm Made
echo '{"task":{"objective":"Go on","coder":"ok","dependsOn":["'$FLEET_TASK'"]}}' >"$FLEET_OUTBOX/follow-ups/1.json"`;

beforeAll(async () => {
  fleet = await TestFleet.start();
  repo = await fleet.repo('repo');
  await fleet.worker('one', {
    worker: { slots: 3 },
    handOff: HAND_OFF,
    coders: {
      ...{ free: agent('propose.sh'), bound: agent('propose.sh'), barred: agent('propose.sh') },
      relaxes: { command: ['sh', '-c', RELAXES], protocol: 'none' },
      ...{ ok: agent('ok.sh'), hears: { command: HEARS, protocol: 'none' }, crash: agent('crash.sh') },
    },
  });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const enqueue = (input: Partial<TaskInput>) =>
  fleet.fleet.enqueue({ objective: 'Build it', repo, coder: 'ok', retry: { maxAttempts: 1 }, ...input });
const done = async (input: Partial<TaskInput>) => fleet.settled(await enqueue(input));

test('what an accepted run proposes becomes tasks that wait for a person; what is wider is refused', async () => {
  const parent = await done({
    coder: 'bound',
    scope: { allow: ['src/**'], protect: ['src/secret'] },
    limits: { total: '5m' },
  });
  const id = `${parent.id}.1-1`;
  expect(parent.followUps).toEqual([
    { id, title: 'Document it' },
    {
      ...{ id: `${parent.id}.1-2`, title: 'Take over' },
      refused: `scope.allow must be within src/**: etc is not, as task ${parent.id} hands it off`,
    },
    { id: null, title: '', refused: '3.json: task.colour is not a known field' },
  ]);
  const { stdout } = await fleet.cli(['task', parent.id]);
  expect(stdout).toContain(`Follow-up   ${id}: Document it`);
  expect(stdout).toContain('Refused     follow-up Take over: scope.allow must be within src/**');
  const child = await until(async () => {
    const view = await fleet.fleet.view(id);
    return view.state === 'awaiting-approval' && view;
  });
  expect(child).toMatchObject({ parent: parent.id, objective: 'Document it' });
  await fleet.fleet.reject(id, { by: 'ada', why: 'no' });
});

test('what a rejected run proposed is dropped, also where a person accepts its result', async () => {
  const parked = await done({ coder: 'bound', verify: ['false'] });
  expect(parked).toMatchObject({ state: 'parked', runs: [{ reason: 'receipts-rejected', dropped: true }] });
  await fleet.fleet.accept(parked.id, 'good enough');
  const accepted = await until(async () => {
    const view = await fleet.fleet.view(parked.id);
    return view.state === 'done' && view;
  });
  expect(accepted.followUps ?? []).toEqual([]);
});

test('the same proposals again make the same tasks, and so many hand-offs in a row are enough', async () => {
  const parent = await enqueue({ approval: 'before-run' });
  const wire = { client: fleet.client, config: loadConfig({ home: `${fleet.root}/client`, env: {} }) };
  const parsed = parseTask({ objective: 'Build it', repo, coder: 'claude', machine: 'elsewhere' });
  if (!parsed.ok) throw new Error(parsed.message);
  const of = (id: string, more: Partial<Task> = {}) =>
    createProposed(wire, {
      ...{ id, task: { ...parsed.task, ...more }, from: 'claude', n: 1, children: 0 },
      followUps: [{ task: { objective: 'Next' } }],
    });
  const id = `${parent}.1-1`;
  expect(await of(parent)).toEqual([{ id, title: 'Next' }]);
  expect(await of(parent)).toEqual([{ id, title: 'Next' }]);
  // A remote that is away for a while costs no follow-up.
  const away = { repo: 'http://127.0.0.1:1/x.git', machine: undefined };
  await expect(of(`${parent}.2`, away)).rejects.toMatchObject({ code: 'unavailable' });
  // Each is the parent of the next one.
  await of(id, { parent });
  await of(`${id}.1-1`, { parent: id });
  expect(await of(`${id}.1-1.1-1`, { parent: `${id}.1-1` })).toEqual([
    expect.objectContaining({ refused: expect.stringContaining('handOff.depth is 3') }),
  ]);
});

test('a kind that the configuration allows goes on by itself, one that it forbids is refused with its rule', async () => {
  const scope = { allow: ['src/**'] };
  const [free, barred] = await Promise.all([done({ coder: 'free', scope }), done({ coder: 'barred', scope })]);
  await until(async () => (await fleet.fleet.view(`${free.id}.1-1`)).runs.length > 0);
  expect(barred.followUps?.[0]).toEqual({
    ...{ id: `${barred.id}.1-1`, title: 'Document it' },
    refused: 'handOff.deny[0] of the configuration forbids it',
  });
});

test('what an agent wrote into .fleet.yaml rules no follow-up that starts from it', async () => {
  const strict = await fleet.repo('strict', { '.fleet.yaml': "protect: { paths: ['made.txt'], new: refuse }\n" });
  const parent = await done({ repo: strict, coder: 'relaxes' });
  expect(parent).toMatchObject({ state: 'done', followUps: [{ id: `${parent.id}.1-1` }] });
  const child = await fleet.settled(`${parent.id}.1-1`);
  expect(child).toMatchObject({
    state: 'parked',
    reason: 'scope-violation',
    message: expect.stringContaining('made.txt'),
  });
});

test('a person hands off by the command, with what is not said as in the parent', async () => {
  const parent = await done({ scope: { allow: ['**'] }, limits: { total: '5m' } });
  const handed = await fleet.cli(['hand-off', parent.id, 'Look over it', '--to', 'jean', '--context', 'See made.txt']);
  expect(handed.code).toBe(0);
  expect(handed.stderr.split('\n')).toEqual([
    expect.stringMatching(/jean is no coder that is known here: it is for an agent outside the fleet/),
    expect.stringMatching(new RegExp(`it waits for a person's yes: fleet task ${handed.stdout} approve`)),
  ]);
  const view = await fleet.fleet.view(handed.stdout);
  expect(view).toMatchObject({ parent: parent.id, for: 'jean', state: 'awaiting-approval' });
  const wider = await fleet.cli(['hand-off', parent.id, 'Go on', '--total', '6m']);
  expect(wider).toMatchObject({
    code: 2,
    stderr: `fleet: --total must be at most 5m, as task ${parent.id} hands it off`,
  });
  const nobody = await fleet.cli(['hand-off', 'none-such', 'Go on']);
  expect(nobody).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no task none-such') });
});

test('a task tells another one, a webhook and people how it ended, each once', async () => {
  await using hook = await webhook();
  const hearer = await fleet.fleet.enqueue({ objective: 'Hear', repo, coder: 'hears', approval: 'before-run' });
  const told = await done({ callback: { task: hearer, webhook: `${hook.url}/ended` } });
  await until(() => hook.heard.length > 0);
  expect(hook.heard).toHaveLength(1);
  expect(hook.heard[0]).toMatchObject({ path: '/ended', key: encodeURIComponent(`${told.id}/callback/done`) });
  expect(JSON.parse(hook.heard[0]!.body)).toMatchObject({ id: told.id, state: 'done', branch: told.branch });
  await fleet.fleet.approve(hearer, { by: 'ada', why: '' });
  const heard = await fleet.settled(hearer);
  expect(await git(repo, 'show', `${heard.commit}:heard.txt`)).toContain(
    `task ${told.id}: is done, branch fleet/${told.id}`,
  );
});

test('a parked task tells it once, and a webhook that fails at first is told again under the same key', async () => {
  await using hook = await webhook(2);
  const { id, state } = await done({ coder: 'crash', callback: { webhook: hook.url } });
  expect(state).toBe('parked');
  await until(() => hook.heard.length === 3);
  await fleet.fleet.giveUp(id, 'enough');
  await until(() => hook.heard.length === 4);
  const keys = hook.heard.map(({ key }) => decodeURIComponent(key));
  expect(keys).toEqual([...Array<string>(3).fill(`${id}/callback/parked`), `${id}/callback/failed`]);
});

/** Answers 500 to the first few. */
async function webhook(failing = 0) {
  const heard: { path: string; key: string; body: string }[] = [];
  const take = async (request: IncomingMessage) => {
    const body = await text(request);
    heard.push({ path: request.url ?? '', key: String(request.headers['idempotency-key']), body });
    return heard.length <= failing ? 500 : 200;
  };
  const server = createServer((request, response) => {
    void take(request).then((status) => response.writeHead(status).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    heard,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
