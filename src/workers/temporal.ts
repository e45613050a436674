import { createWriteStream } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { DefaultLogger, Runtime, Worker, type NativeConnection } from '@temporalio/worker';
import type { ScheduleServices } from '../activities/services/schedule-services.ts';
import type { DeliveryServices } from '../activities/services/delivery-services.ts';
import type { TaskServices } from '../activities/services/task-services.ts';
import type { Activities } from '../activities/index.ts';
import type { OutsideCalls } from '../activities/services/external-calls.ts';
import { callsQueue, CREDENTIAL_QUEUE, SHARED_QUEUE, type HomeLayout } from '../domain/names.ts';
import { builtFile } from '../package.ts';
import type { SlotGate } from './slots.ts';
import { workflowThread, type WorkflowThread } from './workflow-thread.ts';

const BUNDLE = builtFile('workflow-bundle.js');

const CARRYING = {
  workflowBundle: { codePath: BUNDLE },
  stickyQueueScheduleToStartTimeout: '3s',
} as const;

/** One at a time in a process: the SDK's log goes to `worker.log`, signals are ours, and the fleet's workers can be
 * listed. Call what it gives at the end: the runtime keeps the process alive. */
export function installRuntime(home: HomeLayout): () => Promise<void> {
  const file = createWriteStream(`${home.root}/worker.log`, { flags: 'a' });
  file.on('error', () => {});
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, timestampNanos, message, meta }) => {
      const at = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
      file.write(`${at} ${level} ${message} ${meta ? safeJson(meta) : ''}\n`);
    }),
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
    workerHeartbeatInterval: '5s',
    shutdownSignals: [],
  });
  return async () => {
    await Runtime.instance().shutdown();
    file.end();
  };
}

interface SdkOptions {
  connection: NativeConnection;
  namespace: string;
  identity: string;
  gate: SlotGate;
  claims: readonly string[];
  workflowQueues: readonly string[];
  hostQueue: string;
  slots: number;
  /** How many this worker has; with any it carries on their states. */
  credentials: number;
  activities: Activities;
  /** For the workflows that it carries on. */
  desk: TaskServices & DeliveryServices & ScheduleServices;
}

/** One SDK worker a queue. Workflows run on the plain claim queues, since that is where tasks are started; what tasks of
 * several queues share, on a queue that every worker serves. */
export async function createTemporalWorkers(options: SdkOptions): Promise<SdkWorkers> {
  const { activities } = options;
  const common = commonOf(options);
  const { registerRun: _claim, ...onHost } = activities;
  const thread = workflowThread({ ...activities, ...options.desk });
  const host = Worker.create({
    ...common,
    taskQueue: options.hostQueue,
    activities: onHost,
    // Each credential has one that lasts, and another one while the first is replaced.
    maxConcurrentActivityTaskExecutions: options.slots * 3 + 20 + options.credentials * 2,
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 5 },
  });
  const states = {
    ...common,
    ...CARRYING,
    taskQueue: CREDENTIAL_QUEUE,
    activities: { sendAlert: activities.sendAlert },
    maxCachedWorkflows: 50,
  };
  const shared = thread.Worker.create({
    ...common,
    ...CARRYING,
    taskQueue: SHARED_QUEUE,
    // What they ask for is answered beside them.
    activities: options.desk,
    enableNonLocalActivities: false,
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
    maxConcurrentLocalActivityExecutions: 8,
    maxCachedWorkflows: 50,
  });
  const { tellWebhook, tellPeople, openPull, lookAtPull, closePull } = options.desk;
  const calls = options.workflowQueues.map((queue) =>
    Worker.create({
      ...common,
      taskQueue: callsQueue(queue),
      activities: { tellWebhook, tellPeople, openPull, lookAtPull, closePull } satisfies OutsideCalls,
      // They do nothing but wait for answers.
      maxConcurrentActivityTaskExecutions: 50,
      activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
    }),
  );
  const claim = (taskQueue: string) => claimWorker(thread.Worker, options, taskQueue);
  const others = [...calls, host, shared, ...(options.credentials ? [thread.Worker.create(states)] : [])];
  const [claiming, rest] = await Promise.all([Promise.all(options.claims.map(claim)), Promise.all(others)]);
  return new SdkWorkers({ claiming, rest, claim, thread });
}

const commonOf = ({ connection, namespace, identity }: SdkOptions) =>
  ({ connection, namespace, identity, maxHeartbeatThrottleInterval: '2s', shutdownGraceTime: 0 }) as const;

function claimWorker(ThreadWorker: typeof Worker, options: SdkOptions, taskQueue: string): Promise<Worker> {
  const { registerRun, sendAlert } = options.activities;
  return ThreadWorker.create({
    ...commonOf(options),
    taskQueue,
    activities: { registerRun, sendAlert, ...options.desk },
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
    tuner: {
      activityTaskSlotSupplier: options.gate.supplier(taskQueue),
      workflowTaskSlotSupplier: { type: 'fixed-size', numSlots: 40 },
      localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: 8 },
      nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
    },
    ...(options.workflowQueues.includes(taskQueue) ? { ...CARRYING, maxCachedWorkflows: cached(options) } : {}),
  });
}

/** Each is 0.8 MB. Those that are on this worker, and some that just were or will be; one that waits is as quickly read anew. */
const cached = ({ slots }: SdkOptions): number => 50 + 2 * slots;

interface Parts {
  claiming: Worker[];
  rest: readonly Worker[];
  claim(queue: string): Promise<Worker>;
  thread: Pick<WorkflowThread, 'end'>;
}

/** The SDK's workers of one process, which run and end together. */
export class SdkWorkers {
  readonly claiming: Worker[];
  readonly #rest: readonly Worker[];
  readonly #claim: Parts['claim'];
  readonly #thread: Parts['thread'];
  readonly #runs = new Set<Promise<void>>();
  #settle: { over(): void; broke(error: unknown): void } | undefined;
  #ending = false;
  #claimed: Promise<void> = Promise.resolve();

  constructor({ claiming, rest, claim, thread }: Parts) {
    [this.claiming, this.#rest, this.#claim, this.#thread] = [claiming, rest, claim, thread];
  }

  /** Until all have stopped, then undoes what was set up; where one breaks, or `broken` rejects, the others are stopped too. */
  async run(undo: () => Promise<void>, broken: Promise<never>): Promise<void> {
    const over = new Promise<void>((resolve, reject) => (this.#settle = { over: resolve, broke: reject }));
    for (const worker of [...this.claiming, ...this.#rest]) this.#run(worker);
    try {
      await Promise.race([over, broken]);
    } catch (error) {
      this.shutdown();
      throw error;
    } finally {
      await this.#claimed;
      await Promise.allSettled(this.#runs);
      await this.#thread.end().catch(() => undefined);
      await undo();
    }
  }

  /**
   * Polls those of the claim queues that it does not poll yet; one call at a time, as a queue can have one SDK worker. One
   * that is needed no more stays: the gate keeps it shut. @throws where the server is away; the same call may be made again
   */
  claimFrom(queues: readonly string[]): Promise<void> {
    const claimed = this.#claimed.then(() => this.#claimMissing(queues));
    this.#claimed = claimed.catch(() => undefined);
    return claimed;
  }

  async #claimMissing(queues: readonly string[]): Promise<void> {
    const polled = new Set(this.claiming.map(({ options }) => options.taskQueue));
    for (const queue of queues) {
      if (this.#ending || polled.has(queue)) continue;
      const worker = await this.#claim(queue);
      this.claiming.push(worker);
      this.#run(worker);
    }
  }

  shutdown(): void {
    this.#ending = true;
    for (const worker of [...this.claiming, ...this.#rest]) if (worker.getState() === 'RUNNING') worker.shutdown();
  }

  #run(worker: Worker): void {
    const run = worker.run();
    this.#runs.add(run);
    run.then(
      () => {
        this.#runs.delete(run);
        if (this.#runs.size === 0) this.#settle?.over();
      },
      (error: unknown) => this.#settle?.broke(error),
    );
    if (this.#ending) worker.shutdown();
  }
}

const LOOKS = 3;
const LOOK_MS = 100;

/**
 * Whether one of them is busy with what it took, for longer than a query takes: a task whose workflow is being carried on is no
 * backlog any more, and has no run yet.
 */
export async function areBusy(workers: readonly Pick<Worker, 'getStatus'>[]): Promise<boolean> {
  for (let look = 0; look < LOOKS; look += 1) {
    if (look > 0) await pause(LOOK_MS);
    const all = workers.map((worker) => worker.getStatus());
    if (all.every((one) => one.numInFlightWorkflowActivations + one.numInFlightActivities === 0)) return false;
  }
  return true;
}

function safeJson(value: unknown): string {
  try {
    return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? String(item) : item));
  } catch {
    return '';
  }
}
