/**
 * Starts one task from a program and waits for it: `npx tsx examples/start-task.ts /path/to/repo 'Add a /health endpoint'`.
 * Needs a Temporal server and a worker, e.g. `fleet up`.
 */
import { connectFleet } from '../src/client.ts';

const [repo, objective] = process.argv.slice(2);
if (!repo || !objective) throw new Error(`usage: start-task.ts <repo> '<objective>'`);

await using fleet = await connectFleet();
const id = await fleet.enqueue({ objective, repo, verify: { commands: ['npm test'] } });
for await (const { state, worker, live } of fleet.follow(id))
  console.log(id, state, worker ?? '', live?.lastEvent ?? '');

const { state, verdict, branch } = await fleet.view(id);
console.log(state, branch ?? verdict?.reasons.join('; ') ?? '');
