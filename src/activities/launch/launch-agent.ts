import { writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { failpoint } from '../../adapters/failpoint.ts';
import { readNote } from '../../adapters/state/notes.ts';
import { putFiles, withoutRepeats } from '../../adapters/disk/put-files.ts';
import { KeeperLost } from '../../adapters/keeper/client.ts';
import type { LaunchAnswer, LaunchInput as KeeperInput } from '../../adapters/keeper/protocol.ts';
import type { Prepared, RunRecord } from '../../adapters/state/run-registry.ts';
import { doingOf } from '../../domain/agent/activity-status.ts';
import type { StoredEvent } from '../../domain/agent/event.ts';
import type { Failure } from '../../domain/agent/failure.ts';
import { branchOf } from '../../domain/names.ts';
import { treeEntries } from '../../adapters/git/entries.ts';
import { lfsPointers } from '../../adapters/git/worktree/lfs.ts';
import { buildPrompt } from '../../domain/prompt/prompt.ts';
import type { Launched, Progress, RunRef } from '../../domain/view/task-view.ts';
import type { RunContext } from '../../domain/prompt/run-context.ts';
import type { Coder } from '../../ports.ts';
import { accountOf, noAccount } from '../credentials/credentials.ts';
import { conclude } from './outcome.ts';
import { missing, isolationPlan, requirePrepared, type Deps } from '../worker/context.ts';
import { environment } from '../worker/environment.ts';
import { Follower } from '../output/event-follower.ts';
import { heartbeating } from '../worker/heartbeat.ts';
import { openModelCalls, wirePlace } from '../output/model-calls.ts';
import { agentsWay } from '../prepare/network.ts';
import { toolServer } from '../output/outbox.ts';
import { tellOutcome, tellRefused } from '../credentials/report-credential.ts';
import { persist } from '../worker/persist.ts';
import { stillWanted } from './confirm-attempt.ts';
import { givenVariables } from '../prepare/variables.ts';
import { superviseAgent } from './supervise.ts';
import { usageOf } from '../output/usage.ts';
import { WireWatch } from '../output/proxy-watch.ts';

export type LaunchInput = RunRef & RunContext;

/** Starts the agent of a run under the keeper, or adopts it where it was started before, and follows it to its end. */
export async function launchAgent(deps: Deps, order: LaunchInput): Promise<Launched> {
  const record = requirePrepared(deps, order);
  const { coder: name, n, prepared } = record;
  const coder = deps.knownCoders.get(name);
  if (!coder) return { ok: false, failure: missing(deps, name) };
  const follower = await Follower.open(deps.home.task(order.taskId).runOf(n), coder);

  const refused = await askingAgain(async () => {
    if ((await deps.keeper.status(order)).state !== 'unknown') return undefined;
    if (!deps.coders.has(name)) return missing(deps, name);
    return deps.holds.stopsAgents ? STOPPED : start(deps, order, { coder, record });
  });
  if (refused) return { ok: false, failure: await tellRefused(deps, record, refused) };

  const used = () => usageOf(deps, follower, { record, coder });
  const wire = new WireWatch(deps, order, prepared.policy.limits.idleMs);
  const progress = (): Progress => ({
    runId: order.runId,
    state: 'running',
    usage: used(),
    ...(follower.lastAt ? { at: new Date().toISOString(), lastEventAt: follower.lastAt } : {}),
    ...(follower.last ? { lastEvent: describe(follower.last) } : {}),
    ...doing(follower, wire),
  });
  const ended = await heartbeating(progress, () => superviseAgent(deps, order, { follower, prepared, used, wire }));
  await persist(deps, () => deps.proxy.close(wirePlace(deps, order)));
  if (!ended) return { ok: false, failure: KEEPER_LOST };
  failpoint('launch.ended');
  const launched = await conclude(deps, order, { ...ended, follower, coder });
  if (launched.ok) deps.fitness.proved();
  return tellOutcome(deps, record, launched);
}

const STOPPED: Failure = { reason: 'killed', message: 'a person stopped the agents before this one was started' };
const KEEPER_LOST: Failure = { reason: 'host-lost', message: 'the keeper of this run was lost, and its agent with it' };

const TRIES = 5;

/** A keeper that was lost while it was asked has started the agent, or has not: the next one knows. */
async function askingAgain<T>(ask: () => Promise<T>): Promise<T> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof KeeperLost) || left === 1) throw error;
    }
  }
}

/** Never starts a second agent for one run: where an earlier keeper is gone, so is its agent. */
async function start(
  deps: Deps,
  order: LaunchInput,
  { coder, record }: { coder: Coder; record: RunRecord & { prepared: Prepared } },
): Promise<Failure | undefined> {
  const { prepared, n } = record;
  const account = await accountOf(deps, { record, coder }).catch(noAccount);
  if ('reason' in account) return account;
  const files = deps.home.run(order.taskId, order.runId);
  const { task: asked, policy, resumed } = prepared;
  const session = resumed?.session ?? null;
  // A record of an older version does not know what its task pins.
  const model = record.model ?? asked.model;
  const server = coder.mcp && toolServer(files.outbox, asked.agentTools ?? []);
  const prompt = buildPrompt({
    task: asked,
    policy,
    feedback: order.person === undefined ? order.feedback : order.feedback.slice(0, -1),
    person: order.person,
    resumed: resumed && { ...resumed, session: session !== null },
    tree: files.tree,
    branch: branchOf(order.taskId),
    submodules: prepared.submodules.map(({ path }) => path),
    pointers: await lfsPointers({ gitDir: prepared.baseDir }, await treeEntries(prepared.baseDir, prepared.base)),
    answers: order.answers ?? [],
    notes: order.notes ?? [],
    dropped: order.dropped ?? false,
    outbox: { path: files.outbox, tools: asked.agentTools ?? [], mcp: server !== undefined },
    plan: await noteAt(files.plan),
    knowledge: await noteAt(files.knowledge),
  });
  await writeFile(files.prompt, prompt);
  failpoint('launch.prompt-written');
  const logs = deps.home.task(order.taskId).runOf(n);
  const given = givenVariables(deps);
  const names = asked.env.filter((name) => given.includes(name));
  const secrets = deps.secrets.of(coder, account.env, names);
  const calls = await openModelCalls(deps, {
    ...{ coder, account, model, secrets, id: order.runId, file: files.wire, wireFile: logs.wire },
  });
  const out = await agentsWay(deps, {
    ...{ coder, account, gateway: calls.gateway, proxied: calls.proxy !== undefined, repo: asked.repo },
    narrowed: policy.network.agents,
    reached: files.reached,
    place: wirePlace(deps, order),
  });
  const agent = coder.start({
    runId: order.runId,
    tree: files.tree,
    home: files.agentHome,
    userHome: account.userHome,
    prompt,
    inherit: deps.config.context.inherit,
    hooks: files.hooks,
    own: calls.own,
    ...(calls.proxy ? { proxy: calls.proxy } : {}),
    ...(server ? { mcp: server } : {}),
    ...(model ? { model } : {}),
    ...(session ? { resume: session } : {}),
  });
  const told = (coder.context ?? []).filter(({ kind, from }) => kind === 'instructions' && from === 'project');
  const repository = { userHome: account.userHome, tree: files.tree, instructions: told.map(({ glob }) => glob) };
  await putFiles(await withoutRepeats(agent.files, repository));
  const launched = await launchWanted(deps, {
    taskId: order.taskId,
    runId: order.runId,
    logsDir: logs.logs,
    argv: agent.argv,
    cwd: files.tree,
    stdin: agent.stdin,
    ...(agent.hooks ? { hooks: files.hooks } : {}),
    secrets,
    env: environment(deps.env, names, {
      ...calls.env,
      ...out.env,
      HOME: files.agentHome,
      TMPDIR: files.tmp,
      PWD: files.tree,
      FLEET_TASK: order.taskId,
      FLEET_RUN: order.runId,
      FLEET_OUTBOX: files.outbox,
      ...agent.env,
    }),
    ...isolationPlan(deps, order, { ...prepared, files: agent.files }),
    debuggers: true,
    ...out.plan,
    limits: {
      processes: policy.limits.processes,
      diskBytes: policy.limits.diskBytes,
      ...(policy.limits.memoryBytes ? { memoryBytes: policy.limits.memoryBytes } : {}),
    },
    deadlineMs: policy.limits.totalMs,
  });
  failpoint('launch.started');
  if (launched.ok) return undefined;
  if (launched.why === 'cannot-start')
    return { reason: 'machine-fault', message: `the agent cannot be started: ${launched.message}` };
  return KEEPER_LOST;
}

const NOTE_BYTES = 64 * 1024;

/** The agent owns the folder. */
async function noteAt(path: string): Promise<{ path: string; text: string }> {
  const bytes = await readNote({ notes: dirname(path), name: basename(path), offset: 0, max: NOTE_BYTES });
  return { path, text: bytes?.toString('utf8') ?? '' };
}

/** A task that was delivered late, or to a worker that then stood still, may have been claimed elsewhere meanwhile. */
async function launchWanted(
  { keeper }: Deps,
  order: Omit<KeeperInput, 'askedAtBootSeconds'>,
): Promise<Exclude<LaunchAnswer, { why: 'too-late' }>> {
  for (;;) {
    const launched = await keeper.launch({ ...order, askedAtBootSeconds: await stillWanted() });
    if (launched.ok || launched.why !== 'too-late') return launched as Exclude<LaunchAnswer, { why: 'too-late' }>;
  }
}

function doing({ tool, lastAt }: Follower, wire: WireWatch): { doing?: string } {
  const said = doingOf({ wire: wire.live, tool: tool && { what: describe(tool), at: tool.at }, lastAt }, Date.now());
  return said === undefined ? {} : { doing: said };
}

function describe(event: StoredEvent): string {
  if (event.type === 'text') return event.text.slice(0, 80);
  if (event.type === 'tool-call') return `${event.name} ${event.input}`.slice(0, 80);
  return event.type;
}
