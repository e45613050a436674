import { mkdir } from 'node:fs/promises';
import { Client } from '@temporalio/client';
import { createActivities } from '../activities/index.ts';
import { deadRoutes } from '../activities/claim/choose-coder.ts';
import { endRun, type Deps } from '../activities/worker/context.ts';
import { holdWhileUnkillable } from '../activities/launch/unkillable.ts';
import { Presence } from '../activities/worker/presence.ts';
import { Holds } from '../activities/worker/claim-holds.ts';
import { secretsOf } from '../activities/prepare/variables.ts';
import { Programs } from '../activities/worker/programs.ts';
import { machineName } from '../adapters/state/config-file.ts';
import { ensureSearchAttributes } from '../adapters/temporal/connection.ts';
import { livesHere } from '../adapters/temporal/lives-here.ts';
import { connectWorker } from '../adapters/temporal/worker-connection.ts';
import { outliveFailedSpawns } from '../adapters/program/failed-spawns.ts';
import { delegateGit } from '../adapters/git/git.ts';
import { GitProcess } from '../adapters/git/process/client.ts';
import { detectIsolation, groupOnly } from '../adapters/sandbox/sandbox.ts';
import { connectKeeper } from '../adapters/keeper/client.ts';
import { connectProxy } from '../adapters/proxy/client.ts';
import { removeTree } from '../adapters/disk/remove-tree.ts';
import { Ledger } from '../adapters/state/ledger.ts';
import { RunRegistry } from '../adapters/state/run-registry.ts';
import { DrainCounts } from '../adapters/state/drain-counts.ts';
import { createCoders } from '../coders/registry.ts';
import { listWorkers } from '../client/fleet/workers.ts';
import { leaseOf } from '../config.ts';
import { claimQueues, coderOfQueue, homeLayout, hostQueue } from '../domain/names.ts';
import { openKeys } from '../adapters/secrets/worker-keys.ts';
import { VERSION } from '../package.ts';
import { hasBacklog } from './backlog/backlog.ts';
import { checkCredentials } from './coders/check-credentials.ts';
import { startBudgets } from './coders/budgets.ts';
import { FitnessGuard } from './health/fitness.ts';
import { Cleaner } from './clean/cleaner.ts';
import { createClockDesk } from './services/schedule-services.ts';
import { startContact } from './health/contact.ts';
import { createDesk } from './services/task-services.ts';
import { DiskGuard } from './clean/disk.ts';
import { Leaving } from './health/leaving.ts';
import { lockWorker, workerId } from './health/locks.ts';
import { startOrders } from './health/orders.ts';
import { CoderWatch } from './coders/coder-watch.ts';
import { endOthers, startReaper } from './health/reaper.ts';
import { startRecord, type KeptRecord } from './record.ts';
import { RollbackWatch } from './health/rollback.ts';
import type { RunningWorker, WorkerOptions } from './running-worker.ts';
import { identifyServer } from '../adapters/temporal/server-identity.ts';
import { watchServer } from './server.ts';
import { areBusy, createTemporalWorkers, installRuntime } from './temporal.ts';
import { CredentialSeats } from './coders/seat-services.ts';
import { SlotGate } from './slots.ts';

export type { RunningWorker, WorkerOptions } from './running-worker.ts';

/** The composition root: attaches this machine to the fleet. Each step's teardown is registered before the next step. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { config, env, log } = options;
  const home = homeLayout(options.home);
  const teardown: (() => unknown)[] = [];
  const undo = async () => {
    for (const step of teardown.splice(0).reverse()) await step();
  };
  try {
    await mkdir(home.root, { recursive: true });
    const knownCoders = createCoders(config.coders);
    await checkCredentials({ config, knownCoders, home: home.root, env });
    // The SDK's native part does not keep the process alive while it is waited for.
    const alive = setInterval(() => {}, 1_000_000);
    teardown.push(() => clearInterval(alive));
    teardown.push(outliveFailedSpawns());
    // 1. One worker per home and per name, with its keys.
    const held = await lockWorker(home, config.worker.name);
    teardown.push(() => held.release());
    const keys = await openKeys(home);

    // 2. The server, with the search attributes that tasks are listed by.
    const uninstall = installRuntime(home);
    teardown.push(uninstall);
    const { connection, namespace, target } = await connectWorker({ env, home: home.root });
    teardown.push(() => connection.close());
    await ensureSearchAttributes(connection, namespace);
    const { id: serverId } = await identifyServer(connection, namespace);
    const client = new Client({ connection, namespace });

    // Git is started by a small process beside this one.
    const gitProcess = new GitProcess();
    delegateGit(gitProcess);
    teardown.push(() => (delegateGit(undefined), gitProcess.close()));

    // 3. The keeper, which may hold agents of the worker that ran here before.
    const asked = config.worker.isolation;
    const { isolation, why } = asked === 'auto' ? await detectIsolation() : { isolation: asked, why: undefined };
    if (why !== undefined) log(groupOnly(why));
    const { selfKillMs } = leaseOf(config);
    const keeper = await connectKeeper({ home, selfKillMs });
    // A second signal may ask for the agents' end while the first one's teardown runs: the keeper is left only after it.
    let ending: Promise<unknown> | undefined = Promise.resolve();
    teardown.push(async () => {
      for (let awaited; awaited !== ending;) await (awaited = ending);
      ending = undefined;
      keeper.close();
    });
    const watched = watchServer({ connection, namespace, id: serverId });
    const contact = startContact({
      ...{ keeper, selfKillMs, ping: watched.ping },
      livesHere: livesHere(target.address, home.root),
    });
    teardown.push(() => contact.stop());

    const proxy = connectProxy(home, env);
    teardown.push(() => proxy.leave());

    // 4. What this machine has and holds.
    await removeTree(home.scratch);
    const registry = await RunRegistry.open(home, serverId);
    for (const ref of registry.torn) {
      await endRun({ keeper }, ref, 'host-lost');
      log(
        `the record of run ${ref.runId} of ${ref.taskId} is damaged: it was moved to ${await registry.setAside(ref)}`,
      );
    }
    const watch = await CoderWatch.start({ known: [...knownCoders.values()], wanted: config.worker.coder, env, log });
    teardown.push(() => watch.stop());
    const { coders } = watch;
    const machine = machineName(config);
    const { name, slots, queues } = config.worker;
    const worker = {
      name,
      machine,
      hostQueue: hostQueue(name, await workerId(home)),
      queues,
      startedAt: new Date().toISOString(),
      version: VERSION,
    };
    const { inContact } = contact;
    const holds = new Holds();
    const ledger = await Ledger.open(home, serverId);
    const rollback = await RollbackWatch.start({ client, holds, ledger, worker, log });
    teardown.push(() => rollback.stop());
    const tally = await DrainCounts.open(home.tally, (runId) => registry.holds(runId));
    const server = `${target.address}/${namespace}`;
    const { keep } = config;
    const cleaner = new Cleaner(
      () => ({
        ...{ home, keep, basesInUse: registry.basesInUse() },
        server: contact.inContact() && !rollback.noticed ? { client, name: server } : undefined,
      }),
      log,
    );
    teardown.push(() => cleaner.stop());
    const disk = new DiskGuard({ home, config, registry, keeper, holds, log, makeRoom: cleaner.makeRoom });
    teardown.push(() => disk.stop());
    await disk.start();
    const fitness = new FitnessGuard({ home, isolation, holds, log });
    teardown.push(() => fitness.stop());
    const { otherHomes } = held;
    const budgets = await startBudgets({ config, holds, log, client });
    teardown.push(() => budgets.stop());
    const seats = new CredentialSeats({ config, worker, registry, coders, log }, client);
    teardown.push(() => seats.stop());
    const deps: Deps = {
      ...{ home, config, worker, env, server, serverId, ledger, rollback, registry, keeper, proxy, isolation, keys },
      ...{ knownCoders, coders, defaultCoder: () => watch.defaultCoder, inContact, otherHomes, holds, disk },
      ...{ fitness, seats, log, tally, budgets, presence: new Presence(), programs: new Programs(holds) },
      secrets: secretsOf({ config, knownCoders }, env),
      attached: async () => (await listWorkers({ client, config })).filter(({ state }) => state === 'attached'),
    };

    await endOthers(deps, log);

    // 5. What people ordered, and whether the machine is fit, before the first claim.
    const orders = startOrders(deps, client, log);
    teardown.push(() => orders.stop());
    await Promise.all([orders.heard(), fitness.fault()]);
    await seats.start();

    // 6. The pollers: claim queues behind the slot gate, the worker's own queue beside it.
    const opens = (queue: string) => seats.opens(coderOfQueue(queue), deps) && !budgets.shut(queue);
    const able = (queue: string) => holds.open && watch.has(coderOfQueue(queue)) && opens(queue);
    const gate = new SlotGate((queue) => (able(queue) ? slots - registry.size : 0));
    teardown.push(() => gate.close());
    const claims = () => claimQueues({ queues, machine, coders: [...coders.keys()] });
    const workers = await createTemporalWorkers({
      ...{ connection, namespace, gate, claims: claims(), workflowQueues: queues, hostQueue: worker.hostQueue, slots },
      credentials: Object.keys(config.credentials).length,
      identity: `fleet/${worker.hostQueue.slice('host/'.length)}`,
      activities: createActivities(deps),
      desk: { ...createDesk({ ...deps, client }), ...createClockDesk(deps, client) },
    });
    const reaper = startReaper(deps, client, log);
    teardown.push(() => reaper.stop());
    const unclean = setInterval(() => void holdWhileUnkillable(deps).catch(() => undefined), UNCLEAN_MS);
    teardown.push(() => clearInterval(unclean));

    const done = workers.run(undo, watched.moved);
    let record: KeptRecord | undefined;
    let detaching: Promise<void> | undefined;
    const stop: RunningWorker['stop'] = async (how) => {
      gate.close();
      try {
        if (how === 'stop-agents' && ending) {
          ending = Promise.allSettled(registry.list().map((run) => endRun(deps, run, 'host-lost')));
          await ending;
        }
      } finally {
        await (detaching ??= record?.detach(leaving.report ?? tally.read()));
        workers.shutdown();
      }
      await done;
    };
    // `done` tells of a failure.
    const leaving = new Leaving(deps, client, () => void stop('leave-agents').catch(() => undefined));
    const changed = () => {
      gate.pump();
      leaving.settle();
    };
    for (const one of [registry, holds, seats]) one.onChange(changed);
    watch.onChange(() => (seats.admit(), workers.claimFrom(claims()).finally(changed)));
    budgets.onLook(gate.pump);

    // 7. Its record, which tells the fleet that it is there.
    record = await startRecord(deps, client);
    teardown.push(async () => {
      await record?.stop();
      if (leaving.report) await tally.beginAnew();
    });
    changed();
    for (const said of await deadRoutes(deps)) log(said);
    return {
      ...{ name, machine, hostQueue: worker.hostQueue, queues: claims(), done },
      coders: [...coders].map(([coder, { version }]) => ({ name: coder, version })),
      slots: { total: slots, used: () => registry.size },
      idle: async () =>
        registry.size === 0 &&
        !(await areBusy(workers.claiming)) &&
        !(coders.size > 0 && (await hasBacklog({ connection, namespace, queues: claims() }))),
      stop,
      drain: () => leaving.drain(),
      drained: () => leaving.report,
    };
  } catch (error) {
    await undo();
    throw error;
  }
}

/** Milliseconds between looks at whether something that could not be killed is gone, or has come up. */
const UNCLEAN_MS = 2_000;
