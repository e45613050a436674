import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { postWebhook, runHook } from '../adapters/notify.ts';
import type { TaskView } from '../domain/run.ts';
import type { Deps } from './context.ts';
import { environment } from './environment.ts';

/** A task that waits for a person. `key` is the same however often it is sent. */
export type Alert = { key: string } & Pick<TaskView, 'id' | 'title' | 'state' | 'reason' | 'message'>;

/** Posts to the configured webhook and runs the configured command, JSON on its stdin. Once for each alert on this
 * worker; a crash right after the sending repeats it with the same key. */
export async function sendAlert(deps: Deps, alert: Alert): Promise<void> {
  const { webhook, command } = deps.config.alerts;
  const dir = `${deps.home.task(alert.id).dir}/alerts`;
  await mkdir(dir, { recursive: true });
  const name = createHash('sha256').update(alert.key).digest('hex').slice(0, 16);
  const once = async (channel: string, send: () => Promise<unknown>) => {
    const sent = `${dir}/${name}.${channel}`;
    if (existsSync(sent)) return;
    await send();
    await writeFile(sent, '');
  };
  const body = JSON.stringify(alert);
  if (webhook) await once('webhook', () => postWebhook({ url: webhook, key: alert.key, body }));
  const env = environment(deps.env, ['HOME'], { FLEET_TASK: alert.id });
  if (command) await once('command', () => runHook({ command, env, input: body }));
}
