import { isCancellation, proxyLocalActivities } from '@temporalio/workflow';
import type { TaskServices } from '../../activities/services/task-services.ts';
import { followUpsKept, type HandedOff } from '../../domain/people/waiting.ts';
import type { AgentOutcome } from '../../domain/run/outcome.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { ProposedFollowUps } from '../../domain/run/accepted.ts';
import type { TaskRecord } from '../state/task-record.ts';
import { BY_DEFAULT } from './question.ts';

/** Until the run counts, what its agent proposed is as good as dropped. */
export function noteProposed({ view }: TaskRecord, { followUps = [] }: AgentOutcome): void {
  const run = view.runs.at(-1);
  if (run && followUps.length > 0) run.dropped = true;
}

/** Creates the follow-ups of a run that asked a question, once a person answered; its default is nobody's answer. */
export async function handOffAnswered(life: { task: Task; record: TaskRecord }): Promise<void> {
  const { results, view } = life.record;
  if (results.proposed && view.answers?.at(-1)?.by !== BY_DEFAULT) await handOff(life, results.proposed);
}

/**
 * What the run's agent proposed becomes tasks, once the run counts: it was accepted, or a person
 * has answered what it asked; after the yes, where one is needed. Nothing of it keeps
 * the task itself from going on.
 */
export async function handOff(
  { task, record }: { task: Task; record: TaskRecord },
  { n, coder, outcome }: ProposedFollowUps,
): Promise<void> {
  const { followUps = [], misproposed = [] } = outcome;
  if (followUps.length + misproposed.length === 0) return;
  const { createProposed } = proxyLocalActivities<TaskServices>({
    summary: 'create what the agent proposes',
    startToCloseTimeout: '1m',
    scheduleToCloseTimeout: '10m',
  });
  const known = record.view.followUps ?? [];
  delete record.view.runs.at(-1)?.dropped;
  const children = known.filter(({ refused }) => refused === undefined).length;
  const wrong = misproposed.map((refused): HandedOff => ({ id: null, title: '', refused }));
  try {
    const made = followUps.length
      ? await createProposed({ id: record.view.id, task, from: coder, n, children, followUps })
      : [];
    record.view.followUps = followUpsKept([...known, ...made, ...wrong]);
  } catch (error) {
    if (isCancellation(error)) throw error;
    const refused = `could not be created: ${error instanceof Error ? error.message : String(error)}`.slice(0, 500);
    const lost = followUps.map(({ task: asked }) => ({
      id: null,
      title: String(asked['objective']).slice(0, 80),
      refused,
    }));
    record.view.followUps = followUpsKept([...known, ...lost, ...wrong]);
  }
}
