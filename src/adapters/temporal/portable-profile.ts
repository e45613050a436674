import { readFile } from 'node:fs/promises';
import { clientConfigToToml, loadClientConfigProfile, type ConfigDataSource } from '@temporalio/envconfig';
import { wrongInput } from '../../domain/error.ts';

/** This client's own way to the server, for another machine. */
export interface PortableProfile {
  /** Temporal's configuration file, TOML, with certificates and keys in it. */
  toml: Buffer;
  /** The secrets in it, in words: `the API key`. */
  secrets: string[];
  /** It is encrypted, or shows a key: not everybody who reaches the server gets in. */
  guarded: boolean;
}

/** As the environment and Temporal's configuration file have it, but for the address. @throws FleetError (2) where a file of it cannot be read */
export async function portableProfile(env: NodeJS.ProcessEnv, address: string): Promise<PortableProfile> {
  const set = Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const { tls, ...profile } = loadClientConfigProfile({ overrideEnvVars: Object.fromEntries(set) });
  const whole = tls && {
    ...tls,
    ...(await contentOf('clientCert', tls.clientCert)),
    ...(await contentOf('clientKey', tls.clientKey)),
    ...(await contentOf('serverCACert', tls.serverCACert)),
  };
  const secrets = [
    ...(profile.apiKey ? ['the API key'] : []),
    ...(tls?.clientKey ? ["the client's private key"] : []),
    ...(Object.keys(profile.grpcMeta ?? {}).length > 0 ? ['headers for the server'] : []),
  ];
  const config = { profiles: { default: { ...profile, address, ...(whole ? { tls: whole } : {}) } } };
  return { toml: Buffer.from(clientConfigToToml(config)), secrets, guarded: secrets.length > 0 };
}

type Part = 'clientCert' | 'clientKey' | 'serverCACert';

async function contentOf(
  part: Part,
  source: ConfigDataSource | undefined,
): Promise<Partial<Record<Part, { data: string }>>> {
  if (!source) return {};
  if ('data' in source) return { [part]: { data: Buffer.from(source.data).toString('utf8') } };
  try {
    return { [part]: { data: await readFile(source.path, 'utf8') } };
  } catch (error) {
    throw wrongInput(`${source.path} of Temporal's client configuration cannot be read`, {
      cause: error,
    });
  }
}
