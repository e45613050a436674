import type { Upstream } from '../ports.ts';

/**
 * Of a vendor that speaks OpenAI's chat completions below `/v1`; undefined for an address that ends in another folder, as the
 * run's proxy would have to know it.
 */
export function chatUpstream(key: string | undefined, baseUrl: string): Upstream | undefined {
  const [, url] = /^(https?:\/\/.*)\/v1\/*$/.exec(baseUrl) ?? [];
  return key && url ? { api: 'openai-chat', url, headers: { authorization: `Bearer ${key}` } } : undefined;
}
