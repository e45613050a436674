import { forgottenRuns, unnamedRuns, type ForgottenBy } from '../../../domain/worker/rollback.ts';
import { command } from '../../command.ts';
import { table } from '../../output/table.ts';
import { oneLine } from '../../output/text.ts';
import { WHY, whoami } from './worker-orders.ts';

export const rollback = command({
  notes: `While there is any, no worker takes new work. Put the newer database back: workers go on within seconds.
Or go on with the older one: fleet rollback accept.`,
  examples: ['fleet rollback', 'fleet rollback --json'],
  async run(cli) {
    const notices = await (await cli.fleet()).orders.rollback();
    cli.print(notices, () =>
      notices.length > 0
        ? [
            runTable(forgottenRuns(notices)),
            ...(unnamedRuns(notices) > 0 ? [`and ${unnamedRuns(notices)} older runs`] : []),
            'put the newer database back, or type fleet rollback accept: these may run again then',
          ].join('\n')
        : `no worker has noticed a rollback of the server's database`,
    );
  },
});

export const rollbackAccept = command<{ why?: string }>({
  flags: [WHY],
  notes: `Workers take new work again. What fleet rollback lists may run again: a task that is to be spared has to be cancelled before.
A newer copy of the database may still be put back later; what is done until then is unknown to that one.`,
  examples: ['fleet rollback accept', `fleet rollback accept --why 'the newer file is gone'`],
  async run(cli, { flags }) {
    const fleet = await cli.fleet();
    const runs = await fleet.orders.acceptRollback({ by: whoami(cli.env), why: flags.why?.trim() ?? '' });
    cli.print({ accepted: runs }, () =>
      runs.length > 0
        ? `workers go on within seconds with the database as it is: ${counted(runs)} may run again`
        : `no worker has noticed a rollback of the server's database: nothing to accept`,
    );
  },
});

function counted(runs: readonly ForgottenBy[]): string {
  const tasks = new Set(runs.map(({ taskId }) => taskId)).size;
  return tasks === 1 ? `task ${oneLine(runs[0]!.taskId, 64)}` : `${tasks} tasks`;
}

const runTable = (runs: readonly ForgottenBy[]): string =>
  table(
    ['task', 'run', 'worker', 'was', 'at'],
    runs.map(({ taskId, n, worker, ended, at }) => [
      oneLine(taskId, 64),
      String(n),
      oneLine(worker, 40),
      ended ? 'ended' : 'at work',
      at,
    ]),
  );
