import type { Client } from '@temporalio/client';
import { sendAlert } from '../../activities/services/send-alert.ts';
import type { ScheduleServices } from '../../activities/services/schedule-services.ts';
import type { Deps } from '../../activities/worker/context.ts';
import { enqueueOnce } from '../../client/start/enqueue-once.ts';
import { lookAround } from '../../client/overview/survey.ts';
import { findingsOf, missedEnds, type Finding, type Seen } from '../../domain/produce/patrol.ts';
import { nudgeSignal } from '../../workflows/messages.ts';
import { takeFromBacklog } from '../backlog/take-backlog.ts';

/** What schedules and the patrol have done by the worker that carries their workflow on. */
export function createClockDesk(deps: Deps, client: Client): ScheduleServices {
  const wire = { client, config: deps.config };
  return {
    async enqueueScheduled({ id, input }) {
      const enqueued = await enqueueOnce(wire, { id, input });
      if (enqueued.is !== 'refused') return null;
      const message = `a schedule could not put it into the queue: ${enqueued.why}`;
      const title = input.title ?? input.objective.split('\n', 1)[0]!;
      await sendAlert(deps, {
        key: `${id}/refused`,
        id,
        title,
        state: 'failed',
        reason: 'invalid-task',
        message,
      }).catch((error: unknown) => deps.log(`alert of ${id} was not sent: ${String(error)}`));
      return enqueued.why;
    },

    async patrol(before) {
      const { states, seen, proposals, free } = await lookAround(wire);
      const troubles: string[] = [];
      /** One thing that cannot be done keeps nothing else from it. */
      const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
        try {
          return await work();
        } catch (error) {
          troubles.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
          return undefined;
        }
      };
      const nudged: string[] = [];
      for (const id of missedEnds(seen))
        await attempt(`nudge ${id}`, async () => {
          await client.workflow.getHandle(id).signal(nudgeSignal);
          nudged.push(id);
        });

      const findings = findingsOf(seen, deps.config.patrol, Date.now());
      const known = new Set(before?.findings.map(({ key }) => key));
      const told: string[] = [];
      /** What was not told is found anew by the next round. */
      const untold = new Set<string>();
      for (const finding of findings.filter(({ key }) => !known.has(key))) {
        const sent = await attempt(`alert of ${finding.id}`, () => tell(deps, finding, seen).then(() => true));
        if (sent) told.push(finding.key);
        else untold.add(finding.key);
      }

      const idle = free > 0 && !states.queued;
      const unsettled = before?.unsettled ?? [];
      const took = idle
        ? await takeFromBacklog({ deps, wire, attempt }, { proposals, free, unsettled })
        : { taken: [], unsettled };
      return {
        ...{ at: new Date().toISOString(), worker: deps.worker.name, states, free },
        ...{ findings: findings.filter(({ key }) => !untold.has(key)), told, nudged, troubles, ...took },
      };
    },
  };
}

async function tell(deps: Deps, { key, id, sentence }: Finding, seen: readonly Seen[]): Promise<void> {
  const { title, state, reason } = seen.find((task) => task.id === id)!;
  await sendAlert(deps, { key, id, title, state, reason: reason as never, message: sentence });
}
