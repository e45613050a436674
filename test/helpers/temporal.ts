import { startDevServer } from '../../src/adapters/temporal/dev-server.ts';
import { freePorts } from '../../src/adapters/temporal/free-ports.ts';
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
