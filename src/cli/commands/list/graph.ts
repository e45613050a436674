import { drawGraph, mermaidOf, relevant } from '../../../domain/scheduling/graph.ts';
import { command } from '../../command.ts';
import { paintState, painter } from '../../output/text.ts';

export const graph = command<{ mermaid?: boolean; all?: boolean }>({
  flags: [
    { flag: '--mermaid', about: 'as text for mermaid, e.g. in a README or an issue' },
    { flag: '--all', about: 'also tasks that are closed, and that nothing open waits for' },
  ],
  notes: `↓ and ├─ lead from a task to those that wait for it; one that waits for several stands below the last of them.`,
  examples: ['fleet graph', 'fleet graph --all --mermaid'],
  async run(cli, { flags }) {
    const fleet = await cli.fleet();
    const every = await fleet.graph();
    const nodes = flags.all ? every : relevant(every);
    if (flags.mermaid) return cli.print({ mermaid: mermaidOf(nodes) }, () => mermaidOf(nodes));
    const paint = painter(cli);
    cli.print(nodes, () =>
      nodes.length
        ? drawGraph(nodes)
            .map(({ stem, node, also }) => {
              const state = node.state ?? 'unknown';
              const more = also.length ? paint('dim', `  also after ${also.join(', ')}`) : '';
              return `${paint('dim', stem)}${node.id}  ${paintState(paint, state)}${more}`;
            })
            .join('\n')
        : 'no open tasks: --all shows those that are closed',
    );
  },
});
