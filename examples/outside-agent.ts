/**
 * An agent outside the fleet, as a program: takes the tasks that are for a name and hands in a branch for each:
 * `npx tsx examples/outside-agent.ts jean './make-it.sh'`. The command gets the task's id, repository and base, works wherever it likes,
 * pushes a branch `jean/<id>` to the repository, and says in its last line what it did.
 */
import { execFileSync } from 'node:child_process';
import { connectFleet } from '../src/client.ts';

const [as, command] = process.argv.slice(2);
if (!as || !command) throw new Error(`usage: outside-agent.ts <name> '<command>'`);

await using fleet = await connectFleet();
for (const { id, state } of await fleet.listFor(as)) {
  if (state !== 'queued') continue;
  const { repo, base, objective } = await fleet.claimFor(id, { as, leaseMs: 3_600_000 });
  try {
    const said = execFileSync('sh', ['-c', command], {
      input: objective,
      env: { ...process.env, TASK: id, REPO: repo ?? '', BASE: base ?? '' },
      encoding: 'utf8',
    });
    const result = said.trim().split('\n').at(-1) || 'done';
    await fleet.completeFor(id, { as, result, ...(repo ? { commit: `refs/heads/${as}/${id}` } : {}) });
  } catch (error) {
    await fleet.failFor(id, { as, why: error instanceof Error ? error.message : String(error) });
  }
  console.log(id, (await fleet.wait(id))?.state);
}
