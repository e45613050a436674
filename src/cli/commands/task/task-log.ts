import type { Fleet, RunPlace } from '../../../client.ts';
import type { FilePiece } from '../../../domain/people/question.ts';
import { command, whole, type Cli } from '../../command.ts';
import { readPieces } from '../../input/read-file.ts';
import { clean, toJson } from '../../output/text.ts';

const DETACHED = 130;

export const taskLog = command<{ follow?: boolean; run?: number }>({
  flags: [
    { flag: '-f, --follow', about: 'go on as it grows, and into later runs, until the task is settled' },
    { flag: '--run <n>', about: 'of this run (default: the last)', parse: whole },
  ],
  notes: 'With --json: {"run", "text", "gap", "next"}, one piece a line.',
  examples: ['fleet task add-health-k3x9qa log', 'fleet task add-health-k3x9qa log -f'],
  async run(cli, { args, flags }) {
    const [id] = args as [string];
    const { follow = false } = flags;
    const fleet = await cli.fleet();
    const stop = new AbortController();
    using _ = cli.onSignal(() => stop.abort());
    let run: RunPlace | undefined = await firstRun(fleet, id, { n: flags.run, follow, signal: stop.signal });
    while (run) {
      await printPieces(cli, readPieces(fleet, { run, file: 'log', follow, signal: stop.signal }), run);
      run =
        follow && flags.run === undefined
          ? await laterRun(fleet, id, { after: run.n, signal: stop.signal })
          : undefined;
    }
    return stop.signal.aborted ? DETACHED : 0;
  },
});

async function printPieces(cli: Cli, pieces: AsyncIterable<FilePiece>, run: RunPlace): Promise<void> {
  for await (const { text, gap, next } of pieces) {
    if (cli.json) cli.out(toJson({ run: run.n, text, gap, next }));
    else {
      if (gap) cli.note(`${gap} bytes are no longer kept`);
      cli.raw(clean(text));
    }
  }
}

async function firstRun(
  fleet: Fleet,
  id: string,
  options: { n: number | undefined; follow: boolean; signal: AbortSignal },
) {
  const { n, follow, signal } = options;
  if (!follow || n !== undefined || (await fleet.view(id)).runs.length) return fleet.findRun(id, n);
  return laterRun(fleet, id, { after: 0, signal });
}

/** The next run of a task; undefined where it is settled without one. */
async function laterRun(fleet: Fleet, id: string, { after, signal }: { after: number; signal: AbortSignal }) {
  for await (const { runs } of fleet.follow(id, { signal })) {
    const last = runs.at(-1);
    if (last && last.n > after) return fleet.findRun(id, last.n);
  }
  return undefined;
}
