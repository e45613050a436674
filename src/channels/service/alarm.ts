import { postWebhook, runHook } from '../../adapters/notify.ts';
import { sha256 } from '../../adapters/sha256.ts';
import type { Config } from '../../config.ts';

/** Trouble that the channel itself cannot tell, by `alerts`; one of the two that fails is no matter of the other. */
export async function raiseAlarm(
  { webhook, command }: Config['alerts'],
  { channel, message, env }: { channel: string; message: string; env: NodeJS.ProcessEnv },
): Promise<void> {
  const key = `channel/${channel}/${sha256(message).slice(0, 8)}/${new Date().toISOString().slice(0, 13)}`;
  const input = JSON.stringify({ key, channel, state: 'bad', message });
  const plain = Object.fromEntries(['HOME', 'PATH'].flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  await Promise.allSettled([
    ...(webhook ? [postWebhook({ url: webhook, key, body: input, setting: 'alerts.webhook' })] : []),
    ...(command ? [runHook({ command, env: { ...plain, FLEET_CHANNEL: channel }, input })] : []),
  ]);
}
