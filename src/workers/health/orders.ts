import type { Client } from '@temporalio/client';
import { endOf, unlessLost, type Deps } from '../../activities/worker/context.ts';
import { orderId } from '../../domain/names.ts';
import { orderSentence, strongest, type FleetOrder } from '../../domain/worker/worker.ts';

/** Two cheap calls; what `fleet stop --now` promises depends on it. */
const EVERY_MS = 3_000;
const DEADLINE_MS = 3_000;
const TRIES = 5;
/** The longest that one look waits for agents to die. */
const DYING_MS = 20_000;

export interface Orders {
  /** The first look: tried again for as long as a server may be busy. */
  heard(): Promise<void>;
  stop(): Promise<void>;
}

type Obeying = Pick<Deps, 'holds' | 'keeper' | 'programs' | 'registry' | 'worker'>;

/**
 * Obeys what people order this worker, or all: see `FleetOrder`. Where the server does not say, what it said last goes
 * on. The end of a drain is `Leaving`'s.
 */
export function startOrders(deps: Obeying, client: Client, log: (line: string) => void): Orders {
  let looking: Promise<void> | undefined;
  const look = () =>
    (looking ??= read(client, deps.worker.name)
      .then((orders) => obey(deps, orders, log))
      .finally(() => (looking = undefined)));
  const timer = setInterval(() => void look().catch(() => undefined), EVERY_MS);
  return {
    heard: async () => {
      for (let tries = TRIES; ; tries -= 1) {
        const failed = await look().then(
          () => undefined,
          (error: unknown) => ({ error }),
        );
        if (!failed) return;
        if (tries === 1) throw failed.error;
      }
    },
    stop: async () => {
      clearInterval(timer);
      await looking?.catch(() => undefined);
    },
  };
}

interface Standing {
  all: FleetOrder | null;
  own: FleetOrder | null;
}

async function read(client: Client, worker: string): Promise<Standing> {
  const [all = null, own = null] = await Promise.all([orderId(), orderId(worker)].map((id) => standing(client, id)));
  return { all, own };
}

async function standing(client: Client, workflowId: string): Promise<FleetOrder | null> {
  try {
    const described = await client.withDeadline(Date.now() + DEADLINE_MS, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
    return described.status.name === 'RUNNING' ? (described.memo as unknown as FleetOrder) : null;
  } catch (error) {
    if (error instanceof Error && error.name === 'WorkflowNotFoundError') return null;
    throw error;
  }
}

async function obey(deps: Obeying, { all, own }: Standing, log: (line: string) => void): Promise<void> {
  const { holds, worker } = deps;
  const order = strongest(all, own);
  const fresh = order?.at !== holds.order?.at;
  if (order && fresh) log(`this worker is ${orderSentence(order, order === all ? undefined : worker.name)}`);
  if (!order && holds.order) log('this worker takes new work again');
  // Counted before anybody stops them.
  const agents = order?.mode === 'stop' ? await liveAgents(deps) : [];
  const reviewers = deps.programs.agents;
  holds.order = order;
  if (fresh) holds.stopped = null;
  holds.set('fleet order', all && `the fleet is ${orderSentence(all)}`);
  holds.set('worker order', own && `${worker.name} is ${orderSentence(own, worker.name)}`);
  if (order?.mode !== 'stop' || !(await stopAgents(deps, agents))) return;
  holds.stopped = { at: order.at, agents: (holds.stopped?.agents ?? 0) + agents.length + reviewers };
}

/** Also those that nobody follows at the moment. */
async function liveAgents({ keeper }: Obeying): Promise<{ taskId: string; runId: string }[]> {
  const held = (await keeper.list().catch(unlessLost)) ?? [];
  return held.flatMap(({ taskId, runId, live }) => (live ? { taskId, runId } : []));
}

/** With what runs beside them. False where something could not be ended in time. An agent whose launch is under way is waited for. */
async function stopAgents({ keeper, programs, registry }: Obeying, agents: Awaited<ReturnType<typeof liveAgents>>) {
  const refs = [...agents, ...registry.list().map(({ taskId, runId }) => ({ taskId, runId }))];
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(), DYING_MS);
  const late = new Promise<false>((resolve) => giveUp.signal.addEventListener('abort', () => resolve(false)));
  const ended = refs.map(async (ref) => {
    await keeper.stop({ ...ref, reason: 'killed' }).catch(unlessLost);
    await endOf(keeper, ref, giveUp.signal);
  });
  const down = await Promise.race([Promise.all([...ended, programs.end()]).then(() => true), late]);
  clearTimeout(timer);
  return down;
}
