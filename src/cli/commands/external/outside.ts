import { isSettled, type Fleet, type TaskReport } from '../../../client.ts';
import { wrongInput } from '../../../domain/error.ts';
import { DEFAULT_LEASE, type Brief } from '../../../domain/people/external-agent.ts';
import { command, durationMs, type Flag } from '../../command.ts';
import { table } from '../../output/table.ts';
import { clean, oneLine } from '../../output/text.ts';

/** What agents outside the fleet type: programs or people that take the tasks that are for their name. */

const AS: Flag = { flag: '--as <name>', about: 'whose the task is; required' };
const NO_PROOF = 'Nothing proves a name: see docs/outside-agents.md.';

function asOf({ as }: { as?: string }): string {
  if (as?.trim()) return as.trim();
  throw wrongInput('--as is required: say whose task it is');
}

export const list = command<{ as?: string }>({
  flags: [AS],
  notes: NO_PROOF,
  examples: ['fleet list --as jean', 'fleet list --as jean --json'],
  async run(cli, { flags }) {
    const as = asOf(flags);
    const reports = await (await cli.fleet()).listFor(as);
    cli.print(reports, () =>
      reports.length ? tableOf(reports) : `nothing is for ${as}: fleet enqueue '<objective>' --for ${as} makes a task`,
    );
  },
});

const tableOf = (reports: readonly TaskReport[]): string =>
  table(
    ['id', 'title', 'state', 'priority', 'repository', 'base', 'why'],
    reports.map(({ id, title, state, priority, repo, base, message }) => [
      oneLine(id, 64),
      oneLine(title, 40),
      state,
      String(priority),
      oneLine(repo ?? '', 60),
      oneLine(base ?? '', 12),
      oneLine(message ?? '', 160),
    ]),
  );

export const claim = command<{ as?: string; lease?: number }>({
  flags: [
    AS,
    { flag: '--lease <duration>', about: `until then it is held (default: ${DEFAULT_LEASE})`, parse: durationMs },
  ],
  notes: `What it prints is the task: objective, context, checks, scope, and the commit to start from. ${NO_PROOF}`,
  examples: ['fleet claim add-health-k3x9qa --as jean', 'fleet claim add-health-k3x9qa --as jean --lease 2h'],
  async run(cli, { args: [id], flags }) {
    const as = asOf(flags);
    const { lease } = flags;
    const view = await (await cli.fleet()).claimFor(id!, { as, ...(lease === undefined ? {} : { leaseMs: lease }) });
    cli.print(view, () =>
      [
        `${as} holds task ${id} until ${view.outside?.until ?? 'its lease ends'}`,
        ...(view.repo ? [oneLine(`work on ${view.repo}${view.base ? `, from ${view.base}` : ''}`)] : []),
        ...(view.outside?.notAccepted
          ? [oneLine(`what was handed in before was not accepted: ${view.outside.notAccepted}`)]
          : []),
        ...(view.decision?.why ? [oneLine(`a person says: ${view.decision.why}`)] : []),
        '',
        clean(view.objective).trim(),
        ...briefText(view.brief),
      ].join('\n'),
    );
  },
});

/** What it has to know beside the objective. */
const briefText = ({ context, verify = [], scope = {}, artifacts = [] }: Brief = {}): string[] => [
  ...(context === undefined ? [] : ['', 'What is known already:', clean(context).trim()]),
  ...listed('In a fresh checkout of the result, these must succeed:', verify),
  ...listed('Only these files may change:', scope.allow?.length === 0 ? ['none'] : scope.allow),
  ...listed(
    scope.protect?.new === 'refuse'
      ? 'These files must stay as they are, and none may be added:'
      : 'These files must stay as they are (new ones may be added):',
    scope.protect?.paths,
  ),
  ...listed('These files are wanted:', artifacts),
];

const listed = (head: string, lines: readonly string[] = []): string[] =>
  lines.length ? ['', head, ...lines.map((line) => `  ${oneLine(line, 2_000)}`)] : [];

interface Completed {
  as?: string;
  result?: string;
  commit?: string;
  branch?: string;
  wait?: boolean;
}

export const complete = command<Completed>({
  flags: [
    AS,
    { flag: '--result <text>', about: 'what was done, in a few words; required' },
    { flag: '--commit <ref>', about: "where the work is: a commit, branch or tag that the task's repository has" },
    { flag: '--branch <name>', about: 'likewise, a branch' },
    { flag: '--wait', about: 'until it was verified; exit code 1 where it is not accepted' },
  ],
  notes: `A worker verifies a commit as it does any agent's. A result without one waits for a person's approval.`,
  examples: [
    `fleet complete add-health-k3x9qa --as jean --result 'added and tested' --branch jean/health --wait`,
    `fleet complete ask-around-b2k8zz --as jean --result 'they agree'`,
  ],
  async run(cli, { args: [id], flags }) {
    const as = asOf(flags);
    const { result, commit, branch, wait } = flags;
    if (!result?.trim()) throw wrongInput('--result is required: say what was done');
    if (commit !== undefined && branch !== undefined)
      throw wrongInput('--commit and --branch cannot be used together: both say where the work is');
    const ref = branch === undefined ? commit : `refs/heads/${branch.replace(/^refs\/heads\//, '')}`;
    const fleet = await cli.fleet();
    await fleet.completeFor(id!, { as, result, ...(ref === undefined ? {} : { commit: ref }) });
    if (!wait) {
      const next = ref === undefined ? 'and waits for approval' : 'and is verified now';
      cli.print({ id, handedIn: true }, () => `task ${id} is handed in ${next}: fleet task ${id} wait`);
      return;
    }
    return verdictOn(fleet, id!, (report) => cli.print(report, () => oneLine(verdictText(report), 2_000)));
  },
});

async function verdictOn(fleet: Fleet, id: string, print: (report: TaskReport) => void): Promise<number> {
  for await (const report of fleet.follow(id)) {
    const waits = report.state === 'awaiting-approval';
    if (!waits && !isSettled(report) && (report.partial || report.handedIn)) continue;
    print(report);
    return waits || report.state === 'done' ? 0 : 1;
  }
  return 1;
}

function verdictText({ id, state, message, branch, runs }: TaskReport): string {
  if (state === 'done') return `task ${id} is done${branch ? `: the result is on branch ${branch}` : ''}`;
  if (state === 'awaiting-approval') return `task ${id} waits for approval: ${message ?? ''}`;
  return `task ${id} is ${state}: ${message ?? runs.at(-1)?.message ?? 'not accepted'}`;
}

export const fail = command<{ as?: string; why?: string }>({
  flags: [AS, { flag: '--why <why>', about: 'required' }],
  examples: [`fleet fail add-health-k3x9qa --as jean --why 'the service has no router'`],
  async run(cli, { args: [id], flags }) {
    const as = asOf(flags);
    if (!flags.why?.trim()) throw wrongInput('--why is required: a person decides by it');
    await (await cli.fleet()).failFor(id!, { as, why: flags.why });
    cli.print({ id, failed: true }, () => `task ${id} is given back: a person decides`);
  },
});
