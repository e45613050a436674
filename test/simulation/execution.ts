import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { coresdk, temporal } from '@temporalio/proto';
import { setActivator } from '@temporalio/workflow/lib/global-attributes.js';
import { Activator } from '@temporalio/workflow/lib/internals.js';
import {
  activate,
  concludeActivation,
  initialize,
  tryUnblockConditions,
} from '@temporalio/workflow/lib/worker-interface.js';
import type { TaskView } from '../../src/domain/view/task-view.ts';
import { taskDigest } from '../../src/domain/task/task-digest.ts';
import { parseTask } from '../../src/domain/task/parse.ts';
import * as workflows from '../../src/workflows/index.ts';

export type Command = coresdk.workflow_commands.IWorkflowCommand;
export type Job = coresdk.workflow_activation.IWorkflowActivationJob;
export type Failure = temporal.api.failure.v1.IFailure;

const ACTIVITIES = new Set([
  ...['registerRun', 'createWorktree', 'launchAgent', 'verifyReceipts', 'deliver', 'releaseRun', 'findRun'],
  ...['deliverRescued', 'keepAccepted', 'sendAlert', 'lookUpEnded'],
]);

export const toPayload = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
/** What a client of ours starts `agentTask` with. */
export function startArguments(input: unknown): Payload[] {
  const parsed = parseTask(input);
  if (!parsed.ok) throw new Error(parsed.message);
  return [parsed.task, taskDigest(parsed.task)].map(toPayload);
}

export const fromPayload = <T>(payload: unknown): T => defaultPayloadConverter.fromPayload<T>(payload as Payload);

/** One execution of the real `agentTask` by the real workflow library: jobs in, commands out. Only the server is not real. */
export class Execution {
  readonly #activator: Activator;
  readonly #now: () => number;
  #started = false;

  constructor(workflowId: string, now: () => number) {
    this.#now = now;
    const info = {
      ...{
        workflowId,
        runId: `${workflowId}-run`,
        workflowType: 'agentTask',
        taskQueue: 'fleet',
        namespace: 'default',
      },
      ...{
        searchAttributes: {},
        typedSearchAttributes: undefined,
        firstExecutionRunId: `${workflowId}-run`,
        attempt: 1,
      },
      ...{ historyLength: 1, historySize: 1, continueAsNewSuggested: false, startTime: new Date(now()) },
      runStartTime: new Date(now()),
      unsafe: { isReplaying: false, isReplayingHistoryEvents: false, now, random: { random: () => 0.5 } },
    };
    this.#activator = new Activator({
      info: info as never,
      now: now(),
      randomnessSeed: [1],
      showStackTraceSources: false,
      sourceMap: {} as never,
      registeredActivityNames: ACTIVITIES,
      getTimeOfDay: () => 0n,
      stackTracesEnabled: false,
    });
    this.#activator.workflow = workflows.agentTask;
  }

  /** What the task says of itself; undefined before its first activation. */
  get view(): TaskView | undefined {
    const query = this.#activator.queryHandlers.get('view')?.handler as (() => TaskView) | undefined;
    return query?.();
  }

  /** @throws what would fail the workflow task: an error that is no Temporal failure */
  async activate(jobs: Job[]): Promise<Command[]> {
    const activator = this.#activator;
    activator.now = this.#now();
    setActivator(activator);
    try {
      const [first] = jobs;
      if (!this.#started && first?.initializeWorkflow) initialize(first.initializeWorkflow);
      this.#started = true;
      const sorted = jobs.toSorted((a, b) => rank(a) - rank(b));
      activate({ jobs: sorted.map((job) => ({ ...job, variant: Object.keys(job)[0] })) as Job[] });
      do await microtasks();
      while (tryUnblockConditions() > 0);
      activator.maybeRethrowWorkflowTaskError();
      activator.getAndResetSinkCalls();
      return concludeActivation().successful?.commands ?? [];
    } finally {
      setActivator(undefined);
    }
  }
}

/** As the SDK's core sorts them. */
const rank = (job: Job): number => (job.initializeWorkflow ? 0 : job.signalWorkflow || job.doUpdate ? 1 : 2);

const microtasks = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
