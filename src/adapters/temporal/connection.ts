import { Client, Connection, isGrpcServiceError, type ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import proto from '@temporalio/proto';
import { resolveHome } from '../../config.ts';
import { FleetError, wrongInput } from '../../domain/error.ts';
import { ATTRIBUTES } from '../../search-attributes.ts';
import { ownDevServer } from './dev-server.ts';
import { patientCalls } from './grpc-retry.ts';
import { isOfThisMachine, listens } from './address.ts';
import { isRefusal, ServerUnreachable, unreachable } from './unreachable.ts';

export { ServerUnreachable };

/** The one place that connects to Temporal: as every Temporal client does it, by environment variables and profiles. */

/** A client's connection or a worker's. */
export type AnyConnection = Pick<Connection, 'operatorService' | 'workflowService' | 'withDeadline'>;

export interface Target {
  /** `host:port` */
  address: string;
  namespace: string;
  options: Pick<ConnectionOptions, 'apiKey' | 'tls' | 'metadata'>;
}

const DEFAULT_ADDRESS = '127.0.0.1:7233';
const DEADLINE_MS = 3_000;
/** Milliseconds of one try, the second only where something accepts connections. */
const TRIES_MS = [3_000, 7_000];
const GRPC = { INVALID_ARGUMENT: 3, NOT_FOUND: 5 };

/**
 * Where to connect: `TEMPORAL_ADDRESS`, `TEMPORAL_PROFILE` and the rest of Temporal's own configuration; where that
 * names no address, the dev server that `fleet up` started, else 127.0.0.1:7233.
 * @throws FleetError (2) for a configuration that cannot be used.
 */
export async function clientOptions(env: NodeJS.ProcessEnv, home: string = resolveHome(env)): Promise<Target> {
  const { connectionOptions, namespace } = loadConfigured(env);
  const { address, apiKey, tls, metadata } = connectionOptions;
  return {
    address: address ?? (await ownDevServer(home))?.address ?? DEFAULT_ADDRESS,
    namespace: namespace ?? 'default',
    options: { ...(apiKey ? { apiKey } : {}), ...(tls ? { tls } : {}), ...(metadata ? { metadata } : {}) },
  };
}

function loadConfigured(env: NodeJS.ProcessEnv): ReturnType<typeof loadClientConnectConfig> {
  const set = Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1]));
  try {
    return loadClientConnectConfig({ overrideEnvVars: Object.fromEntries(set) });
  } catch (error) {
    const [said] = (error as Error).message.split('\n', 1);
    throw wrongInput(`Temporal's client configuration cannot be used: ${said}`, { cause: error });
  }
}

/** For clients. The caller closes `connection`. @throws ServerUnreachable after 3 seconds, or 10 where something accepts connections. */
export async function connectClient(
  env: NodeJS.ProcessEnv,
): Promise<{ client: Client; connection: Connection; target: Target }> {
  const target = await clientOptions(env);
  const connection = await connect(target);
  return { client: new Client({ connection, namespace: target.namespace }), connection, target };
}

/** A healthy server under load may need more than the first try; where nothing listens nobody waits for a second. @throws ServerUnreachable */
export async function connect(target: Target): Promise<Connection> {
  const { address } = target;
  // gRPC goes on trying where nothing listens: on this machine that is known at once.
  if ((await isOfThisMachine(address)) && !(await listens(address))) throw await unreachable(address);
  const began = performance.now();
  for (let tries = TRIES_MS; ; tries = tries.slice(1)) {
    try {
      return await connectWithin(target, tries[0]!);
    } catch (error) {
      if (tries.length > 1 && !isRefusal(error) && (await listens(address))) continue;
      throw await unreachable(address, { error, waitedMs: performance.now() - began });
    }
  }
}

async function connectWithin({ address, options }: Target, ms: number): Promise<Connection> {
  const { interceptors, settle } = patientCalls();
  const connection = Connection.lazy({ address, ...options, interceptors, connectTimeout: ms });
  const close = connection.close.bind(connection);
  connection.close = async () => {
    await settle();
    await close();
  };
  try {
    await connection.ensureConnected();
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

const { IndexedValueType } = proto.temporal.api.enums.v1;
const TYPES: Partial<Record<string, { code: number; label: string }>> = {
  KEYWORD: { code: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD, label: 'Keyword' },
  KEYWORD_LIST: { code: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST, label: 'KeywordList' },
  INT: { code: IndexedValueType.INDEXED_VALUE_TYPE_INT, label: 'Int' },
  DATETIME: { code: IndexedValueType.INDEXED_VALUE_TYPE_DATETIME, label: 'Datetime' },
  DOUBLE: { code: IndexedValueType.INDEXED_VALUE_TYPE_DOUBLE, label: 'Double' },
};
const WANTED = Object.values(ATTRIBUTES).map(({ name, type }) => ({ name, ...TYPES[type]! }));

/**
 * Registers the fleet's search attributes where they are missing; nothing is written where all are there.
 * @throws FleetError naming them where the server does not let this client add them, or has them with another type.
 */
export async function ensureSearchAttributes(connection: AnyConnection, namespace: string): Promise<void> {
  const there = await listed(connection, namespace);
  const other = WANTED.filter(({ name, code }) => there[name] !== undefined && there[name] !== code).map(
    ({ name }) => name,
  );
  if (other.length)
    throw new FleetError(
      'conflict',
      `the search attributes ${other.join(', ')} of namespace ${namespace} have another type than the fleet needs`,
    );
  const missing = WANTED.filter(({ name }) => there[name] === undefined);
  if (!missing.length) return;
  try {
    const searchAttributes = Object.fromEntries(missing.map(({ name, code }) => [name, code]));
    await withDeadline(connection, () =>
      connection.operatorService.addSearchAttributes({ namespace, searchAttributes }),
    );
  } catch (error) {
    const names = missing.map(({ name }) => name).join(', ');
    const why = isGrpcServiceError(error) ? error.details : (error as Error).message;
    throw new FleetError(
      'permission-denied',
      `namespace ${namespace} lacks the search attributes ${names}, and they cannot be added: ${why}`,
      {
        hint: commandFor(namespace, missing),
        cause: error,
      },
    );
  }
}

async function listed(connection: AnyConnection, namespace: string): Promise<Record<string, number>> {
  try {
    const answer = await withDeadline(connection, () => connection.operatorService.listSearchAttributes({ namespace }));
    return answer.customAttributes ?? {};
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    // It may still be registered, as on a server that is being set up: a service tries again.
    if (error.code === GRPC.NOT_FOUND)
      throw new FleetError('not-ready', `namespace ${namespace} does not exist on this Temporal server`, {
        cause: error,
      });
    // Whoever may not ask the operator service may still be able to use the attributes.
    return usable(connection, namespace);
  }
}

async function usable(connection: AnyConnection, namespace: string): Promise<Record<string, number>> {
  const found = WANTED.map(async ({ name, code }) => {
    try {
      const query = `${name} IS NULL`;
      await withDeadline(connection, () => connection.workflowService.countWorkflowExecutions({ namespace, query }));
      return [[name, code] as const];
    } catch (error) {
      if (isGrpcServiceError(error) && error.code === GRPC.INVALID_ARGUMENT) return [];
      throw error;
    }
  });
  return Object.fromEntries((await Promise.all(found)).flat());
}

const withDeadline = <T>(connection: AnyConnection, call: () => Promise<T>): Promise<T> =>
  connection.withDeadline(Date.now() + DEADLINE_MS, call);

function commandFor(namespace: string, missing: typeof WANTED): string {
  const flags = missing.map(({ name, label }) => `--name ${name} --type ${label}`);
  return `temporal operator search-attribute create --namespace ${namespace} ${flags.join(' ')}`;
}
