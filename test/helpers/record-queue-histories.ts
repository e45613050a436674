import { writeFile } from 'node:fs/promises';
import type { Client } from '@temporalio/client';
import { startCredentialLab } from './credential-lab.ts';
import { agent, git, TestFleet } from './fleet.ts';
import { startHook } from './hook.ts';
import type { Save } from './record-histories.ts';
import { doing, scripted } from './scripted.ts';
import { until } from './until.ts';

/** A recording may share its machine with a test run. */
const LONG_MS = 300_000;
const LONG = { timeoutMs: LONG_MS };

/** What tasks wait for, who serves them, and how they are told: on one server, with a worker that stays and one that comes and goes. */
export async function recordQueue(save: Save, wanted: (name: string) => boolean): Promise<void> {
  await using fleet = await TestFleet.start();
  const hook = await startHook();
  const coders = { ok: agent('ok.sh'), wait: agent('wait-for-file.sh'), scripted };
  const lease = { heartbeat: '3s', grace: '23s', selfKill: '10s' };
  await fleet.worker('stays', { worker: { slots: 4 }, coders, lease, alerts: { webhook: hook.webhook } });
  const lab = { fleet, hook, lease, save: (name: string, id: string) => save(fleet.client, name, id) };
  try {
    for (const [record, names] of PARTS) if (names.some(wanted)) await record(lab);
  } finally {
    hook.close();
  }
}

interface Lab {
  fleet: TestFleet;
  hook: Awaited<ReturnType<typeof startHook>>;
  lease: { heartbeat: string; grace: string; selfKill: string };
  save: (name: string, id: string) => Promise<void>;
}

const PARTS: readonly [record: (lab: Lab) => Promise<void>, names: readonly string[]][] = [
  [recordMerge, ['merged', 'merge-queue']],
  [recordWorker, ['worker-record']],
  [recordClock, ['scheduled-task', 'patrol']],
  [recordOutside, ['outside', 'called-back']],
  [recordScopes, ['scope-locks']],
];
export const QUEUE_NAMES: readonly string[] = PARTS.flatMap(([, names]) => names);

/** A bare repository by URL. */
async function remote(fleet: TestFleet, name: string, files?: Record<string, string>): Promise<string> {
  const from = await fleet.repo(`${name}-from`, files);
  await git(fleet.root, 'clone', '-q', '--bare', from, `${fleet.root}/${name}.git`);
  return `file://${fleet.root}/${name}.git`;
}

/** The one workflow of its type. */
const only = (client: Client, type: string): Promise<string> =>
  until(async () => {
    for await (const { workflowId } of client.workflow.list({ query: `WorkflowType = '${type}'` })) return workflowId;
    return undefined;
  }, LONG);

/** Two that are only wrong together: one of them goes back to its agent and comes again. */
async function recordMerge({ fleet, save }: Lab): Promise<void> {
  const files = { 'x.txt': 'x\n', '.fleet.yaml': "verify: ['! { test -e a.txt && test -e b.txt; }']\n" };
  const repo = await remote(fleet, 'merge', files);
  const script = (mine: string, other: string) =>
    `if test -e ${other}.txt; then rm -f ${mine}.txt; echo ok > ${mine}.else; else echo ${mine} > ${mine}.txt; fi`;
  const enqueue = (mine: string, other: string) =>
    fleet.fleet.enqueue({ objective: doing(script(mine, other)), repo, coder: 'scripted', deliver: 'merge' });
  const ids = [await enqueue('a', 'b'), await enqueue('b', 'a')];
  const reports = await Promise.all(ids.map((id) => fleet.settled(id, LONG_MS)));
  await save('merged', reports.find(({ runs }) => runs.length === 2)!.id);
  await save('merge-queue', await only(fleet.client, 'mergeQueue'));
}

/** Held, left until the lease is over, held again and handed in; a task, an address and people hear of its end. */
async function recordOutside({ fleet, hook, save }: Lab): Promise<void> {
  const repo = await remote(fleet, 'outside');
  const hears = await fleet.fleet.enqueue({ objective: 'x', type: 'message', approval: 'before-run' });
  const callback = { task: hears, webhook: hook.webhook, message: true };
  const id = await fleet.fleet.enqueue({ objective: 'x', repo, for: 'jean', verify: ['test -e made.txt'], callback });
  const hold = async (leaseMs: number) => {
    await until(async () => (await fleet.fleet.view(id)).message?.startsWith('waits for '), LONG);
    await fleet.fleet.claimFor(id, { as: 'jean', leaseMs });
  };
  await hold(10_000);
  await until(async () => (await fleet.fleet.view(id)).state === 'queued', LONG);
  await hold(600_000);
  const clone = `${fleet.root}/jean`;
  await git(fleet.root, 'clone', '-q', `${fleet.root}/outside.git`, clone);
  await writeFile(`${clone}/made.txt`, 'by jean\n');
  await git(clone, 'add', '-A');
  await git(clone, '-c', 'user.name=Jean', '-c', 'user.email=jean@x', 'commit', '-q', '-m', 'Add made.txt');
  await git(clone, 'push', '-q', 'origin', 'HEAD:refs/heads/jean/made');
  const done = await fleet.cli(['complete', id, '--as', 'jean', '--branch', 'jean/made', '--result', 'made', '--wait']);
  if (done.code !== 0) throw new Error(done.stderr);
  await fleet.result(id);
  await save('outside', id);

  const tells = await fleet.fleet.enqueue({ objective: 'x', type: 'message', verify: ['true'], coder: 'ok', callback });
  await fleet.result(tells);
  await save('called-back', tells);
  await fleet.fleet.cancel(hears);
}

async function recordScopes({ fleet, save }: Lab): Promise<void> {
  const repo = await fleet.repo('scopes');
  const scope = { allow: ['made.txt', 'src/**'] };
  const enqueue = (coder: string) => fleet.fleet.enqueue({ objective: 'x', repo, coder, scope, overlap: 'serialize' });
  const first = await enqueue('wait');
  const { work } = await fleet.running(first, 1);
  const second = await enqueue('ok');
  await until(async () => (await fleet.fleet.view(second)).state === 'blocked', LONG);
  await writeFile(`${work}/go`, '');
  await fleet.result(second);
  await save('scope-locks', await only(fleet.client, 'scopeLocks'));
}

/** What schedules start. */
async function recordClock({ fleet, save }: Lab): Promise<void> {
  const ask = async (...args: string[]) => {
    const { stdout, stderr, code } = await fleet.cli(args);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  await ask(
    'schedule',
    'add',
    'nightly',
    'x',
    '--type',
    'message',
    '--verify',
    'true',
    '--coder',
    'ok',
    '--cron',
    '@yearly',
  );
  await fleet.result(await ask('schedule', 'trigger', 'nightly'));
  const scheduled = await only(fleet.client, 'scheduledTask');
  await fleet.client.workflow.getHandle(scheduled).result();
  await save('scheduled-task', scheduled);
  await ask('patrol');
  await save('patrol', await only(fleet.client, 'patrol'));
}

/** Attached, detached, back, lost and told of, and back again. */
async function recordWorker({ fleet, lease, save }: Lab): Promise<void> {
  const start = () => fleet.worker('goes', { worker: { slots: 1 }, lease });
  const first = await start();
  const { name } = first;
  const stateOf = async () => (await fleet.fleet.workers()).find((worker) => worker.name === name)?.state;
  await first.stop('SIGTERM');
  await until(async () => (await stateOf()) === 'detached', LONG);
  await (await start()).stop('SIGKILL');
  await until(async () => (await stateOf()) === 'lost', LONG);
  await using _ = await start();
  const query = `WorkflowType = 'fleetWorker'`;
  for await (const { workflowId } of fleet.client.workflow.list({ query }))
    if (workflowId.includes('goes')) await save('worker-record', workflowId);
}

/** A key that its vendor refuses, until a person has mended it. */
export async function recordCredential(save: Save): Promise<void> {
  const { fleet, on, stands, state } = await startCredentialLab();
  await using _ = fleet;
  const { worker, enqueue } = on('fleet');
  const one = await worker('keys', { main: 1 });
  await stands('main', { refused: true });
  const id = await enqueue();
  await fleet.settled(id, LONG_MS);
  await state('main', ({ bad }) => bad, LONG_MS);
  await stands('main', {});
  const mended = await fleet.cli(['credentials', 'ok', 'main']);
  if (mended.code !== 0) throw new Error(mended.stderr);
  await fleet.fleet.retry(id, 'it is mended');
  await fleet.result(id);
  await one.stop('SIGTERM');
  await save(fleet.client, 'credential', await only(fleet.client, 'fleetCredential'));
}
