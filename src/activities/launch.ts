import { CancelledFailure, Context } from '@temporalio/activity';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { newestChange } from '../adapters/file-changes.ts';
import { writeJson } from '../adapters/json-file.ts';
import type { Prepared } from '../adapters/run-registry.ts';
import type { StoredEvent } from '../domain/event.ts';
import type { Failure } from '../domain/failure.ts';
import { branchOf } from '../domain/names.ts';
import { buildPrompt } from '../domain/prompt.ts';
import type { AgentOutcome, ExitRecord, Launched, Progress, RunRef, StopReason } from '../domain/run.ts';
import type { AgentStart, Coder } from '../ports.ts';
import { endOf, endRun, isolationPlan, requirePrepared, unlessLost, type Deps } from './context.ts';
import { environment } from './environment.ts';
import { Follower } from './follow.ts';
import { heartbeating, isTaskCancelled } from './heartbeat.ts';
import { IdleClock } from './idle.ts';

const POLL_MS = 200;
const CLAIM_MAX = 2_000;

export type LaunchOrder = RunRef & { feedback: string[] };

/** Starts the agent of a run under the keeper, or adopts it where it was started before, and follows it to its end. */
export async function launchAgent(deps: Deps, order: LaunchOrder): Promise<Launched> {
  const { prepared, coder: name, n } = requirePrepared(deps, order);
  const coder = deps.knownCoders.get(name);
  if (!coder) return { ok: false, failure: missing(deps, name) };
  const files = deps.home.run(order.taskId, order.runId);
  const follower = await Follower.open(deps.home.task(order.taskId).runOf(n), coder);

  if ((await deps.keeper.status(order)).state === 'unknown') {
    if (!deps.coders.has(name)) return { ok: false, failure: missing(deps, name) };
    const refused = await start(deps, order, { coder, prepared, n });
    if (refused) return { ok: false, failure: refused };
  }

  const progress = (): Progress => ({
    runId: order.runId,
    state: 'running',
    usage: follower.usage,
    ...(follower.lastAt ? { lastEventAt: follower.lastAt } : {}),
    ...(follower.last ? { lastEvent: describe(follower.last) } : {}),
  });
  const exit = await heartbeating(progress, () => superviseAgent(deps, order, { follower, prepared }));
  if (!exit) return { ok: false, failure: KEEPER_LOST };
  if (exit.exitCode === NOT_FOUND && exit.stdout.bytes === 0) return { ok: false, failure: missing(deps, name) };
  const outcome: AgentOutcome = {
    ...exit,
    session: follower.session,
    model: follower.model ?? prepared.task.model ?? coder.model ?? null,
    ended: follower.ended && { ok: follower.ended.ok, failure: follower.ended.failure ?? null },
    claim: (follower.ended?.text || follower.text).slice(0, CLAIM_MAX),
    until: follower.until,
    usage: follower.usage,
  };
  await writeJson(files.outcome, outcome);
  return { ok: true, outcome };
}

/** What a shell ends with where there is no such program. */
const NOT_FOUND = 127;

const missing = ({ worker }: Deps, coder: string): Failure => ({
  reason: 'coder-missing',
  message: `the program of coder ${coder} is not on ${worker.name}`,
});

const KEEPER_LOST: Failure = { reason: 'host-lost', message: 'the keeper of this run was lost, and its agent with it' };

/** Never starts a second agent for one run: where an earlier keeper is gone, so is its agent. */
async function start(
  deps: Deps,
  order: LaunchOrder,
  { coder, prepared, n }: { coder: Coder; prepared: Prepared; n: number },
): Promise<Failure | undefined> {
  const files = deps.home.run(order.taskId, order.runId);
  const { task: asked, policy } = prepared;
  const prompt = buildPrompt({
    task: asked,
    policy,
    feedback: order.feedback,
    branch: branchOf(order.taskId),
    plan: files.plan,
    knowledge: files.knowledge,
  });
  await writeFile(files.prompt, prompt);
  const agent = coder.start({
    runId: order.runId,
    tree: files.tree,
    home: files.agentHome,
    userHome: deps.env['HOME'] ?? '/',
    prompt,
    ...(asked.model ? { model: asked.model } : {}),
  });
  await putFiles(agent.files);
  const launched = await deps.keeper.launch({
    taskId: order.taskId,
    runId: order.runId,
    logsDir: deps.home.task(order.taskId).runOf(n).logs,
    argv: agent.argv,
    cwd: files.tree,
    stdin: agent.stdin,
    env: environment(deps.env, [...coder.env, ...asked.env], {
      HOME: files.agentHome,
      TMPDIR: files.tmp,
      PWD: files.tree,
      FLEET_TASK: order.taskId,
      FLEET_RUN: order.runId,
      ...agent.env,
    }),
    ...isolationPlan(deps, order, prepared),
    deadlineMs: policy.limits.totalMs,
  });
  if (launched.ok) return undefined;
  if (launched.why === 'cannot-start') throw new Error(`the agent cannot be started: ${launched.message}`);
  return KEEPER_LOST;
}

/** Follows the agent until nothing of its process tree lives, and stops it at its limits. Undefined: its keeper is gone. */
async function superviseAgent(
  deps: Deps,
  ref: RunRef,
  { follower, prepared }: { follower: Follower; prepared: Prepared },
): Promise<ExitRecord | undefined> {
  const { keeper, home } = deps;
  const { limits } = prepared.policy;
  const files = home.run(ref.taskId, ref.runId);
  const context = Context.current();
  const ended = endOf(keeper, ref, context.cancellationSignal);
  const idle = new IdleClock(limits.idleMs, performance.now());
  const idleEveryMs = Math.min(30_000, Math.max(500, limits.idleMs / 20));
  let nextIdle = performance.now() + idleEveryMs;
  let stopping: StopReason | undefined;
  const stop = (reason: StopReason) => {
    if (stopping) return;
    stopping = reason;
    keeper.stop({ ...ref, reason }).catch(() => undefined);
  };

  for (;;) {
    const end = await Promise.race([ended, tick(context)]);
    if (end === 'cancelled') {
      if (!isTaskCancelled()) throw new CancelledFailure('the worker lets go of this run; its agent goes on');
      await endRun(deps, ref, 'cancelled');
      throw new CancelledFailure('the task was cancelled');
    }
    await follower.drain(end !== 'tick');
    if (end !== 'tick') return end.state === 'ended' ? end.exit : undefined;

    const { usage } = follower;
    if (limits.tokens && usage.inputTokens + usage.outputTokens > limits.tokens) stop('over-budget');
    if (limits.costUsd && usage.costUsd > limits.costUsd) stop('over-budget');
    if (follower.waiting) stop('waiting-for-permission');
    if (performance.now() < nextIdle) continue;
    nextIdle = performance.now() + idleEveryMs;
    const status = await keeper.status(ref).catch(unlessLost);
    if (status?.state !== 'live') continue;
    const sign = { now: performance.now(), bytes: follower.bytes + status.stderrBytes, cpuMs: status.cpuMs };
    if (idle.sample(sign) === 'active') continue;
    const silentMs = performance.now() - idle.since;
    if ((await newestChange(files.tree, Date.now() - silentMs)) > Date.now() - silentMs)
      idle.stirred(performance.now());
    else stop('stalled');
  }
}

async function tick(context: Context): Promise<'tick' | 'cancelled'> {
  return Promise.race([context.sleep(POLL_MS).then(() => 'tick' as const), context.cancelled]).catch(
    () => 'cancelled' as const,
  );
}

async function putFiles(files: AgentStart['files']): Promise<void> {
  for (const [path, file] of Object.entries(files)) {
    await mkdir(dirname(path), { recursive: true });
    if ('text' in file) await writeFile(path, file.text);
    else
      await symlink(file.link, path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
  }
}

function describe(event: StoredEvent): string {
  if (event.type === 'text') return event.text.slice(0, 80);
  if (event.type === 'tool-call') return `${event.name} ${event.input}`.slice(0, 80);
  return event.type;
}
