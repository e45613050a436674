/** Every queue name, workflow id, branch and path is built here: "which one?" has one answer. */

/** Shape of a task id: lower case, digits, single `.`, `_` or `-` between; also a safe path and ref component. */
export const ID_SHAPE = /^[a-z0-9]+([._-][a-z0-9]+)*$/;
export const ID_MAX = 64;
export const DEFAULT_QUEUE = 'fleet';
export const WORKFLOW_TYPE = 'agentTask';
export const RECORD_TYPE = 'fleetWorker';
export const ORDER_TYPE = 'fleetOrder';
/** Nobody polls it: an order is a workflow that only stands there, for every worker to see. */
export const ORDER_QUEUE = 'fleet-orders';
/** Stands there as well: what workers noticed of a rollback of the server's database, and what a person said to it. */
export const ROLLBACK_TYPE = 'fleetRollback';
export const rollbackId = (what: 'noticed' | 'accepted'): string => `rollback/${what}`;
/** The state of one credential, see `fleetCredential`. */
export const CREDENTIAL_TYPE = 'fleetCredential';
/** A queue of its own, as workers that name a credential need not share a queue of tasks: any of them carries all of these on. */
export const CREDENTIAL_QUEUE = 'fleet-credentials';
export const credentialId = (credential: string): string => `credential/${credential}`;
/** Every worker carries on what is there: the workflows that tasks of different queues share. */
export const SHARED_QUEUE = 'fleet-shared';

/** Who may run now of the tasks of one repository that serialise by their scopes. */
export const LOCKS_TYPE = 'scopeLocks';
export const locksId = (repoKey: string): string => `locks/${repoKey}`;
/** One for each repository and target branch. */
export const MERGE_TYPE = 'mergeQueue';
export const mergeQueueId = (repoKey: string, target: string): string => `merge/${repoKey}/${target}`;

/** What a schedule starts: it puts the task into the queue. */
export const SCHEDULED_TYPE = 'scheduledTask';
/** The schedule's id; its workflows are called so too, with the time behind it. */
export const scheduleId = (name: string): string => `schedule/${name}`;
export const nameOfSchedule = (id: string): string | undefined => /^schedule\/(.+)$/.exec(id)?.[1];
/** `nightly-20261122t020000z`, from the id of the workflow that the schedule has started. */
export const scheduledTaskId = (workflowId: string): string =>
  workflowId.slice('schedule/'.length).replace(/-(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z$/, '-$1$2$3t$4$5$6z');
/** The patrol's schedule, the only one that starts it. */
export const PATROL_ID = 'patrol';
export const PATROL_TYPE = 'patrol';
/** A task id has room for the time behind it. */
export const SCHEDULE_NAME_MAX = 40;

export const isTaskId = (id: string): boolean => id.length <= ID_MAX && ID_SHAPE.test(id) && !id.endsWith('.lock');

/** A slug of the title plus the given random part, always a valid task id. */
export function taskIdOf(title: string, random: string): string {
  const slug = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  return slug ? `${slug}-${random}` : `task-${random}`;
}

/** The queue that `registerRun` of a task waits in: pinned to a machine, to a coder, to both or to neither. */
export function claimQueue(pin: { queue: string; machine?: string | undefined; coder?: string | undefined }): string {
  return pin.queue + (pin.machine ? `@${pin.machine}` : '') + (pin.coder ? `/${pin.coder}` : '');
}

/** The queue that a claim queue belongs to. */
export const queueOfClaims = (queue: string): string => queue.replace(/[@/].*$/, '');
/** The coder that a claim queue is pinned to. */
export const coderOfQueue = (queue: string): string | undefined => queue.split('/')[1];

/** All queues that one worker claims from. */
export function claimQueues(worker: {
  queues: readonly string[];
  machine: string;
  coders: readonly string[];
}): string[] {
  return worker.queues.flatMap((queue) =>
    [undefined, worker.machine].flatMap((machine) =>
      [undefined, ...worker.coders].map((coder) => claimQueue({ queue, machine, coder })),
    ),
  );
}

/** The queue of one worker process: everything after the claim runs there. `id` is kept in `worker.id`. */
export const hostQueue = (worker: string, id: string): string => `host/${worker}-${id}`;
/** Where any worker of a queue waits for answers from outside of the fleet. */
export const callsQueue = (queue: string): string => `calls/${queue}`;
export const runIdOf = (n: number, random: string): string => `${n}-${random}`;
export const numberOf = (runId: string): number => Number.parseInt(runId, 10);
/** A label of its search attributes finds the follow-ups of a task. */
export const followUpLabel = (parent: string): string => `parent:${parent}`;
export const branchOf = (taskId: string): string => `fleet/${taskId}`;
export const branchRef = (taskId: string): string => `refs/heads/fleet/${taskId}`;
/** Where the vault keeps what a run left that was not delivered, until somebody decides. */
export const rescueRef = (taskId: string, runId: string): string => `refs/fleet/${taskId}/${runId}`;
/** At a repository: what a task starts from where that is a merge of several results. */
export const baseRef = (taskId: string): string => `refs/fleet/${taskId}/base`;
/** All that a vault keeps of a task. */
export const rescueFolder = (taskId: string): string => `refs/fleet/${taskId}`;
/** Beside it: a commit on top of the same work that says what is needed to go on from it. */
export const workRef = (taskId: string, runId: string): string => `refs/fleet/${taskId}/${runId}.work`;
/** Where a result waits for a second worker, at the repository that it came from. */
export const RESULT_SUFFIX = '.result';
export const resultRef = (taskId: string, runId: string): string => rescueRef(taskId, runId) + RESULT_SUFFIX;
/** Where a repository's remote keeps the newest work of a task under way, for another machine to go on from. */
export const wipRef = (taskId: string): string => `refs/fleet/${taskId}/wip`;
/** Id of the workflow that is a worker's durable record; no task id has a slash. */
export const workerRecordId = (hostQueue: string): string => `worker/${hostQueue.slice('host/'.length)}`;
/** Id of the order to one worker, by name, or to all. */
export const orderId = (worker?: string): string => (worker === undefined ? 'order/all' : `order/worker/${worker}`);

/** Temporal's priority key, 1 (first) to 5, of a priority 0 (critical) to 100. */
export const priorityKey = (priority: number): number => 1 + Math.min(4, Math.floor(priority / 20));

/** The most bytes of a fairness key. */
const FAIRNESS_KEY = 64;

/** By what the server orders claims of one queue: within one priority, producers take turns, or else repositories. */
export function priorityOf(task: { priority: number; producer?: string | undefined; repo?: string | undefined }): {
  priorityKey: number;
  fairnessKey?: string;
} {
  const whose = task.producer ? `by ${task.producer}` : (task.repo ?? '');
  const fairnessKey = whose.replace(/[^\x20-\x7e]/g, '_').slice(-FAIRNESS_KEY);
  return { priorityKey: priorityKey(task.priority), ...(fairnessKey ? { fairnessKey } : {}) };
}

/** The notes that a task's runs hand on to each other. */
const PLAN = 'PLAN_AND_STATUS.md';
const KNOWLEDGE = 'KNOWLEDGE.md';

/** Paths under `$FLEET_HOME`. */
export function homeLayout(root: string) {
  return {
    root,
    config: `${root}/config.yaml`,
    bin: `${root}/bin`,
    workerId: `${root}/worker.id`,
    workerLock: `${root}/worker.lock`,
    keeperSocket: `${root}/keeper.sock`,
    keeperLock: `${root}/keeper.lock`,
    keeperLog: `${root}/keeper.log`,
    proxySocket: `${root}/proxy.sock`,
    egressSocket: `${root}/egress.sock`,
    proxyLock: `${root}/proxy.lock`,
    proxyLog: `${root}/proxy.log`,
    proxyPort: `${root}/proxy.port`,
    workerLog: `${root}/worker.log`,
    /** Space set aside for receipts. */
    reserve: `${root}/reserve`,
    /** Short-lived files of the worker itself. */
    scratch: `${root}/scratch`,
    /** What was cleaned, one line of JSON each. */
    cleaned: `${root}/cleaned.jsonl`,
    /** What this worker did for one server. */
    ledger: (server: string) => `${root}/ledger/${server}.jsonl`,
    tally: `${root}/tally.json`,
    alerts: `${root}/alerts`,
    bases: `${root}/bases`,
    mirrors: `${root}/mirrors`,
    /** What setup installs, to be copied into trees. */
    packages: `${root}/packages`,
    vault: `${root}/vault`,
    /** The newest commit of each queue that is a git repository. */
    queueOf: (queue: string) => `${root}/queues/${queue}.git`,
    runs: `${root}/runs`,
    /** What the worker signs its receipts with, and reads sealed checks with. */
    keys: { dir: `${root}/keys`, signing: `${root}/keys/signing.pem`, identity: `${root}/keys/identity.age` },
    /** Checks of the queue's owner. */
    heldOut: `${root}/held-out`,
    tasks: `${root}/tasks`,
    mirror: (repo: string) => `${root}/mirrors/${repo}.git`,
    base: (repo: string, commit: string) => `${root}/bases/${repo}/${commit}.git`,
    vaultOf: (repo: string) => `${root}/vault/${repo}.git`,
    run: (taskId: string, runId: string) => runLayout(`${root}/runs/${taskId}/${runId}`),
    task: (taskId: string) => taskLayout(`${root}/tasks/${taskId}`),
  };
}

/** One run's folder. Only `work` is shown to the agent; everything else lies outside of its mount namespace. */
export function runLayout(dir: string) {
  return {
    dir,
    record: `${dir}/run.json`,
    launched: `${dir}/launched.json`,
    exit: `${dir}/exit.json`,
    outcome: `${dir}/outcome.json`,
    verified: `${dir}/verified.json`,
    /** What its receipts are sealed with. */
    seal: `${dir}/seal.json`,
    prompt: `${dir}/prompt`,
    result: `${dir}/result.git`,
    /** Made for each saving of the work, and gone after it. */
    save: `${dir}/save`,
    /** What was fetched of an earlier run's work. */
    resume: `${dir}/resume.git`,
    /** That work brought onto another base. */
    onto: `${dir}/onto.git`,
    /** Folder of an earlier run's session, for the coder to go on with. */
    session: `${dir}/session`,
    /** One folder a trial, see `Space`. */
    trial: (name: string) => `${dir}/trials/${name}`,
    /** What a reviewer may see: made for each time that one is asked, and gone after it. */
    review: `${dir}/review`,
    /** What the model proxy does for this run, with the real key; of its reviewer likewise. */
    wire: `${dir}/wire.json`,
    reviewWire: `${dir}/review-wire.json`,
    /** What its agent reached, gone with the run: a host's name can hold what is secret. */
    reached: `${dir}/reached.jsonl`,
    /** What a reviewer said of the task before the agent started. */
    gated: `${dir}/gated.json`,
    work: `${dir}/work`,
    tree: `${dir}/work/tree`,
    agentHome: `${dir}/work/home`,
    tmp: `${dir}/work/tmp`,
    /** Named pipe to the keeper: what the coder's hooks say of its tool calls. */
    hooks: `${dir}/work/hooks`,
    /** What the agent wants of others: a question, follow-ups. */
    outbox: `${dir}/work/outbox`,
    notes: `${dir}/work/notes`,
    plan: `${dir}/work/notes/${PLAN}`,
    knowledge: `${dir}/work/notes/${KNOWLEDGE}`,
  };
}

/** What stays of a task on the worker that ran it, after the run's folder is gone. */
export function taskLayout(dir: string) {
  return {
    dir,
    /** As its last run here was prepared: outlives that. */
    prepared: `${dir}/task.json`,
    /** Whose task it is: a `TaskOrigin`. */
    origin: `${dir}/origin.json`,
    artifacts: `${dir}/artifacts`,
    plan: `${dir}/artifacts/${PLAN}`,
    knowledge: `${dir}/artifacts/${KNOWLEDGE}`,
    runOf: (n: number) => ({
      dir: `${dir}/${n}`,
      events: `${dir}/${n}/events.jsonl`,
      /** Folder of `stdout.<offset>`, `stderr.<offset>` and `hooks.<offset>` segments. */
      logs: `${dir}/${n}/logs`,
      /** What its model proxy saw, one `WireLine` each. */
      wire: `${dir}/${n}/wire.jsonl`,
      reviewWire: `${dir}/${n}/review-wire.jsonl`,
      receipts: `${dir}/${n}/receipts.jsonl`,
      patch: `${dir}/${n}/result.patch`,
      /** What the commands of a trial printed. */
      trialLog: (name: string) => `${dir}/${n}/${name}.log`,
      reviewLog: `${dir}/${n}/review.log`,
      setupLog: `${dir}/${n}/setup.log`,
      outputs: `${dir}/${n}/outputs`,
    }),
  };
}
export type HomeLayout = ReturnType<typeof homeLayout>;
export type RunLayout = ReturnType<typeof runLayout>;
