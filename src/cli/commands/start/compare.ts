import { randomBytes } from 'node:crypto';
import { isSettled, type Fleet } from '../../../client.ts';
import { wrongInput, notFound } from '../../../domain/error.ts';
import { isCompareId, winnerOf, type Candidate } from '../../../domain/list/compare.ts';
import { coderSpec } from '../../../domain/routing/route.ts';
import { taskIdOf } from '../../../domain/names.ts';
import { command, InvalidValue, type Cli } from '../../command.ts';
import { compareTable } from '../../output/compare-table.ts';
import { describe } from '../../output/status-line.ts';
import { inFlags, orderFromFlags, TASK_FLAGS, type TaskFlags } from '../../input/task-input.ts';
import { oneLine, painter } from '../../output/text.ts';

type Flags = Omit<TaskFlags, 'coder' | 'model'> & { coders?: string[]; best?: boolean; drop?: boolean };

const DETACHED = 130;
/** Said otherwise here, or not at all. */
const OURS = ['--coder ', '--model ', '--id ', '--key '];

export const compare = command<Flags>({
  flags: [
    {
      flag: '--coders <list>',
      about: 'two or more coders, each perhaps with its model: claude,codex:o3',
      parse: specs,
    },
    { flag: '--best', about: 'deliver the winner to fleet/<id>: receipts first, then review, then cost' },
    { flag: '--drop', about: 'once the winner is delivered, remove the branches of the others' },
    { flag: '--id <id>', about: 'of the comparison: the same again goes on with it (default: made from the title)' },
    ...TASK_FLAGS.filter(({ flag }) => !OURS.some((own) => flag.startsWith(own))),
  ],
  notes: `Each coder gets a task of its own, fleet/<id>-<coder>, from the same base. Interrupted, it is gone on with by
fleet compare --id <id>. Exits 0 only where one of them was accepted.`,
  examples: [
    `fleet compare 'Add a /health endpoint' --coders claude,codex:o3,gemini --verify 'npm test'`,
    'fleet compare --id add-health-k3x9qa --best --drop',
  ],
  async run(cli, { args, flags }) {
    const [objective] = args;
    const { coders, best, drop, id: asked, ...task } = flags;
    if (drop && !best) throw wrongInput('--drop needs --best: without a winner there are no others');
    if (asked !== undefined && !isCompareId(asked))
      throw wrongInput('--id must be lower-case words joined by ".", "_" or "-", 36 characters at most');
    const fleet = await cli.fleet();
    const id =
      asked ??
      `${taskIdOf((task.title as string | undefined) ?? objective ?? '', '')
        .slice(0, 24)
        .replace(/-+$/, '')}-${random()}`;
    const started = await start(fleet, { cli, id, asked, objective, coders, task });
    if (!asked) cli.note(`comparison ${id}: fleet compare --id ${id} goes on with it`);
    const candidates = await untilSettled(cli, fleet, started);
    if (!candidates) {
      cli.note(`detached: its tasks go on. Come back with fleet compare --id ${id}`);
      return DETACHED;
    }
    const winner = winnerOf(candidates);
    const branch = best && winner ? await fleet.deliverWinner(id, winner) : null;
    const dropped = drop && winner ? await fleet.dropLosers(candidates.filter((one) => one !== winner)) : [];
    cli.print({ id, candidates, winner: winner?.id ?? null, branch, dropped }, () =>
      [compareTable(candidates, winner, painter(cli)), ...ending({ id, candidates, winner, branch, dropped })].join(
        '\n',
      ),
    );
    return winner ? 0 : 1;
  },
});

function ending(end: {
  id: string;
  candidates: Candidate[];
  winner: Candidate | undefined;
  branch: string | null;
  dropped: string[];
}): string[] {
  const { id, candidates, winner, branch, dropped } = end;
  if (!winner) return ['none was accepted: see fleet task <id> of each'];
  const others = candidates.flatMap((one) => (one.branch && one !== winner ? one.branch : []));
  if (!branch)
    return [
      `best: ${winner.spec}, on branch ${winner.branch ?? 'none'}; fleet compare --id ${id} --best delivers it to fleet/${id}`,
    ];
  const left = others.filter((other) => !dropped.includes(other));
  return [
    `best: ${winner.spec}, delivered to branch ${branch}`,
    ...(dropped.length ? [`removed: ${dropped.join(', ')}`] : []),
    ...(left.length ? [`kept: ${left.join(', ')}; fleet compare --id ${id} --best --drop removes them`] : []),
  ];
}

interface Asked {
  cli: Cli;
  id: string;
  asked: string | undefined;
  objective: string | undefined;
  coders: string[] | undefined;
  task: TaskFlags;
}

async function start(fleet: Fleet, { cli, id, asked, objective, coders, task }: Asked): Promise<Map<string, string>> {
  if (asked && (!objective || !coders)) {
    const found = await fleet.findComparison(asked);
    if (found.size > 0) return found;
    throw notFound(`there is no comparison ${asked}: give an objective and --coders to start one`);
  }
  if (!objective) throw wrongInput('objective is required: say what the agents should do');
  if (!coders) throw wrongInput('--coders is required: two or more, such as claude,codex:o3');
  const { input } = orderFromFlags(cli, { objective, flags: task });
  return inFlags(() => fleet.startComparison({ id, specs: coders, input: input as Record<string, unknown> }));
}

/** Undefined: Ctrl-C. */
async function untilSettled(cli: Cli, fleet: Fleet, started: Map<string, string>): Promise<Candidate[] | undefined> {
  const detach = new AbortController();
  using _ = cli.onSignal(() => detach.abort());
  const ends = [...started].map(async ([spec, id]) => {
    let last = '';
    for await (const report of fleet.follow(id, { signal: detach.signal, tickMs: 1_000 })) {
      if (report.state !== last) cli.note(oneLine(`${spec}: ${describe(report, Date.now())}`, 200));
      last = report.state;
      if (isSettled(report)) return fleet.readCandidate(spec, id);
    }
    return undefined;
  });
  const candidates = await Promise.all(ends);
  return candidates.every((one) => one !== undefined) ? candidates : undefined;
}

function specs(text: string): string[] | InvalidValue {
  const list = text.split(',').map((part) => part.trim());
  const odd = list.find((one) => !coderSpec.safeParse(one).success);
  if (odd !== undefined)
    return new InvalidValue(`must be coders, such as claude, or codex:o3: ${odd || 'an empty one'} is none`);
  const twice = list.find((one, index) => list.indexOf(one) !== index);
  if (twice) return new InvalidValue(`must name each coder once: ${twice} is there twice`);
  return list.length > 1 ? list : new InvalidValue('must name two coders or more');
}

const random = (): string => randomBytes(3).toString('hex');
