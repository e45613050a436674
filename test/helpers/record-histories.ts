import { writeFile } from 'node:fs/promises';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, TestFleet } from './fleet.ts';
import { QUEUE_NAMES, recordCredential, recordQueue } from './record-queue-histories.ts';
import { until } from './until.ts';

const { History } = proto.temporal.api.history.v1;
type History = proto.temporal.api.history.v1.IHistory;

/** As protobufjs writes it: the SDK's own conversion throws where another version of protobufjs is installed beside its own. */
const toJson = (history: History): unknown =>
  History.toObject(History.fromObject(history), { longs: String, bytes: String, enums: String });
export const historyFromJson = (json: unknown): History => History.fromObject(json as Record<string, unknown>);

/** Keeps the history of a workflow, as far as it has come, under a name. */
export type Save = (client: Client, name: string, id: string) => Promise<void>;

/** What replay does not read. */
const NEEDLESS: ReadonlySet<string> = new Set(['identity', 'requestId', 'workerVersion', 'meteringMetadata', 'taskId']);

/**
 * Runs one workflow for each way that it may take, for real, and writes their histories as `<name>.json` into `dir`: of those
 * in `only`, where given.
 */
export async function recordHistories(dir: string, only?: readonly string[]): Promise<void> {
  const wanted = (name: string) => only?.includes(name) ?? true;
  const save: Save = async (client, name, id) => {
    if (!wanted(name)) return;
    const history = toJson(await client.workflow.getHandle(id).fetchHistory());
    const text = JSON.stringify(history, (key, value: unknown) => (NEEDLESS.has(key) ? undefined : value));
    await writeFile(`${dir}/${name}.json`, `${text}\n`);
  };
  for (const [record, names] of STORIES) if (names.some(wanted)) await record(save, wanted);
}

const TASKS = [
  ...['adopted', 'asked', 'cancelled', 'done', 'given-up', 'invalid', 'lost-then-done', 'moved', 'parked-retry-accept'],
  ...['rejected-then-done', 'routed-elsewhere', 'waited'],
];
const STORIES: readonly [
  record: (save: Save, wanted: (name: string) => boolean) => Promise<void>,
  names: readonly string[],
][] = [
  [recordTasks, TASKS],
  [recordQueue, QUEUE_NAMES],
  [recordCredential, ['credential']],
];
export const HISTORY_NAMES: readonly string[] = STORIES.flatMap(([, names]) => names).toSorted();

async function recordTasks(save: Save): Promise<void> {
  await using fleet = await TestFleet.start();
  const repo = await fleet.repo('repo');
  const lease = { heartbeat: '3s', grace: '23s', selfKill: '10s' };
  const coders: Record<string, ReturnType<typeof agent>> = {
    ok: agent('ok.sh'),
    wait: agent('wait-for-file.sh'),
    ask: agent('ask-human.sh'),
  };
  const worker = (name: string, more: typeof coders = {}) =>
    fleet.worker(name, {
      ...{ worker: { slots: 4 }, lease, coders: { ...coders, ...more } },
      routes: [{ when: { labels: 'routed', class: 'simple' }, coder: 'rare' }],
      triage: { command: ['echo', 'simple'], default: 'complex' },
    });
  const enqueue = (input: Partial<TaskInput>) => fleet.fleet.enqueue({ objective: 'x', repo, coder: 'ok', ...input });
  const go = async (id: string, n: number) => writeFile(`${(await fleet.running(id, n)).work}/go`, '');
  const flag = `${fleet.root}/flag`;
  const first = await worker('first');

  const ways: Record<string, () => Promise<string>> = {
    async done() {
      const id = await enqueue({ verify: ['test -s made.txt'] });
      await fleet.settled(id);
      return id;
    },
    async 'rejected-then-done'() {
      const id = await enqueue({ verify: [`test -e ${flag} || { touch ${flag}; false; }`], retry: { backoff: '1s' } });
      await fleet.settled(id);
      return id;
    },
    async 'parked-retry-accept'() {
      const id = await enqueue({ verify: ['false'], retry: { maxAttempts: 1 } });
      await fleet.settled(id);
      await fleet.fleet.retry(id, 'once more');
      await until(async () => (await fleet.fleet.view(id)).runs.length === 2);
      await fleet.settled(id);
      await fleet.fleet.accept(id, 'checked by hand');
      await fleet.result(id);
      return id;
    },
    async 'given-up'() {
      const id = await enqueue({ verify: ['false'], retry: { maxAttempts: 1 } });
      await fleet.settled(id);
      await fleet.fleet.giveUp(id, 'not worth it');
      await until(async () => (await fleet.fleet.view(id)).state === 'failed');
      return id;
    },
    async cancelled() {
      const id = await enqueue({ coder: 'wait' });
      await fleet.running(id);
      await fleet.fleet.cancel(id);
      await until(async () => (await fleet.fleet.view(id)).state === 'cancelled', { timeoutMs: 30_000 });
      return id;
    },
    async waited() {
      const first = await enqueue({});
      const id = await enqueue({ dependsOn: [first], approval: 'both', overlap: 'serialize' });
      for (const stage of ['before-run', 'before-deliver']) {
        await until(async () => (await fleet.fleet.view(id)).approval?.stage === stage, { timeoutMs: 60_000 });
        await fleet.fleet.approve(id, { by: 'jo', why: 'fine' });
      }
      await fleet.settled(id);
      return id;
    },
    async asked() {
      const id = await enqueue({ coder: 'ask' });
      await until(async () => (await fleet.fleet.view(id)).question, { timeoutMs: 60_000 });
      await fleet.fleet.answer(id, { answer: '9090', by: 'jo' });
      await fleet.settled(id);
      return id;
    },
    async moved() {
      const first = await enqueue({ coder: 'wait' });
      const id = await enqueue({});
      await fleet.fleet.setPriority(id, 10);
      await fleet.fleet.changeNeeds(id, { add: [first] }).catch(() => undefined);
      await fleet.fleet.cancel(first);
      await until(async () => ['done', 'parked'].includes((await fleet.fleet.view(id)).state), { timeoutMs: 60_000 });
      return id;
    },
    async invalid() {
      const options = { workflowId: 'invalid', taskQueue: 'fleet', args: [{ objective: '' }] };
      await fleet.client.workflow.execute('agentTask', options).catch(() => undefined);
      return 'invalid';
    },
  };
  await Promise.all(Object.entries(ways).map(async ([name, way]) => save(fleet.client, name, await way())));

  // Its class is asked for, and its rule leads to a coder that only a later worker has.
  const routed = await fleet.fleet.enqueue({ objective: 'x', repo, labels: ['routed'] });
  await until(async () => (await fleet.fleet.view(routed)).redirect, { timeoutMs: 30_000 });
  const rare = await worker('rare', { rare: agent('ok.sh') });
  await fleet.settled(routed);
  await save(fleet.client, 'routed-elsewhere', routed);
  await rare.stop('SIGTERM');

  // The worker goes and comes back, then it goes for good.
  const [adopted, lost] = [await enqueue({ coder: 'wait' }), await enqueue({ coder: 'wait' })];
  await Promise.all([fleet.running(adopted), fleet.running(lost)]);
  await first.stop('SIGTERM');
  const back = await worker('first');
  await go(adopted, 1);
  await fleet.settled(adopted);
  await save(fleet.client, 'adopted', adopted);
  await back.stop('SIGKILL');
  await worker('second');
  await go(lost, 2);
  await fleet.settled(lost);
  await save(fleet.client, 'lost-then-done', lost);
}
