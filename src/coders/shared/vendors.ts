import type { Upstream } from '../../domain/agent/upstream.ts';

/** Where a vendor's API is, and by which variables a user names a key and an address of their own for it. */
export interface Vendor extends Pick<Upstream, 'api' | 'url' | 'versioned'> {
  key: string;
  /** The variable with a base URL: without the version folder, or with it where the vendor is `versioned`. */
  address: string;
  header(key: string): Record<string, string>;
}

export const VENDORS = {
  anthropic: {
    key: 'ANTHROPIC_API_KEY',
    address: 'ANTHROPIC_BASE_URL',
    api: 'anthropic',
    url: 'https://api.anthropic.com',
    header: (key) => ({ 'x-api-key': key }),
  },
  openai: {
    key: 'OPENAI_API_KEY',
    address: 'OPENAI_BASE_URL',
    api: 'openai-responses',
    url: 'https://api.openai.com/v1',
    versioned: true,
    header: (key) => ({ authorization: `Bearer ${key}` }),
  },
  google: {
    key: 'GEMINI_API_KEY',
    address: 'GOOGLE_GEMINI_BASE_URL',
    api: 'gemini',
    url: 'https://generativelanguage.googleapis.com',
    header: (key) => ({ 'x-goog-api-key': key }),
  },
} as const satisfies Record<string, Vendor>;

/**
 * The way to a vendor by the key in `env`; undefined without one. A base URL in `env` wins over the one of the CLI's own
 * configuration, `own`, which has the version folder where that CLI wants it; the vendor's own address comes last.
 */
export function upstreamTo(
  vendor: Vendor,
  env: Readonly<Record<string, string | undefined>>,
  own?: { url: string; versioned: boolean; headers?: Record<string, string> },
): Upstream | undefined {
  const key = env[vendor.key];
  if (!key) return undefined;
  const { api, url, versioned = false } = vendor;
  const named = env[vendor.address];
  const way = named ? { url: named, versioned: versioned || /\/v\d\w*\/*$/.test(named) } : (own ?? { url, versioned });
  return {
    api,
    url: way.url.replace(/\/+$/, ''),
    ...(way.versioned ? { versioned: true } : {}),
    headers: { ...vendor.header(key), ...('headers' in way ? way.headers : {}) },
  };
}
