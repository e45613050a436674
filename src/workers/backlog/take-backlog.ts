import { enqueueOnce } from '../../client/start/enqueue-once.ts';
import type { Around } from '../../client/overview/survey.ts';
import { viewTask } from '../../client/read/view.ts';
import { isClosed } from '../../domain/scheduling/dependencies.ts';
import type { BacklogSource, Unsettled } from '../../domain/produce/patrol.ts';
import type { PersonsWord } from '../../domain/people/waiting.ts';
import { approveUpdate } from '../../workflows/messages.ts';
import { fileItems } from './backlog-files.ts';
import type { BacklogItem, Taking } from './backlog-item.ts';
import { issueItems } from './backlog-issues.ts';

export interface Took {
  taken: { id: string; from: string }[];
  unsettled: Unsettled[];
}

/**
 * The next items, source by source, as many as the configuration and the free slots allow. `unsettled`: what earlier rounds took
 * and could not set aside, which is no more than set aside now.
 */
export async function takeFromBacklog(
  taking: Taking,
  { proposals, free, ...before }: { proposals: Around['proposals']; free: number; unsettled: readonly Unsettled[] },
): Promise<Took> {
  const { config } = taking.deps;
  const most = Math.min(free, config.patrol.take);
  const taken: Took['taken'] = [];
  const unsettled: Unsettled[] = [];
  for (const source of config.backlog) {
    const left = most - taken.length;
    const own = before.unsettled.filter((one) => one.source === nameOf(source));
    if (left <= 0) unsettled.push(...own);
    else if (source.proposals) taken.push(...(await approved(taking, proposals.slice(0, left))));
    else {
      const some = await enqueued(taking, { source, most: left, unsettled: own });
      taken.push(...some.taken);
      unsettled.push(...some.unsettled);
    }
  }
  return { taken, unsettled };
}

const nameOf = ({ files, github }: BacklogSource): string => files ?? github ?? '';

async function approved(
  { wire, attempt }: Taking,
  proposals: Around['proposals'],
): Promise<{ id: string; from: string }[]> {
  const taken: { id: string; from: string }[] = [];
  for (const { id, approval } of proposals)
    await attempt(`approval of ${id}`, async () => {
      const why = 'the configuration takes proposals when the fleet is idle';
      const args: [PersonsWord] = [{ by: 'patrol', why, approval }];
      await wire.client.workflow.getHandle(id).executeUpdate(approveUpdate, { args });
      taken.push({ id, from: 'proposals' });
    });
  return taken;
}

async function enqueued(
  taking: Taking,
  { source, most, ...before }: { source: BacklogSource; most: number; unsettled: readonly Unsettled[] },
): Promise<Took> {
  const { deps, attempt } = taking;
  const taken: Took['taken'] = [];
  const unsettled = new Map(before.unsettled.map((one) => [keyOf(one), one]));
  const offered = new Set<string>();
  const items = source.files === undefined ? issueItems(deps, source) : fileItems(source.files, attempt);
  await attempt(`backlog ${nameOf(source)}`, async () => {
    for await (const item of items) {
      if (taken.length >= most) return;
      const { id, from, settle } = item;
      const key = keyOf(item);
      offered.add(key);
      await attempt(from, async () => {
        if (!unsettled.has(key)) {
          if (await makeTask(taking, { source, item })) taken.push({ id, from });
          unsettled.set(key, { id, from, source: nameOf(source) });
        }
        await settle();
        unsettled.delete(key);
      });
    }
    // What is gone may come again as something new.
    for (const key of unsettled.keys()) if (!offered.has(key)) unsettled.delete(key);
  });
  return { taken, unsettled: [...unsettled.values()] };
}

const keyOf = ({ id, from }: { id: string; from: string }): string => `${id} ${from}`;

/** False: it is the open task of this item, of a round that broke off. @throws where it cannot be, or the id is another task's */
async function makeTask(
  { wire }: Taking,
  { source, item: { id, input } }: { source: BacklogSource; item: BacklogItem },
): Promise<boolean> {
  const enqueued = await enqueueOnce(wire, { id, input: { ...source.task, ...input } });
  if (enqueued.is === 'refused') throw new Error(enqueued.why);
  if (enqueued.is === 'created') return true;
  const { state, objective } = await viewTask(wire, id);
  if (isClosed(state) || objective !== String(input.objective).trim())
    throw new Error(`is not taken, as there is a task ${id} already, which is ${state}: see fleet task ${id}`);
  return false;
}
