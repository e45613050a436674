import { showConfig } from '../../../adapters/state/config-file.ts';
import { BUILTIN_CODERS } from '../../../config.ts';
import { unmetRoutes } from '../../../domain/routing/route.ts';
import { command } from '../../command.ts';
import { table } from '../../output/table.ts';
import { oneLine } from '../../output/text.ts';

export const configShow = command({
  examples: ['fleet config show', 'fleet config show --json'],
  async run(cli) {
    const lines = showConfig({ home: cli.home, env: cli.env });
    const values = Object.fromEntries(lines.map(({ key, value, source }) => [key, { value: value ?? null, source }]));
    const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
    cli.print(values, () =>
      table(
        ['key', 'value', 'from'],
        lines.map(({ key, value, source }) => [key, value === undefined ? '-' : oneLine(shown(value), 120), source]),
      ),
    );
    const { coders, routes } = cli.config();
    for (const said of unmetRoutes(routes, new Set([...BUILTIN_CODERS, ...Object.keys(coders)])))
      cli.note(`${said}, which is not configured here: its tasks wait for a worker that has it`);
  },
});
