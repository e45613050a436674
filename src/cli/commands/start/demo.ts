import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { stringify } from 'yaml';
import { execa } from 'execa';
import { startDevServer } from '../../../adapters/temporal/dev-server.ts';
import { freePorts } from '../../../adapters/temporal/free-ports.ts';
import { connectFleet, type Fleet, type TaskReport } from '../../../client.ts';
import { loadConfig } from '../../../config.ts';
import { branchOf } from '../../../domain/names.ts';
import { command, type Cli } from '../../command.ts';
import { asExpected, demoCoders, demoInput, DEMO_TASKS, reasonOf } from '../../demo/tasks.ts';
import { makeSample } from '../../demo/sample.ts';
import { table } from '../../output/table.ts';
import { oneLine } from '../../output/text.ts';

const SLOTS = 6;

export const demo = command<{ keep?: boolean }>({
  flags: [{ flag: '--keep', about: 'leave the server up for the Web UI until Ctrl-C' }],
  examples: ['fleet demo', 'fleet demo --keep'],
  notes: 'Everything happens in a throwaway folder: a Temporal server, a worker, a sample repository, six tasks.',
  async run(cli, { flags }) {
    const root = await mkdtemp(`${tmpdir()}/fleet-demo-`);
    const teardown: (() => unknown)[] = [() => rm(root, { recursive: true, force: true })];
    try {
      return await drain(cli, { root, teardown, keep: flags.keep === true });
    } finally {
      for (const step of teardown.reverse()) await step();
    }
  },
});

async function drain(cli: Cli, demoRun: { root: string; teardown: (() => unknown)[]; keep: boolean }): Promise<number> {
  const { root, teardown, keep } = demoRun;
  const startedAt = performance.now();
  const say = (text: string) => (cli.json ? cli.note(text) : cli.out(text));

  // 1. A server, a worker and a repository of the demo's own.
  const home = `${root}/home`;
  const repo = `${root}/shop`;
  await Promise.all([home, repo].map((dir) => mkdir(dir, { recursive: true })));
  await makeSample(repo);
  await writeFile(
    `${home}/config.yaml`,
    stringify({ worker: { name: `demo-${process.pid}`, slots: SLOTS }, coders: demoCoders() }),
  );
  say(`Starting Temporal's dev server and a worker with ${SLOTS} slots in ${root}`);
  const [port = 0, uiPort = 0] = await freePorts(2);
  const env = { ...plain(cli.env), FLEET_HOME: home, TEMPORAL_ADDRESS: `127.0.0.1:${port}` };
  const server = await startDevServer({ home, port, uiPort, env, say });
  teardown.push(() => server.stop());
  const config = loadConfig({ home, env });
  const { startWorker } = await import('../../../workers/worker.ts');
  const worker = await startWorker({ home, config, env, log: () => {} });
  teardown.push(() => worker.stop('stop-agents'));
  await using fleet = await connectFleet({ env, config });

  // 2. Six tasks, followed live.
  say(`Enqueueing ${DEMO_TASKS.length} tasks: fix the discount in ${repo}\n`);
  const tasks = await fleet.enqueueAll(DEMO_TASKS.map((task) => ({ input: demoInput(task, repo) })));
  const reports = await Promise.all(
    tasks.map(({ id }, i) =>
      follow(fleet, id, (text) => say(`${clock(startedAt)}  ${(DEMO_TASKS[i]?.behaviour ?? '').padEnd(7)} ${text}`)),
    ),
  );

  // 3. What became of them.
  const rows = DEMO_TASKS.map((task, i) => ({ task, report: reports[i]!, ok: asExpected(task, reports[i]!) }));
  const asHoped = rows.every(({ ok }) => ok);
  const accepted = rows[0]!.report;
  cli.print(
    { ok: asHoped, tasks: rows.map(({ task, report, ok }) => ({ behaviour: task.behaviour, ok, ...report })) },
    () =>
      [
        '',
        table(
          ['agent', 'verdict', 'why', 'expected'],
          rows.map(({ task, report, ok }) => [
            `${task.behaviour}: ${task.title}`,
            report.state === 'done' ? 'done' : `${report.state} (${report.reason})`,
            oneLine(reasonOf(report), 90),
            ok ? 'yes' : 'NO',
          ]),
        ),
        `\nThe receipts of ${accepted.id}:`,
        table(
          ['receipt', 'ok', 'shows', 'sha256'],
          accepted.receipts.map(({ kind, ok, summary, digest }) => [
            kind,
            ok ? 'yes' : 'no',
            oneLine(summary, 80),
            digest.slice(0, 12),
          ]),
        ),
      ].join('\n'),
  );
  const log = await execa('git', ['-C', repo, 'log', '--oneline', '--graph', branchOf(accepted.id)], { reject: false });
  say(`\nThe branch it delivered, ${branchOf(accepted.id)}:\n${log.stdout}`);
  say(`\n${await whatNext(cli.env)}`);
  say(
    `\n${asHoped ? 'Every verdict is the expected one' : 'NOT every verdict is the expected one'} (${clock(startedAt).trim()}).`,
  );
  if (keep) await linger(cli, server.uiAddress);
  return asHoped ? 0 : 1;
}

async function follow(fleet: Fleet, id: string, say: (text: string) => void): Promise<TaskReport> {
  let last: TaskReport | undefined;
  let said = '';
  for await (const report of fleet.follow(id, { tickMs: 250 })) {
    last = report;
    const text =
      report.state +
      (report.reason ? ` (${report.reason})` : '') +
      (report.runs.length > 1 ? `, run ${report.runs.length}` : '');
    if (text !== said) say((said = text));
  }
  if (!last) throw new Error(`${id} ended before it was seen`);
  return last;
}

async function whatNext(env: NodeJS.ProcessEnv): Promise<string> {
  const { probeCoders, usable } = await import('../../../workers/coders/probe-coders.ts');
  const { createCoders } = await import('../../../coders/registry.ts');
  const { coderText } = await import('../../../domain/worker/worker.ts');
  const found = [...usable(await probeCoders(createCoders({}).values(), env))];
  const coders = found.map(([name, { version }]) => coderText({ name, version })).join(', ');
  return [
    found.length
      ? `Agents found on this machine: ${coders}. Next:`
      : 'No agent CLI was found on this machine: install Claude Code or Codex, log in, then:',
    '  npm link && fleet up                                       # keep this running',
    `  fleet run 'Add a /health endpoint' --verify 'npm test'${found[0] ? ` --coder ${found[0][0]}` : ''}     # in any git repository`,
  ].join('\n');
}

async function linger(cli: Cli, uiAddress: string | null): Promise<void> {
  cli.note(`\nThe Web UI is at ${uiAddress}; Ctrl-C ends the demo and removes its folder.`);
  await new Promise<void>((resolve) => void cli.onSignal(() => resolve()));
}

/** Temporal's own variables would lead away from the demo's server. */
const plain = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(TEMPORAL|FLEET)_/.test(name)));

const clock = (startedAt: number): string => `${((performance.now() - startedAt) / 1_000).toFixed(1)}s`.padStart(6);
