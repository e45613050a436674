import { createServer } from 'node:net';
import { startDevServer } from '../../src/adapters/dev-server.ts';
import { tempDir } from './temp.ts';

export interface TestServer {
  address: string;
  /** A throwaway FLEET_HOME, in which the server keeps its data. */
  home: string;
  /** For a command or a client that is to use this server and home. */
  env: NodeJS.ProcessEnv;
  /** Stops the server and removes the home. */
  stop(): Promise<void>;
}

/** One real dev server for a test file, on free ports: `beforeAll(async () => (server = await startTemporal()))`. */
export async function startTemporal(): Promise<TestServer> {
  const temp = await tempDir();
  try {
    const [port, uiPort] = await freePorts(2);
    const { address, stop } = await startDevServer({ home: temp.path, port: port!, uiPort: uiPort!, headless: true });
    return {
      address,
      home: temp.path,
      env: {
        ...process.env,
        FLEET_HOME: temp.path,
        TEMPORAL_ADDRESS: address,
        TEMPORAL_CONFIG_FILE: `${temp.path}/none.toml`,
      },
      stop: async () => {
        await stop();
        await temp[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await temp[Symbol.asyncDispose]();
    throw error;
  }
}

/** TCP ports that nothing listens on, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0)));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function listen(port: number): Promise<ReturnType<typeof createServer>> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject).listen(port, '127.0.0.1', () => resolve(server));
  });
}
