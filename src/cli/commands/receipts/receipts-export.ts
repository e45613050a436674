import { readdir, readFile } from 'node:fs/promises';
import { FleetError } from '../../../domain/error.ts';
import { homeLayout, isTaskId } from '../../../domain/names.ts';
import { command, whole, type Cli } from '../../command.ts';
import { writeOutput } from '../../input/input-file.ts';
import { readWhole } from '../../input/read-file.ts';

interface Bundle {
  n: number;
  text: string;
}

export const receiptsExport = command<{ run?: number; output?: string }>({
  flags: [
    { flag: '--run <n>', about: 'of this run (default: the last)', parse: whole },
    { flag: '-o, --output <file>', about: 'into this file instead of stdout' },
  ],
  notes: `It comes from the worker that holds it. Where no server knows the task any more, or that worker is away, it comes from
this machine's FLEET_HOME, if it is there.`,
  examples: [
    'fleet receipts export add-health-k3x9qa -o bundle.jsonl',
    'fleet receipts export add-health-k3x9qa | fleet receipts verify - --keys keys.json',
  ],
  async run(cli, { args: [id = ''], flags: { run, output } }) {
    const { n, text } = await fromFleet(cli, id, run).catch(async (error: unknown) => {
      const kept = error instanceof FleetError ? await fromHome(cli, id, run) : undefined;
      if (!kept) throw error;
      cli.note(`from ${cli.home}, as ${(error as FleetError).message}`);
      return kept;
    });
    if (!text) throw new FleetError('not-ready', `run ${n} of task ${id} has no receipts yet`);
    if (output !== undefined) await writeOutput(cli, output, text);
    if (cli.json || output !== undefined)
      cli.print({ id, n, ...(output ? { file: output } : { text }) }, () => `${output} has the receipts of run ${n}`);
    else cli.raw(text);
  },
});

async function fromFleet(cli: Cli, id: string, run: number | undefined): Promise<Bundle> {
  const fleet = await cli.fleet();
  const place = await fleet.findRun(id, run);
  const { text } = await readWhole(fleet, place, 'receipts');
  return { n: place.n, text };
}

/** What a worker of this machine has kept. */
async function fromHome(cli: Cli, id: string, run: number | undefined): Promise<Bundle | undefined> {
  if (!isTaskId(id)) return undefined;
  const task = homeLayout(cli.home).task(id);
  const runs = (await readdir(task.dir).catch(() => [])).map(Number).filter((n) => n > 0);
  for (const n of runs.sort((a, b) => b - a).filter((each) => run === undefined || each === run)) {
    const text = await readFile(task.runOf(n).receipts, 'utf8').catch(() => '');
    if (text) return { n, text };
  }
  return undefined;
}
