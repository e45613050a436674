import { Context } from '@temporalio/activity';
import type { DeliveryServices } from '../../activities/services/delivery-services.ts';
import type { TaskServices } from '../../activities/services/task-services.ts';
import { sendAlert } from '../../activities/services/send-alert.ts';
import { postWebhook } from '../../adapters/notify.ts';
import { cancelTask } from '../../client/act/decide.ts';
import { createProposed } from '../../client/start/hand-off.ts';
import { lookUpTask } from '../../client/read/look-up.ts';
import { mapBounded } from '../../client/connection.ts';
import { redact } from '../../adapters/git/git.ts';
import { repositoryId } from '../repository-id.ts';
import { isClosed } from '../../domain/scheduling/dependencies.ts';
import { LOCKS_TYPE, locksId, SHARED_QUEUE } from '../../domain/names.ts';
import { newLocks } from '../../domain/scheduling/scope-locks.ts';
import { parseTask } from '../../domain/task/parse.ts';
import { askScopeSignal } from '../../workflows/messages.ts';
import { createDeliveryDesk, type DeliveryDeps } from './delivery-services.ts';

const WIDTH = 8;

/** What any worker does for the workflows that it carries on. */
export function createDesk(deps: DeliveryDeps): TaskServices & DeliveryServices {
  const { client, config } = deps;
  const wire = { client, config };
  const lookUpTasks: TaskServices['lookUpTasks'] = (ids) => mapBounded(ids, WIDTH, (id) => lookUpTask(wire, id));
  return {
    ...createDeliveryDesk(deps),
    parseTask: async (input) => parseTask(input),
    lookUpTasks,
    lookUpEnded: async (ids) => (await lookUpTasks(ids)).filter(({ state }) => isClosed(state)),
    createProposed: (proposals) => createProposed(wire, proposals),
    tellWebhook: ({ url, ...said }) =>
      postWebhook({
        ...{ url, key: said.key, body: JSON.stringify(said), setting: 'callback.webhook' },
        signal: Context.current().cancellationSignal,
      }),
    tellPeople: (said) => sendAlert(deps, said),
    cancelTask: (id) => cancelTask(wire, id),
    trustsOutside: async ({ as, labels }) =>
      config.outside.trusted.includes(as) && !labels.some((label) => config.irreversible.labels.includes(label)),
    async askForScope({ repo, machine, ...ask }) {
      const workflowId = locksId(repositoryId({ repo, machine }));
      const staticSummary = `scopes of ${redact(repo)}`.slice(0, 200);
      await client.workflow.signalWithStart(LOCKS_TYPE, {
        ...{ workflowId, taskQueue: SHARED_QUEUE, args: [newLocks(redact(repo))], staticSummary },
        signal: askScopeSignal,
        signalArgs: [ask],
      });
      return workflowId;
    },
  };
}
