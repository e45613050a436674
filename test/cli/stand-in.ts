import { fileURLToPath } from 'node:url';
import { Context, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { NO_USAGE } from '../../src/domain/agent/event.ts';
import { parseTask } from '../../src/domain/task/parse.ts';
import type { Question } from '../../src/domain/people/question.ts';
import { attachRecord } from '../../src/workers/record.ts';
import type { WorkerFacts, WorkerView } from '../../src/domain/worker/worker.ts';
import type { Progress, Verified } from '../../src/domain/view/task-view.ts';
import type { AgentOutcome } from '../../src/domain/run/outcome.ts';

export const HOST = 'host/ada-0a1b2c';
export const LOG = 'one\n\u001b[31mtwo\u001b[0m\nthree ✓\n';

/** A worker called ada: the real workflows, and activities that do nothing. An objective `block` runs for good, `reject` is rejected. `aheadMs`: its clock. */
export async function standIn(address: string, { aheadMs = 0 } = {}): Promise<AsyncDisposable> {
  const clock = () => new Date(Date.now() + aheadMs).toISOString();
  const facts = { ...FACTS, since: clock() };
  const connection = await NativeConnection.connect({ address });
  const common = { connection, identity: 'fleet/ada-0a1b2c', maxHeartbeatThrottleInterval: '50ms' } as const;
  const { registerRun, sendAlert, ...onHost } = activities(clock);
  const workers = await Promise.all([
    Worker.create({
      ...common,
      taskQueue: 'fleet',
      workflowsPath: fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url)),
      activities: { registerRun, sendAlert, parseTask: (input: unknown) => Promise.resolve(parseTask(input)) },
    }),
    Worker.create({ ...common, taskQueue: HOST, activities: { ...onHost, sendAlert } }),
  ]);
  const running = workers.map((each) => each.run());
  await attachRecord(new Client({ connection }), facts);
  return {
    [Symbol.asyncDispose]: async () => {
      for (const each of workers) each.shutdown();
      await Promise.all(running);
      await connection.close();
    },
  };
}

const NOTHING = { takenIn: 0, done: 0, failed: 0, cancelled: 0, parked: 0, handedOver: 0, kept: 0, live: 0 };
const FACTS: Omit<WorkerFacts, 'since'> = {
  ...{ name: 'ada', machine: 'm', hostQueue: HOST, queues: ['fleet'], coders: [{ name: 'claude', version: '2' }] },
  ...{ slots: 2, lease: { heartbeatMs: 5_000, graceMs: 5_000 }, version: '0', pid: 1 },
};

const objectives = new Map<string, string>();
const exit = { exitCode: 0, signal: null, stopped: null, leftover: 0, isolation: 'namespace' as const };
const stream = { bytes: 0, sha256: '' };
const outcome: AgentOutcome = {
  ...{
    ...exit,
    startedAt: new Date().toISOString(),
    endedAt: new Date().toISOString(),
    stdout: stream,
    stderr: stream,
  },
  ...{ session: null, model: null, ended: { ok: true, failure: null }, claim: 'done', until: null, usage: NO_USAGE },
};

const activities = (clock: () => string) => ({
  async registerRun({ n }: { n: number }) {
    const lease = { heartbeatMs: 5_000, graceMs: 5_000 };
    return { runId: `${n}-aaaaaa`, n, worker: 'ada', machine: 'm', hostQueue: HOST, coder: 'claude', lease };
  },
  async createWorktree({ taskId, task }: { taskId: string; task: { objective: string } }) {
    objectives.set(taskId, task.objective);
    return { ok: true, base: 'a'.repeat(40) };
  },
  async launchAgent({ taskId, runId }: { taskId: string; runId: string }) {
    while (objectives.get(taskId) === 'block') {
      const usage = { ...NO_USAGE, inputTokens: 1_000, outputTokens: 200, contextTokens: 900 };
      const said: Progress = {
        runId,
        state: 'running',
        lastEvent: 'Bash npm test',
        lastEventAt: clock(),
        at: clock(),
        usage,
      };
      heartbeat(said);
      await Context.current().sleep(50);
    }
    return { ok: true, outcome };
  },
  async verifyReceipts({ taskId }: { taskId: string }): Promise<Verified> {
    const ok = objectives.get(taskId) !== 'reject';
    const receipt = { kind: 'exit' as const, ok, summary: 'ended with 0', evidence: {}, digest: 'd' };
    const reasons = ok ? [] : ['exit: ended with 0'];
    const verdict = {
      accepted: ok,
      reasons,
      reason: ok ? null : ('receipts-rejected' as const),
      acceptance: false,
      doneBy: ['git' as const],
      digest: 'v',
    };
    return { verdict, receipts: [receipt], commit: null };
  },
  async deliver() {
    return { ok: true, branch: null, commit: '' };
  },
  async findRun() {
    return true;
  },
  async releaseRun() {},
  async sendAlert() {},
  async workerHeartbeat({ since }: { since: string }) {
    const { name, machine, hostQueue, queues, coders, slots } = FACTS;
    const view = (): WorkerView => ({
      ...{ name, machine, hostQueue, queues, coders, since, version: '0', pid: 1, at: clock() },
      ...{ slots: { total: slots, used: 0 }, runs: [], holds: [], leaving: false, order: null, stopped: null },
      ...{ freeBytes: null, tally: { ...NOTHING, since } },
    });
    for (;;) {
      heartbeat(view());
      await Context.current().sleep(50);
    }
  },
  /** A piece of ten characters at a time. */
  async readLog(question: Question) {
    if (question.ask !== 'file') throw ApplicationFailure.nonRetryable('it was asked for something else');
    if (question.file !== 'log') throw ApplicationFailure.nonRetryable('no such file');
    const text = LOG.slice(question.offset, question.offset + 10);
    return { text, next: question.offset + text.length, end: text === '', gap: 0 };
  },
});
