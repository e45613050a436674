import { command } from '../../command.ts';
import { table } from '../../output/table.ts';
import { oneLine } from '../../output/text.ts';

const WHAT = {
  ...{ instructions: 'instructions', skill: 'skill', plugin: 'plugin' },
  ...{ mcp: 'MCP server', settings: 'settings' },
} as const;

export const doctorContext = command({
  examples: ['fleet doctor context', 'FLEET_CONTEXT_INHERIT=user fleet doctor context', 'fleet doctor context --json'],
  notes: `Looks at your HOME and at the repository it is run in. Tokens are about a quarter of the characters; of a skill its
description counts, and of an MCP server only the server itself could tell.`,
  async run(cli) {
    const { examineContext } = await import('../../../workers/doctor/doctor-context.ts');
    const report = await examineContext({ config: cli.config(), env: cli.env, repo: cli.cwd });
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
        `context.inherit is ${report.inherit}`,
        ...report.sums.map(
          ({ coder, loaded, all }) =>
            `${coder}: about ${loaded} tokens in each conversation here, of ${all} that it would load by itself`,
        ),
        ...report.twice.map(
          ({ coder, kind, paths, tokens, loaded }) =>
            `${coder} ${loaded ? 'loads' : 'would load'} the same ${WHAT[kind]} twice${tokens === null ? '' : `, ${tokens} tokens too many in each conversation`}: ${paths.join(' and ')}`,
        ),
      ].join('\n'),
    );
  },
});
