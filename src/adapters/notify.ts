import { execa } from 'execa';

const TIMEOUT_MS = 20_000;

/**
 * Posts JSON; `key` goes along as the idempotency key. `setting` is where the URL stands, for messages.
 * @throws where the answer is not 2xx, or none comes in 20 s
 */
export async function postWebhook(post: {
  url: string;
  key: string;
  body: string;
  setting: 'alerts.webhook' | 'callback.webhook';
  signal?: AbortSignal;
}): Promise<void> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': encodeURIComponent(post.key) };
  const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(post.signal ? [post.signal] : [])]);
  const response = await fetch(post.url, { method: 'POST', headers, body: post.body, signal });
  if (!response.ok) throw new Error(`${post.setting} answered ${response.status}`);
}

/** Runs the person's own command with the text on its stdin. @throws where it fails, or takes longer than 20 s */
export async function runHook(hook: {
  command: readonly string[];
  env: Record<string, string>;
  input: string;
}): Promise<void> {
  const [file = '', ...args] = hook.command;
  await execa(file, args, {
    input: hook.input,
    env: hook.env,
    extendEnv: false,
    timeout: TIMEOUT_MS,
    stdout: 'ignore',
  });
}
