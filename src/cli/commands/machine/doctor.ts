import { FleetError } from '../../../domain/error.ts';
import { command, type Cli } from '../../command.ts';
import { table } from '../../output/table.ts';
import { oneLine, painter } from '../../output/text.ts';

const MARKS = { ok: 'ok', note: 'note', wrong: 'WRONG' } as const;

export const doctor = command({
  examples: ['fleet doctor', 'fleet doctor --json'],
  notes: 'Starts no agent. Exits 1 where something is wrong that a task would fail for.',
  async run(cli) {
    const { examine } = await import('../../../workers/doctor/doctor.ts');
    const config = cli.config();
    const checks = [
      ...(await examine({ home: cli.home, config, env: cli.env })),
      await serverCheck(cli),
      ...(await channelChecks(cli)),
    ];
    const paint = painter(cli);
    cli.print(checks, () =>
      table(
        ['', 'what', 'says'],
        checks.map(({ what, is, says }) => [
          is === 'wrong' ? paint('red', MARKS[is]) : MARKS[is],
          what,
          oneLine(says, 200),
        ]),
      ),
    );
    return checks.some(({ is }) => is === 'wrong') ? 1 : 0;
  },
});

async function channelChecks(cli: Cli): Promise<{ what: string; is: 'ok' | 'wrong'; says: string }[]> {
  const { telegram } = cli.config().channels;
  if (!telegram) return [];
  const { checkTelegram } = await import('../../../channels/telegram/check.ts');
  return [{ what: 'telegram', ...(await checkTelegram(telegram, { home: cli.home, env: cli.env })) }];
}

async function serverCheck(cli: Cli): Promise<{ what: string; is: 'ok' | 'wrong'; says: string }> {
  try {
    const workers = (await (await cli.fleet()).workers()).filter(({ state }) => state === 'attached');
    return {
      what: 'server',
      is: 'ok',
      says: `answers; ${workers.length} worker${workers.length === 1 ? '' : 's'} attached`,
    };
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    return { what: 'server', is: 'wrong', says: error.message };
  }
}
