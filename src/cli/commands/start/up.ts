import { superviseDevServer } from '../../../adapters/temporal/supervise-dev-server.ts';
import { clientOptions, connectClient, ServerUnreachable } from '../../../adapters/temporal/connection.ts';
import { ownDevServer, startDevServer, type DevServer } from '../../../adapters/temporal/dev-server.ts';
import { command, type Cli } from '../../command.ts';
import { attached } from '../../output/greeting.ts';
import { stayAttached } from '../../stay-attached.ts';
import { timed } from '../../timed.ts';

export const up = command({
  notes: `Ctrl-C stops both and leaves live agents running for the next fleet up to adopt; a second one stops them too.
With worker.onTerm=drain in the configuration, TERM lets its runs finish first.
A server that TEMPORAL_ADDRESS or a profile names is used as it is.`,
  examples: ['fleet up'],
  async run(plain) {
    const cli = timed(plain);
    const config = cli.config();
    // Until the server of ours has stopped, no signal may end this process.
    let interrupted = false;
    using _ = cli.onSignal(() => (interrupted = true));
    const { server, started } = await serverFor(cli);
    let ours = started;
    let supervised: { stop(): Promise<void> } | undefined;
    try {
      if (interrupted) return;
      // Loaded here: it brings the native SDK, which no other command waits for.
      const { startWorker } = await import('../../../workers/worker.ts');
      const { address } = await clientOptions(cli.env);
      await stayAttached(
        cli,
        async () => {
          const running = await startWorker({ home: cli.home, config, env: cli.env, log: cli.note });
          // With this home's worker lock held, its server is nobody else's.
          ours = true;
          supervised ??= server && superviseDevServer(server, { home: cli.home, env: cli.env, say: cli.note });
          return running;
        },
        {
          config,
          attached: (running) => {
            const { facts, text } = attached(running);
            const at = server?.uiAddress ? `Web UI at ${server.uiAddress}` : `Temporal at ${address}`;
            cli.print({ ...facts, address, ui: server?.uiAddress ?? null }, () => `${text}\n${at}\nCtrl-C stops`);
          },
        },
      );
    } finally {
      await supervised?.stop();
      if (ours && server) await (await ownDevServer(cli.home))?.stop();
    }
  },
});

const DEFAULT_ADDRESS = /^(127\.0\.0\.1|localhost):7233$/;

/** This home's own dev server, started where nothing answers at the default address; none where it is anybody else's. */
async function serverFor(cli: Cli): Promise<{ server: DevServer | undefined; started: boolean }> {
  const { address } = await clientOptions(cli.env);
  try {
    const { connection } = await connectClient(cli.env);
    await connection.close();
    const own = await ownDevServer(cli.home);
    return { server: own?.address === address ? own : undefined, started: false };
  } catch (error) {
    if (!(error instanceof ServerUnreachable) || error.accepts || !DEFAULT_ADDRESS.test(address)) throw error;
    // Alive, and not listening yet: another fleet up may be waiting for it.
    if (await ownDevServer(cli.home)) throw error;
  }
  return { server: await startDevServer({ home: cli.home, env: cli.env, say: cli.note }), started: true };
}
