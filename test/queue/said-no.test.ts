import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { git, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

/** Changes something in each run, and proposes the same. */
const PROPOSES = `cat >/dev/null; mkdir -p "$FLEET_OUTBOX/follow-ups"; echo "$FLEET_RUN" >made.txt; git add -A; git commit -qm Made
echo '{"task":{"objective":"Document it"}}' >"$FLEET_OUTBOX/follow-ups/1.json"`;

/** What a person's yes and no hold. */
let fleet: TestFleet;
let repo: string;
let url: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  repo = await fleet.repo('shop');
  await git(fleet.root, 'clone', '-q', '--bare', repo, `${fleet.root}/shop.git`);
  url = `file://${fleet.root}/shop.git`;
  await fleet.worker('one', {
    worker: { slots: 2 },
    handOff: { allow: [{ from: 'free' }] },
    coders: { free: { command: ['sh', '-c', PROPOSES], protocol: 'none' } },
  });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const stateIs = (id: string, state: string) => until(async () => (await fleet.fleet.view(id)).state === state);
/** An agent outside commits, pushes to `branch` as well, and hands in. */
async function handIn(id: string, { text, branch }: { text: string; branch?: string }): Promise<string> {
  await until(async () => (await fleet.fleet.view(id)).message?.startsWith('waits for '));
  await fleet.fleet.claimFor(id, { as: 'jean', leaseMs: 600_000 });
  const clone = `${fleet.root}/clone-${text}`;
  await git(fleet.root, 'clone', '-q', `${fleet.root}/shop.git`, clone);
  await writeFile(`${clone}/made.txt`, text);
  await git(clone, 'add', '-A');
  await git(clone, '-c', 'user.name=Jean', '-c', 'user.email=jean@x', 'commit', '-q', '-m', text);
  await git(clone, 'push', '-q', 'origin', `HEAD:refs/heads/jean/${text}`);
  const commit = await git(clone, 'rev-parse', 'HEAD');
  await fleet.fleet.completeFor(id, { as: 'jean', result: text, commit });
  await stateIs(id, 'awaiting-approval');
  if (branch) await git(clone, 'push', '-q', 'origin', `HEAD:refs/heads/${branch}`);
  return commit;
}

test('what a run proposes rests on the same yes as its result', async () => {
  const id = await fleet.fleet.enqueue({
    ...{ objective: 'Build it', repo, coder: 'free', approval: 'before-deliver', retry: { backoff: '1s' } },
  });
  const asked = (approval: string) =>
    until(async () => {
      const view = await fleet.fleet.view(id);
      return view.approval?.id === approval && view;
    });
  expect((await asked('a1')).followUps).toBeUndefined();
  await fleet.fleet.reject(id, { by: 'ada', why: 'no' });
  expect((await asked('a2')).followUps).toBeUndefined();
  await fleet.fleet.approve(id, { by: 'ada', why: 'yes' });
  const done = await fleet.settled(id);
  expect(done.state).toBe('done');
  expect(done.followUps?.[0]).toEqual({ id: `${id}.2-1`, title: 'Document it' });
  await expect(fleet.fleet.view(`${id}.1-1`)).rejects.toThrow('no task');
});

test('what a person said no to is delivered by no push of its author', async () => {
  const id = await fleet.fleet.enqueue({
    ...{ objective: 'Add made.txt', repo: url, for: 'jean', verify: ['test -f made.txt'], approval: 'before-deliver' },
  });
  await handIn(id, { text: 'refused', branch: `fleet/${id}` });
  await fleet.fleet.reject(id, { by: 'ada', why: 'not that' });
  await handIn(id, { text: 'better' });
  await fleet.fleet.approve(id, { by: 'ada', why: 'yes' });
  const parked = await fleet.settled(id);
  expect(parked).toMatchObject({ state: 'parked', reason: 'conflict' });
  expect(parked.message).toContain(`already has a branch fleet/${id}`);
  await fleet.fleet.giveUp(id);
});
