import { readFile } from 'node:fs/promises';
import type { WirePlace } from '../../adapters/proxy/client.ts';
import { noteUnseen } from '../../adapters/proxy/wire-file.ts';
import { isSecretName } from '../../domain/routing/credential.ts';
import type { Secrets } from '../../domain/secrets/redaction.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { OwnConfig, Upstream, WireApi } from '../../domain/agent/upstream.ts';
import type { Coder } from '../../ports.ts';
import type { Account } from '../credentials/credentials.ts';
import type { Deps } from '../worker/context.ts';

interface ModelCalls {
  /** The own configuration of the CLI that goes with the account. */
  own: OwnConfig;
  /** Where its calls go that do not go through the proxy, as far as its configuration tells. */
  gateway?: string | undefined;
  proxy?: { url: string; key: string; api: WireApi };
  /** What the agent gets of the account's variables. */
  env: Record<string, string>;
}

/** A run's place with the model proxy. */
export const wirePlace = ({ home }: Pick<Deps, 'home'>, { taskId, runId }: RunRef): WirePlace => ({
  id: runId,
  file: home.run(taskId, runId).wire,
});

/**
 * Opens an agent's way to its model through the proxy, where its account can go there: the keys then stay with the proxy.
 * Else the wire's file says why nothing is seen of its calls, and the agent gets the account's variables.
 */
export async function openModelCalls(
  deps: Pick<Deps, 'proxy' | 'env'>,
  {
    coder,
    account,
    model,
    ...place
  }: WirePlace & { wireFile: string; coder: Coder; account: Account; model: string | undefined; secrets: Secrets },
): Promise<ModelCalls> {
  const own = await readOwn(account.configHome, coder.ownConfig ?? []);
  const run = { model: model ?? coder.model, worker: deps.env, own };
  const upstream = coder.upstream?.(account.env, run);
  if (!upstream) {
    noteUnseen(
      place.wireFile,
      coder.upstream
        ? `${coder.name} works under a login, or by a way of its own`
        : `${coder.name} has no way through the model proxy`,
    );
    // As with a key, which a login takes the place of.
    const keys = Object.fromEntries((coder.keys ?? []).map((name) => [name, 'none']));
    return { own, gateway: coder.upstream?.({ ...account.env, ...keys }, run)?.url, env: account.env };
  }
  const proxy = await deps.proxy.open({ ...place, upstream });
  const left = Object.entries(account.env).filter(([name, value]) => !isKey(coder, upstream, { name, value }));
  return {
    own,
    proxy: { ...proxy, api: upstream.api },
    env: { ...Object.fromEntries(left), ...direct(deps.env) },
  };
}

async function readOwn(home: string | undefined, paths: readonly string[]): Promise<OwnConfig> {
  const read = paths.map(async (path) => {
    const text = home && (await readFile(`${home}/${path}`, 'utf8').catch(() => ''));
    return text ? [[path, text] as const] : [];
  });
  return Object.fromEntries((await Promise.all(read)).flat());
}

function isKey(coder: Coder, { headers }: Upstream, { name, value }: { name: string; value: string }): boolean {
  if (coder.keys ? coder.keys.includes(name) : isSecretName(name)) return true;
  return value.length > 0 && Object.values(headers).some((header) => header.includes(value));
}

/** Where the machine has a proxy of its own, the way to ours does not lead over that. */
function direct(env: NodeJS.ProcessEnv): Record<string, string> {
  const known = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].some((name) => env[name]);
  if (!known) return {};
  const list = [env['NO_PROXY'] ?? env['no_proxy'] ?? '', '127.0.0.1', 'localhost'].filter(Boolean).join(',');
  return { NO_PROXY: list, no_proxy: list };
}
