import type { Upstream } from '../../domain/agent/upstream.ts';

/** To whoever speaks OpenAI's chat completions at this base URL, which ends with the version folder. */
export const chatUpstream = (key: string | undefined, baseUrl: string): Upstream | undefined =>
  key
    ? {
        api: 'openai-chat',
        url: baseUrl.replace(/\/+$/, ''),
        versioned: true,
        headers: { authorization: `Bearer ${key}` },
      }
    : undefined;
