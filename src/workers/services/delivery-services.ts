import { Context } from '@temporalio/activity';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Attached } from '../../activities/worker/services.ts';
import type { DeliveryServices, FindMerger, Merger, PullInput } from '../../activities/services/delivery-services.ts';
import { heartbeating } from '../../activities/worker/heartbeat.ts';
import { GitHub, type Answer } from '../../adapters/github/client.ts';
import { closePull } from '../../adapters/github/close-pull.ts';
import { lookAtPull } from '../../adapters/github/look-pull.ts';
import { openPull } from '../../adapters/github/open-pull.ts';
import type { Config } from '../../config.ts';
import { toMs } from '../../domain/values/duration.ts';
import type { MergeQueueRecord } from '../../domain/deliver/merge.ts';
import { MERGE_TYPE, mergeQueueId, SHARED_QUEUE, type HomeLayout } from '../../domain/names.ts';
import { pullBody, pullTitle } from '../../domain/deliver/pull-body.ts';
import { repositoryId } from '../repository-id.ts';
import { enterMergeSignal, leaveMergeSignal } from '../../workflows/messages.ts';

export interface DeliveryDeps {
  config: Config;
  env: NodeJS.ProcessEnv;
  worker: { name: string };
  client: Client;
  home: HomeLayout;
  attached(): Promise<Attached[]>;
}

/** What deliveries by pull request and by merge queue need of any worker. */
export function createDeliveryDesk(deps: DeliveryDeps): DeliveryServices {
  const { config, env, client } = deps;
  /** It beats, so that another worker soon asks instead of one that is lost. */
  const ask = <T>(url: string, work: (github: GitHub) => Promise<Answer<T>>): Promise<Answer<T>> =>
    heartbeating(
      () => null,
      async () => {
        const { cancellationSignal: signal } = Context.current();
        const opened = GitHub.open({ config: config.github, url, env, worker: deps.worker.name, signal });
        return opened.ok ? work(opened.github) : opened;
      },
    );
  return {
    openPull: ({ repo, branch, text, into, wish }: PullInput) => {
      const said = { title: pullTitle(text), body: pullBody(text), ...(into ? { base: into } : {}) };
      return ask(repo, (github) => openPull(github, { head: branch, commit: text.commit, ...wish, ...said }));
    },
    lookAtPull: async ({ repo, number }) => {
      const looked = await ask(repo, (github) => lookAtPull(github, number));
      if (!looked.ok) return looked;
      const { poll, settle } = config.github;
      return { ok: true, value: { ...looked.value, pollMs: toMs(poll), settleMs: toMs(settle) } };
    },
    closePull: ({ repo, branch, commit }) => ask(repo, (github) => closePull(github, { head: branch, commit })),
    joinMergeQueue: async ({ queue, entry }) => {
      await client.workflow.signalWithStart(MERGE_TYPE, {
        workflowId: idOf(queue),
        taskQueue: SHARED_QUEUE,
        args: [{ ...queue, waiting: [] } satisfies MergeQueueRecord],
        signal: enterMergeSignal,
        signalArgs: [entry],
        staticSummary: `merges into ${queue.into}`,
      });
    },
    leaveMergeQueue: async ({ queue, id }) => {
      try {
        await client.workflow.getHandle(idOf(queue)).signal(leaveMergeSignal, { id });
        return true;
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
        return false;
      }
    },
    findMerger: async (wanted) => chooseMerger(await deps.attached(), wanted),
  };
}

const idOf = ({ repo, machine, into }: Pick<MergeQueueRecord, 'repo' | 'machine' | 'into'>): string =>
  mergeQueueId(repositoryId({ repo, machine }), into);

function chooseMerger(attached: readonly Attached[], { queue, machine, prefer, avoid }: FindMerger): Merger | null {
  const able = attached.filter(({ machine: on, queues, hostQueue }) =>
    machine ? on === machine : queues.includes(queue) || prefer.includes(hostQueue),
  );
  const rank = ({ hostQueue }: Attached) =>
    (hostQueue === avoid ? 1_000 : 0) + (prefer.includes(hostQueue) ? prefer.indexOf(hostQueue) : prefer.length);
  const [best] = able.sort((a, b) => rank(a) - rank(b));
  return best ? { name: best.name, hostQueue: best.hostQueue, lease: best.lease } : null;
}
