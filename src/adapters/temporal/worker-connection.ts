import { NativeConnection } from '@temporalio/worker';
import { clientOptions, connect, type Target } from './connection.ts';
import { unreachable } from './unreachable.ts';

/** For workers; a file of its own, since it loads the native SDK. The caller closes `connection`. @throws ServerUnreachable */
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
    throw await unreachable(target.address, { error });
  }
}
