import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { wrongInput } from '../../../domain/error.ts';
import { isUrl } from '../../../domain/repository/repository-name.ts';
import { withQueue, type OpenQueue } from '../../../producers/git-queue/queue.ts';
import { goRound, type Round, type RoundOptions } from '../../../producers/git-queue/round.ts';
import { command, durationMs, oneOf, whole, type Cli } from '../../command.ts';
import { fleetName, QUEUE_FLAGS, queueOf, type QueueFlags } from '../../input/queue-args.ts';
import { oneLine } from '../../output/text.ts';

type Approval = (typeof APPROVALS)[number];
type Flags = QueueFlags & {
  name?: string;
  repo?: string;
  approval?: Approval;
  most?: number;
  watch?: boolean;
  every?: number;
};

const APPROVALS = ['before-run', 'before-deliver', 'both', 'never'] as const;
const EVERY_MS = 30_000;

export const sync = command<Flags>({
  flags: [
    ...QUEUE_FLAGS,
    { flag: '--name <name>', about: "this fleet's, as in claimed_by (default: sync.name, else worker.name)" },
    { flag: '--repo <path-or-url>', about: 'for tasks that name none (default: sync.repo)' },
    {
      flag: '--approval <when>',
      about: `when a person has to say yes, at least: ${APPROVALS.join(', ')} (default: sync.approval, else never)`,
      parse: oneOf(APPROVALS),
    },
    {
      flag: '--most <n>',
      about: 'how many claims may be under way (default: twice the slots of the attached workers)',
      parse: whole,
    },
    { flag: '--watch', about: 'go on until Ctrl-C' },
    { flag: '--every <duration>', about: 'with --watch: between two rounds (default: 30s)', parse: durationMs },
  ],
  notes: `A task is a JSON file in the folder tasks/ of the repository: see docs/git-queue.md. It is claimed by a commit, and
enqueued only once that commit has reached the remote. Whoever can push there can have this fleet do tasks.
Actions: fleet sync add, list, claim, complete.`,
  examples: [
    'fleet sync git@example.com:team/tasks.git --repo https://example.com/shop.git',
    'fleet sync /srv/tasks.git --watch --every 10s',
    `fleet sync add /srv/tasks.git 'Add a /health endpoint' --verify 'npm test'`,
  ],
  async run(cli, { args: [url = ''], flags }) {
    if (flags.every !== undefined && !flags.watch) throw wrongInput('--every needs --watch');
    const { sync: set } = cli.config();
    const repo = flags.repo ?? set.repo;
    const options: RoundOptions = {
      fleet: await cli.fleet(),
      name: flags.name ?? fleetName(cli),
      repo: repo === undefined || isUrl(repo) ? repo : resolve(cli.cwd, repo),
      approval: flags.approval ?? set.approval,
      most: flags.most,
      refused: new Map(),
    };
    const open = queueOf(cli, url, { flags });
    if (!flags.watch) return tell(cli, await withQueue(open, (queue) => goRound(queue, options)));
    await watch(cli, { open, options, everyMs: flags.every ?? EVERY_MS });
  },
});

/** What went wrong once may go well in the next round: a remote, or the server, that is away for a while. */
async function watch(cli: Cli, on: { open: OpenQueue; options: RoundOptions; everyMs: number }): Promise<void> {
  const { open, options, everyMs } = on;
  const stop = new AbortController();
  using _ = cli.onSignal(() => stop.abort());
  const told = { problems: new Set<string>(), rounds: 0 };
  let trouble = '';
  while (!stop.signal.aborted) {
    try {
      tell(cli, await withQueue(open, (queue) => goRound(queue, options)), told);
      trouble = '';
    } catch (error) {
      // In the first round: a wrong URL does not become right.
      if (!told.rounds || !(error instanceof Error)) throw error;
      if (error.message !== trouble) cli.note(`${oneLine(error.message)}: trying again`);
      trouble = error.message;
    }
    await pause(everyMs, undefined, { signal: stop.signal }).catch(() => undefined);
  }
}

/** @param told in the rounds before: a problem is said once for as long as it lasts, and a round without news not at all */
function tell(cli: Cli, round: Round, told = { problems: new Set<string>(), rounds: 0 }): void {
  const quiet = told.rounds > 0;
  told.rounds += 1;
  const lines = [
    ...round.settled.map(({ id, status, state, task, message }) =>
      status === 'claimed' ? `${state} ${id}: ${message ?? `see fleet task ${task}`}` : `${status} ${id} (${task})`,
    ),
    ...round.mended.map(({ id, task }) => `enqueued ${id} as ${task}, which was claimed before`),
    ...round.claimed.map(({ id, task }) => `claimed ${id} as ${task}`),
  ];
  if (!quiet || lines.length)
    cli.print(round, () => [...lines, summary(round)].map((line) => oneLine(line)).join('\n'));
  const problems = round.problems.map(({ path, message }) => oneLine(`${path} ${message}`));
  for (const problem of problems) if (!told.problems.has(problem)) cli.note(problem);
  told.problems = new Set(problems);
  if (round.most === 0 && round.counts.left > 0 && !quiet)
    cli.note('nothing is claimed, as no worker is attached that takes new work: start one, or say --most <n>');
}

function summary({ queue, counts }: Round): string {
  const { open, left, here, elsewhere, closed } = counts;
  const others = open - left;
  return [
    `${queue}: ${left} open`,
    ...(others ? [`${others} open for others`] : []),
    `${here} claimed here`,
    ...(elsewhere ? [`${elsewhere} claimed by others`] : []),
    `${closed} closed`,
  ].join(', ');
}
