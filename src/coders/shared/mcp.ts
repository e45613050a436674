import type { StartInput } from '../../ports.ts';

type Given = NonNullable<StartInput['mcp']>;

/** As most CLIs want to be told of a server by stdio. */
export const serverOf = ({ command, args }: Given): { command: string; args: string[] } => ({ command, args });

/** For a CLI to which a repository can name servers as well: one that nobody knows before the run's session. */
export const serverName = (session: string): string => `fleet-${session.slice(0, 8)}`;
