import { z } from 'zod';

/** What a driver is started with, as the one argument of its program: no secrets, every user of the machine can read it. */
export const driveOrder = z.strictObject({
  protocol: z.enum(['acp', 'codex']),
  /** The agent CLI and its arguments. */
  command: z.array(z.string()).min(1),
  /** The worktree, absolute. */
  cwd: z.string(),
  model: z.string().optional(),
  /** Ids of the agent's own, in ACP: the login to use, and the mode of the session. Missing: what works unattended. */
  auth: z.string().optional(),
  mode: z.string().optional(),
  /** A server of tools for the agent, by stdio. */
  mcp: z.strictObject({ command: z.string(), args: z.array(z.string()) }).optional(),
  /** The session to go on with. */
  resume: z.string().optional(),
});
export type DriveInput = z.infer<typeof driveOrder>;
