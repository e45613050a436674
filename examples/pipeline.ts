/**
 * Three tasks that build on each other, told once however often this is run, and answers to what their agents ask:
 * `npx tsx examples/pipeline.ts /path/to/repo release-7`. Needs a Temporal server and a worker, e.g. `fleet up`.
 */
import { connectFleet, FleetError, type TaskInput } from '../src/client.ts';

const [repo, release] = process.argv.slice(2);
if (!repo || !release) throw new Error('usage: pipeline.ts <repo> <release>');

await using fleet = await connectFleet();

/** By its key a task is there once, also where this program was killed half way and is started again. */
const step = (name: string, input: TaskInput) => fleet.enqueue({ repo, ...input }, { key: `${release} ${name}` });
const schema = await step('schema', { objective: 'Add the table for invoices', approval: 'before-run' });
const api = await step('api', { objective: 'Serve the invoices', dependsOn: [schema], verify: ['npm test'] });
const docs = await step('docs', { objective: 'Describe the new endpoint', dependsOn: [api], priority: 80 });

for (const item of await fleet.inbox()) console.log(item.id, item.kind, item.commands.join(' | '));
await fleet.approve(schema, { by: 'release bot', why: 'on the plan' }).catch((error: unknown) => {
  // It was approved before.
  if (!(error instanceof FleetError)) throw error;
  console.log(error.message);
});

for (const id of [schema, api, docs]) {
  const { state, branch, message } = (await fleet.wait(id)) ?? { state: 'open' };
  console.log(id, state, branch ?? message ?? '');
}
