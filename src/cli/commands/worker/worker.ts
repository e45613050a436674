import { command, durationMs, whole } from '../../command.ts';
import { attached } from '../../output/greeting.ts';
import { stayAttached } from '../../stay-attached.ts';
import { timed } from '../../timed.ts';

export const worker = command<{ name?: string; slots?: number; queue?: string[]; untilIdle?: number }>({
  flags: [
    { flag: '--name <name>', about: 'its name in lists (default: the host name)' },
    { flag: '--slots <n>', about: 'runs at a time (default: 2)', parse: whole },
    { flag: '--queue <queue>', about: 'claim from this queue; repeatable (default: fleet)', many: true },
    { flag: '--until-idle <duration>', about: 'exit 0 when there was nothing to do for this long', parse: durationMs },
  ],
  notes: `Ctrl-C or TERM stops it and leaves live agents running for the next worker here to adopt; a second one stops them too.
With worker.onTerm=drain in the configuration, TERM lets it finish its runs first.
One that is attached, from any machine: fleet worker drain|pause|resume <name>`,
  examples: ['fleet worker', 'fleet worker --slots 4 --queue fleet --queue nightly', 'fleet worker --until-idle 10m'],
  async run(plain, { flags }) {
    const cli = timed(plain);
    const { name, slots, queue, untilIdle } = flags;
    const config = cli.config({ worker: { name, slots, queues: queue } });
    // Loaded here: it brings the native SDK, which no other command waits for.
    const { startWorker } = await import('../../../workers/worker.ts');
    const start = () => startWorker({ home: cli.home, config, env: cli.env, log: cli.note });
    await stayAttached(cli, start, {
      ...{ config, untilIdleMs: untilIdle },
      attached: (running) => cli.print(attached(running).facts, () => attached(running).text),
    });
  },
});
