import { command } from '../command.ts';
import { table } from '../table.ts';
import { oneLine } from '../text.ts';

export const doctorContext = command({
  name: 'doctor context',
  about:
    'what agent CLIs here would load into every conversation, what it costs, and what agents of the fleet get of it',
  examples: ['fleet doctor context', 'FLEET_CONTEXT_INHERIT=user fleet doctor context', 'fleet doctor context --json'],
  notes: `Looks at your HOME and at the repository it is run in. Tokens are about a quarter of the characters; of a skill its
description counts, and of an MCP server only the server itself could tell.`,
  async run(cli) {
    const { examineContext } = await import('../../workers/doctor-context.ts');
    const report = await examineContext({ config: cli.config(), env: cli.env, repo: cli.cwd });
    const sum = (loaded: boolean) =>
      report.items.filter((item) => !loaded || item.loaded).reduce((total, { tokens }) => total + (tokens ?? 0), 0);
    cli.print(report, () =>
      [
        report.items.length === 0
          ? 'no coder here would load anything by itself'
          : table(
              ['coder', 'what', 'of', 'path', 'tokens', 'loaded'],
              report.items.map(({ coder, kind, from, path, tokens, loaded }) => [
                ...[coder, kind, from, oneLine(path, 80), tokens === null ? '?' : String(tokens)],
                loaded ? 'yes' : 'no',
              ]),
            ),
        '',
        `context.inherit is ${report.inherit}: about ${sum(true)} tokens in each conversation here, of ${sum(false)} that the CLIs would load by themselves`,
        ...report.twice.map(
          ({ coder, paths, tokens, loaded }) =>
            `${coder} ${loaded ? 'loads' : 'would load'} the same twice, ${tokens} tokens too many in each conversation: ${paths.join(' and ')}`,
        ),
      ].join('\n'),
    );
  },
});
