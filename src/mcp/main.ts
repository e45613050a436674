import { argv } from 'node:process';
import { AGENT_TOOLS } from '../domain/task/schema.ts';
import { serveRun } from './in-run.ts';

/** The tools of an agent in its run: `main.js <outbox> <tool>…`. Its coder starts it, in the agent's own namespace. */
const [outbox = '', ...names] = argv.slice(2);
await serveRun(
  outbox,
  AGENT_TOOLS.filter((tool) => names.includes(tool)),
);
