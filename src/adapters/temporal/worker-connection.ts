import { NativeConnection } from '@temporalio/worker';
import { clientOptions, connect, unreachable, type Target } from '../connection.ts';

/** For workers; a file of its own, since it loads the native SDK. The caller closes `connection`. @throws ServerUnreachable after 3 seconds. */
export async function connectWorker(where: {
  env: NodeJS.ProcessEnv;
  /** Default: that of the environment. */
  home?: string;
}): Promise<{ connection: NativeConnection; namespace: string; target: Target }> {
  const target = await clientOptions(where.env, where.home);
  // Core retries for much longer than anyone waits for one sentence: ask with a client first.
  await (await connect(target)).close();
  const { apiKey, ...options } = target.options;
  try {
    const key = typeof apiKey === 'string' ? { apiKey } : {};
    const connection = await NativeConnection.connect({ address: target.address, ...options, ...key });
    return { connection, namespace: target.namespace, target };
  } catch (error) {
    throw unreachable(target.address, error);
  }
}
