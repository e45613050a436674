import { readdir, readFile } from 'node:fs/promises';
import { git } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { readJournal } from '../helpers/journal.ts';
import { until } from '../helpers/until.ts';
import { within, type Workload } from './workload.ts';
import type { World } from './world.ts';

/** What is there in the end: each task, each branch, each agent's story, and what should not be there. */
export async function inspect(world: World, workload: Workload): Promise<void> {
  await finals(world, workload);
  await deliveries(world);
  for (const life of await readJournal(world.journal)) world.history.add({ kind: 'life', life });
  await leftOnSites(world);
  await leftAfterwards(world);
}

async function finals({ fleet, history }: World, workload: Workload): Promise<void> {
  for (const [id, seen] of workload.tasks) {
    if (!seen) continue;
    const { state, attempts, runs } = await until(() => within(fleet.view(id)).catch(() => undefined), {
      timeoutMs: 60_000,
    });
    const brief = runs.map(({ runId, reason, counts }) => ({ runId, reason, counts }));
    history.add({ kind: 'final', id, state, used: attempts.used, runs: brief });
  }
}

/** The branches in the checkout, and each push that the bare repository has taken. */
async function deliveries({ root, repos, history }: World): Promise<void> {
  const listed = await git(repos.path, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads/fleet/');
  const pushed = await readFile(`${root}/pushes`, 'utf8').catch(() => '');
  const found = [
    ...listed.split('\n').map((line) => ({ dir: repos.path, line })),
    ...pushed.split('\n').map((line) => ({ dir: `${root}/bare.git`, line: line.split(' ').slice(1).join(' ') })),
  ];
  for (const { dir, line } of found) {
    const [commit, ref] = line.split(' ');
    if (!commit || !ref) continue;
    const made = await git(dir, 'show', `${commit}:made.txt`).catch(() => '');
    const id = ref.replace('refs/heads/fleet/', '');
    history.add({ kind: 'delivered', id, commit, by: made.replace('by ', '') });
  }
}

/** While the workers are attached and have nothing to do. */
async function leftOnSites({ sites, fleet, history }: World): Promise<void> {
  const empty = (dir: string) => readdir(dir).then((names) => names.every((name) => name === '.trash'));
  for (const { index, home } of sites) {
    const clean = async () => (await empty(`${home}/runs`)) && (await strays(`${home}/runs`)).length === 0;
    await until(clean, { timeoutMs: 90_000 }).catch(async () => {
      const names = await readdir(`${home}/runs`, { recursive: true });
      history.add({ kind: 'stray', what: `site ${index}: ${names.slice(0, 5).join(' ')}` });
    });
  }
  // What a worker says of itself is some seconds old.
  const said = async () => (await within(fleet.workers())).flatMap(({ view }) => view ?? []);
  const idle = async () => {
    const all = await said();
    return all.length === sites.length && all.every(({ slots }) => slots.used === 0);
  };
  await until(idle, { timeoutMs: 60_000 }).catch(() => {});
  const views = await said();
  if (views.length < sites.length)
    history.add({ kind: 'stray', what: `only ${views.length} of ${sites.length} workers answer` });
  for (const { name, slots } of views)
    if (slots.used > 0) history.add({ kind: 'stray', what: `${name} holds ${slots.used} slots` });
}

/** Once the workers have stopped, nothing of them may live: keepers without runs leave by themselves. */
async function leftAfterwards({ sites, history }: World): Promise<void> {
  await Promise.all(sites.map((site) => site.end('SIGTERM')));
  for (const { index, home } of sites) {
    await until(async () => (await strays(home)).length === 0, { timeoutMs: 30_000 }).catch(async () => {
      history.add({ kind: 'stray', what: `site ${index}: processes ${(await strays(home)).join(' ')}` });
    });
  }
}
