import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { sha256 } from '../../adapters/sha256.ts';
import { postWebhook, runHook } from '../../adapters/notify.ts';
import type { TaskView } from '../../domain/view/task-view.ts';
import type { OpenApproval, OpenQuestion } from '../../domain/people/waiting.ts';
import type { Deps } from '../worker/context.ts';
import { environment } from '../worker/environment.ts';

/** A task that waits for a person, a worker that was lost or takes no new work, or a credential that was refused. `key` is the same however often it is sent. */
export type Alert = TaskAlert | WorkerAlert | CredentialAlert;
export type TaskAlert = { key: string } & Pick<TaskView, 'id' | 'title' | 'state' | 'reason' | 'message'> & {
    question?: OpenQuestion;
    approval?: OpenApproval;
    /** What a person can type. */
    commands?: string[];
  };
export interface WorkerAlert {
  key: string;
  worker: string;
  machine: string;
  state: 'lost' | 'holding';
  message: string;
}

export interface CredentialAlert {
  key: string;
  credential: string;
  coder: string;
  state: 'bad';
  message: string;
}

/** Posts to the configured webhook and runs the configured command, JSON on its stdin. Once for each alert on this
 * worker; a crash right after the sending repeats it with the same key. */
export async function sendAlert(deps: Pick<Deps, 'config' | 'home' | 'env'>, alert: Alert): Promise<void> {
  const { webhook, command } = deps.config.alerts;
  const dir = 'id' in alert ? `${deps.home.task(alert.id).dir}/alerts` : deps.home.alerts;
  const name = sha256(alert.key).slice(0, 16);
  const once = async (channel: string, send: () => Promise<unknown>) => {
    const sent = `${dir}/${name}.${channel}`;
    if (existsSync(sent)) return;
    await send();
    // The disk may be what the alert is about: it is not sent again for that.
    await mkdir(dir, { recursive: true })
      .then(() => writeFile(sent, ''))
      .catch(() => undefined);
  };
  const body = JSON.stringify(alert);
  if (webhook)
    await once('webhook', () => postWebhook({ url: webhook, key: alert.key, body, setting: 'alerts.webhook' }));
  const env = environment(deps.env, ['HOME'], aboutOf(alert));
  if (command) await once('command', () => runHook({ command, env, input: body }));
}

function aboutOf(alert: Alert): Record<string, string> {
  if ('id' in alert) return { FLEET_TASK: alert.id };
  return 'credential' in alert ? { FLEET_CREDENTIAL: alert.credential } : { FLEET_WORKER: alert.worker };
}
