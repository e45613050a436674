import type { lookup as resolveName } from 'node:dns';
import { Agent, request } from 'undici';
import type { LinkState } from '../../ports.ts';
import { guardedLookup, isPrivate, PRIVATE_CODE } from '../network/public-address.ts';

export interface LinkRules {
  /** Whether a host may be asked that has a private address. */
  mayAsk(host: string): boolean;
  /** For one answer; 10 s. */
  eachMs?: number;
  signal?: AbortSignal | undefined;
  /** Where a proxy alone reaches the names of the world; told from the environment. */
  proxied?: boolean;
  /** The system's. */
  resolve?: typeof resolveName;
}

const WIDTH = 8;
const REDIRECTS = 5;
const EACH_MS = 10_000;
const ALL_MS = 60_000;

/**
 * Asks for each, a few at a time: 10 s for one answer, a minute for all. Nothing of what they say is read. A host is sure not to
 * exist only where names are resolved here: without a proxy, and where another one was.
 */
export async function askLinks(links: readonly string[], rules: LinkRules): Promise<LinkState[]> {
  const { eachMs = EACH_MS } = rules;
  const names = { resolved: 0 };
  const resolved = () => (names.resolved += 1);
  const connect = { timeout: eachMs, lookup: guardedLookup({ ...rules, resolved }) };
  const dispatcher = new Agent({ connect, headersTimeout: eachMs });
  const over = new AbortController();
  const end = (): void => over.abort();
  const timer = setTimeout(end, ALL_MS);
  rules.signal?.addEventListener('abort', end);
  const asked: Asked[] = [];
  const rest = links.entries();
  const work = async (): Promise<void> => {
    for (const [index, link] of rest) {
      asked[index] = await ask(link, { dispatcher, signal: over.signal, rules });
      rules.signal?.throwIfAborted();
    }
  };
  try {
    await Promise.all(Array.from({ length: WIDTH }, work));
  } finally {
    clearTimeout(timer);
    rules.signal?.removeEventListener('abort', end);
    await dispatcher.destroy();
  }
  const { proxied = PROXIES.some((name) => process.env[name]) } = rules;
  return asked.map(({ nameless, ...one }) =>
    nameless && (proxied || names.resolved === 0)
      ? { ...one, state: 'unknown', why: 'has a host that cannot be resolved here' }
      : one,
  );
}

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];

/** `nameless`: its host's name leads to no address. */
type Asked = LinkState & { nameless?: true };

async function ask(
  link: string,
  { dispatcher, signal, rules }: { dispatcher: Agent; signal: AbortSignal; rules: LinkRules },
): Promise<Asked> {
  let url = link;
  for (let hop = 0; hop <= REDIRECTS; hop += 1) {
    const host = hostOf(url);
    if (host === undefined) return { link, state: 'gone', why: 'is no http(s) address' };
    if (isPrivate(host) && !rules.mayAsk(host)) return { link, state: 'unknown', why: PRIVATE };
    try {
      const { statusCode, headers, body } = await request(url, { dispatcher, signal, headers: HEADERS });
      body.on('error', () => {}).destroy();
      const to = headers['location'];
      if (statusCode >= 300 && statusCode < 400 && typeof to === 'string') {
        url = URL.canParse(to, url) ? new URL(to, url).href : '';
        continue;
      }
      if (statusCode >= 200 && statusCode < 300) return { link, state: 'there' };
      const gone = statusCode === 404 || statusCode === 410;
      return { link, state: gone ? 'gone' : 'unknown', why: `answers ${statusCode}` };
    } catch (error) {
      return { link, ...meaningOf(error) };
    }
  }
  return { link, state: 'unknown', why: `redirects more than ${REDIRECTS} times` };
}

const HEADERS = { 'user-agent': 'infinity-fleet (checks links)', accept: '*/*' };
const PRIVATE = 'leads to a private address, which is not asked';

function meaningOf(error: unknown): { state: 'gone' | 'unknown'; why: string; nameless?: true } {
  const { code, name } = error as NodeJS.ErrnoException;
  if (code === PRIVATE_CODE) return { state: 'unknown', why: PRIVATE };
  if (code === 'ENOTFOUND') return { state: 'gone', why: 'has a host that does not exist', nameless: true };
  // A firewall may be in the way.
  if (code === 'ECONNREFUSED') return { state: 'unknown', why: 'has a host that takes no connection' };
  const late = name === 'AbortError' || /TIMEOUT|TIMEDOUT/.test(code ?? '');
  return { state: 'unknown', why: late ? 'gave no answer in time' : `cannot be asked (${code ?? name})` };
}

function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' || protocol === 'https:' ? hostname.replace(/^\[|\]$/g, '') : undefined;
}
