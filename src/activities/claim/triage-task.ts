import { askProgram } from '../../adapters/program/run-with-stdin.ts';
import { toMs } from '../../domain/values/duration.ts';
import type { Task } from '../../domain/task/schema.ts';
import { readClass, type Triaged } from '../../domain/routing/triage.ts';
import type { Deps } from '../worker/context.ts';
import { environment } from '../worker/environment.ts';

export interface TriageInput {
  taskId: string;
  task: Task;
}

/** Asks the owner's command of what class a task is; where it does not say in time, the default. Once a task. */
export async function triageTask(deps: Deps, { taskId, task }: TriageInput): Promise<Triaged> {
  const { triage } = deps.config;
  if (!triage?.command) throw new Error('no triage command is configured');
  const { command, classes, env, timeout } = triage;
  const said = await askProgram({
    command,
    env: environment(deps.env, ['HOME', ...env], { FLEET_TASK: taskId }),
    input: JSON.stringify({ id: taskId, ...task }),
    timeoutMs: toMs(timeout),
  });
  const found = said.ok ? readClass(said.output, classes) : undefined;
  if (found) return { class: found, by: 'triage.command' };
  const why = said.ok ? `printed none of ${classes.join(', ')}` : said.why;
  return { class: triage.default, by: `triage.default, as triage.command ${why}` };
}
