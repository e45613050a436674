import { userInfo } from 'node:os';
import { wrongInput } from '../../../domain/error.ts';
import { AGENT_TOOLS, name } from '../../../domain/task/schema.ts';
import { command } from '../../command.ts';

export const mcp = command<{ as?: string; run?: string }>({
  flags: [
    { flag: '--as <name>', about: 'who it is, for others to see (default: your user name)' },
    { flag: '--run <outbox>', about: "an agent's own tools in its run, which its coder starts by itself" },
  ],
  notes: `Its tools: enqueue, list, show, answer, hand_off, claim, complete, drop, propose, ask_human. There is none to approve: that is for people.`,
  examples: ['claude mcp add fleet -- fleet mcp --as claude', 'codex mcp add fleet -- fleet mcp --as codex'],
  async run(cli, { flags }) {
    if (flags.run !== undefined) {
      const { serveRun } = await import('../../../mcp/in-run.ts');
      return serveRun(flags.run, AGENT_TOOLS);
    }
    const as = flags.as ?? userInfo().username;
    if (!name.safeParse(as).success)
      throw wrongInput(`--as must be letters, digits, ".", "_" or "-", 40 characters at most, not ${as}`);
    const { serveFleet } = await import('../../mcp/serve.ts');
    return serveFleet(cli, as);
  },
});
