import type { CoderFailure } from '../../domain/agent/event.ts';
import { count, object, objects, text, type Json } from '../../domain/values/json.ts';

/** Lower-case names. */
export type Headers = Readonly<Record<string, string>>;

/** What an answer with an error means; undefined for one that only the agent's own request explains. */
export function failureOf(status: number, error: { code: string; message: string }): CoderFailure | undefined {
  // A message may quote what the agent itself had sent: what lets a credential rest goes by codes, or by a vendor's fixed words.
  const said = `${error.code} ${error.message}`;
  if (/insufficient_quota|billing|payment/i.test(error.code) || status === 402) return 'auth';
  if (/^Your credit balance is too low|^API key not valid/.test(error.message)) return 'auth';
  if (OVERFLOW.test(said)) return 'context-overflow';
  if (/model_not_found/.test(error.code) || (status === 404 && /model/i.test(error.message))) return 'model-unknown';
  if (/rate.?limit|usage_limit|RESOURCE_EXHAUSTED|quota/i.test(error.code) || status === 429) return 'rate-limited';
  if (/authentication|permission_error|invalid_api_key|API_KEY_INVALID|UNAUTHENTICATED/i.test(error.code))
    return 'auth';
  if (status === 401 || status === 403) return 'auth';
  if (/overloaded|capacity|UNAVAILABLE|server_error|api_error/i.test(error.code)) return 'overloaded';
  return status >= 500 ? 'overloaded' : undefined;
}

const OVERFLOW =
  /prompt is too long|context_length_exceeded|context window|maximum context length|input token count.*exceeds|input is too long/i;

/** Nobody waits longer for a reset. */
const FARTHEST_MS = 40 * 86_400_000;

/** ISO time at which the limit that an error names is reset; undefined where it names none. */
export function resetOf(headers: Headers, body: Json | undefined, now: number): string | undefined {
  const inSeconds = (seconds: number | undefined) => (seconds === undefined ? undefined : now + seconds * 1_000);
  const named = [
    epoch(headers['anthropic-ratelimit-unified-reset']),
    ...exhaustedCodex(headers, now),
    ...exhaustedBuckets(headers, now),
    ...inBody(body, now),
  ];
  const latest = Math.max(0, ...named.filter((at) => at !== undefined));
  const at = usable(latest, now)
    ? latest
    : [
        inSeconds(number(headers['retry-after-ms'], 0.001)),
        retryAfter(headers['retry-after'], now),
        ...inDetails(body, now),
        inWords(body, now),
      ].find((time) => time !== undefined && usable(time, now));
  return at === undefined ? undefined : new Date(at).toISOString();
}

const usable = (at: number, now: number): boolean => at > now && at < now + FARTHEST_MS;

/** Names that tell how much is left of which limit. */
const QUOTA = /^(anthropic-ratelimit-|x-ratelimit-|x-codex-|retry-after)/;
const QUOTA_MAX = 40;

export function quotaOf(headers: Headers): Record<string, string> | undefined {
  const found = Object.entries(headers).filter(([name]) => QUOTA.test(name));
  return found.length > 0
    ? Object.fromEntries(found.slice(0, QUOTA_MAX).map(([name, value]) => [name.slice(0, 80), value.slice(0, 80)]))
    : undefined;
}

/**
 * The part of the account's window that is used, of several the fullest, and when it is reset: a subscription's windows, and
 * Codex's plans. Limits a minute of an API key are no such window.
 */
export function usedOf(headers: Headers): { part: number; until?: string } | undefined {
  const found = Object.entries(headers).flatMap(([name, value]) => {
    const [, window, codex] =
      /^(anthropic-ratelimit-unified-\w+)-utilization$|^(x-codex-(?:primary|secondary))-used-percent$/.exec(name) ?? [];
    if (!window && !codex) return [];
    const told = number(value);
    const reset = epoch(headers[`${window}-reset`] ?? headers[`${codex}-reset-at`]);
    return told === undefined
      ? []
      : [{ part: codex ? told / 100 : told, ...(reset ? { until: new Date(reset).toISOString() } : {}) }];
  });
  return found.toSorted((a, b) => b.part - a.part)[0];
}

/** Windows of a plan that are used up: `x-codex-primary-used-percent: 100`. */
function exhaustedCodex(headers: Headers, now: number): (number | undefined)[] {
  return ['primary', 'secondary'].flatMap((window) => {
    const value = (what: string) => headers[`x-codex-${window}-${what}`];
    if ((number(value('used-percent')) ?? 0) < 100) return [];
    const after = number(value('reset-after-seconds'));
    return [epoch(value('reset-at')), after === undefined ? undefined : now + after * 1_000];
  });
}

/** Limits a minute: `x-ratelimit-remaining-tokens: 0`, and its reset as a duration or a time. */
function exhaustedBuckets(headers: Headers, now: number): (number | undefined)[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (number(value) !== 0) return [];
    const [, open, anthropic] =
      /^x-ratelimit-remaining-(\w+)$|^anthropic-ratelimit-([\w-]+)-remaining$/.exec(name) ?? [];
    if (anthropic) return [time(headers[`anthropic-ratelimit-${anthropic}-reset`])];
    const after = open ? duration(headers[`x-ratelimit-reset-${open}`]) : undefined;
    return after === undefined ? [] : [now + after];
  });
}

function inBody(body: Json | undefined, now: number): (number | undefined)[] {
  const error = object(body?.['error']) ?? {};
  const after = count(error['resets_in_seconds']);
  return [count(error['resets_at']) * 1_000 || undefined, after ? now + after * 1_000 : undefined];
}

/** Gemini's `RetryInfo`: `{ retryDelay: "34.07s" }`. */
function inDetails(body: Json | undefined, now: number): number[] {
  return objects(object(body?.['error'])?.['details']).flatMap((detail) => {
    const delay = duration(text(detail['retryDelay']));
    return delay === undefined ? [] : [now + delay];
  });
}

function inWords(body: Json | undefined, now: number): number | undefined {
  const message = text(object(body?.['error'])?.['message']);
  const after = duration(/(?:try again|retry) in ((?:[\d.]+(?:ms|[smhd]))+)/i.exec(message)?.[1]);
  return after === undefined ? undefined : now + after;
}

const number = (value: string | undefined, times = 1): number | undefined =>
  value !== undefined && /^\d+(\.\d+)?$/.test(value) ? Number(value) * times : undefined;

const epoch = (value: string | undefined): number | undefined => number(value, 1_000);

function time(value: string | undefined): number | undefined {
  const at = Date.parse(value ?? '');
  return Number.isNaN(at) ? undefined : at;
}

/** Seconds, or an HTTP date. */
function retryAfter(value: string | undefined, now: number): number | undefined {
  const seconds = number(value);
  return seconds === undefined ? time(value) : now + seconds * 1_000;
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `20ms`, `1s`, `6m0s`; a bare number is seconds. */
function duration(value: string | undefined): number | undefined {
  const seconds = number(value);
  if (seconds !== undefined) return seconds * 1_000;
  if (!value || !/^([\d.]+(ms|[smhd]))+$/.test(value)) return undefined;
  return [...value.matchAll(/([\d.]+)(ms|[smhd])/g)].reduce(
    (sum, [, amount = '0', unit = 's']) => sum + Number(amount) * (UNIT_MS[unit] ?? 0),
    0,
  );
}
