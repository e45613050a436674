import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PatrolRound } from '../../src/domain/produce/patrol.ts';
import { TestFleet } from '../helpers/fleet.ts';
import { message, patrolRound, TALKER } from '../helpers/patrol.ts';
import { until } from '../helpers/until.ts';

/** What the patrol takes from its backlog when there is nothing to do, on a real server. */

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.start();
});
afterAll(() => fleet?.[Symbol.asyncDispose]());

/** Rounds until one that saw so many slots free and nothing queued, as the server tells of ends a moment later; and what all of them took. */
const idleRound = async (queue: string, slots: number): Promise<PatrolRound> => {
  const taken: PatrolRound['taken'] = [];
  const last = await until(async () => {
    const one = await patrolRound(fleet, queue);
    taken.push(...one.taken);
    return one.free >= slots && !one.states.queued && one;
  });
  return { ...last, taken };
};
test('when idle it takes the next items of the backlog, each once, and a broken one stops no other', async () => {
  const repo = await fleet.repo('shop');
  const folder = `${fleet.root}/backlog`;
  await mkdir(folder);
  await writeFile(`${folder}/1-broken.yaml`, 'objective: [');
  await writeFile(`${folder}/2-first.yaml`, 'objective: First\nid: first\n');
  await writeFile(`${folder}/3-second.md`, '---\npriority: 10\n---\n# Second\n\nMore.\n');
  const issues = [
    { number: 7, title: 'Fix it', body: 'Now.', html_url: 'https://x/7' },
    { number: 8, title: 'A pull request', body: '', html_url: 'https://x/8', pull_request: {} },
  ];
  const others = [{ number: 9, title: 'Elsewhere', body: null, html_url: 'https://x/9' }];
  const asked: string[] = [];
  const github = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (request.method === 'DELETE') issues.splice(0);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.method === 'DELETE' ? [] : request.url!.includes('/shop/') ? issues : others));
  });
  await new Promise<void>((resolve) => github.listen(0, '127.0.0.1', resolve));
  const { port } = github.address() as { port: number };
  try {
    await using _ = await fleet.worker(
      'taker',
      {
        coders: { mine: TALKER },
        worker: { coder: 'mine', slots: 2, queues: ['take'] },
        github: { api: `http://127.0.0.1:${port}` },
        patrol: { take: 2 },
        backlog: [
          { files: folder, task: { type: 'message', verify: ['true'], deliver: 'none', queue: 'take' } },
          { github: 'o/shop', task: { type: 'message', verify: ['true'], deliver: 'none', queue: 'take', repo } },
          { github: 'o/other', label: 'ready', task: { queue: 'take' } },
          { files: `${fleet.root}/nowhere` },
        ],
      },
      { env: { GITHUB_TOKEN: 'secret-token' } },
    );
    const one = await idleRound('take', 2);
    expect(one.taken).toEqual([
      { id: 'first', from: `${folder}/2-first.yaml` },
      { id: '3-second', from: `${folder}/3-second.md` },
    ]);
    expect(one.troubles).toEqual([expect.stringContaining('1-broken.yaml: ')]);
    for (const id of ['first', '3-second']) await fleet.settled(id);
    expect((await readdir(folder)).toSorted()).toEqual(['1-broken.yaml', 'taken']);
    expect((await readdir(`${folder}/taken`)).toSorted()).toEqual(['2-first.yaml', '3-second.md']);

    const two = await idleRound('take', 2);
    expect(two.taken).toEqual([{ id: 'o-shop-7', from: 'https://x/7' }]);
    expect(two.troubles.filter((said) => !said.includes('1-broken'))).toEqual([
      expect.stringMatching(/^https:\/\/x\/9: .*127\.0\.0\.1\/o\/other/),
      expect.stringContaining('nowhere'),
    ]);
    expect(await fleet.settled('o-shop-7')).toMatchObject({
      title: 'Fix it',
      objective: 'Fix it\n\nNow.\n\n(https://x/7)',
    });
    expect(asked).toContain('DELETE /repos/o/shop/issues/7/labels/fleet-ready');
    expect(asked[0]).toContain('GET /repos/o/shop/issues?labels=fleet-ready&state=open');
    expect(JSON.stringify(two)).not.toContain('secret-token');
  } finally {
    github.closeAllConnections();
    github.close();
  }
});

test('what cannot be set aside keeps nothing else from it, and runs no second time', async () => {
  const folder = `${fleet.root}/items`;
  await mkdir(folder);
  await writeFile(`${folder}/taken`, 'a file where the folder should be');
  await writeFile(`${folder}/a.yaml`, 'objective: A\nid: stuck-a\n');
  await writeFile(`${folder}/b.yaml`, 'objective: B\nid: stuck-b\n');
  await writeFile(`${folder}/c.yaml`, 'objective: Something new\nid: stuck-old\n');
  await using _ = await fleet.worker('stuck', {
    coders: { mine: TALKER },
    worker: { coder: 'mine', queues: ['stuck'] },
    backlog: [{ files: folder, task: { type: 'message', verify: ['true'], deliver: 'none', queue: 'stuck' } }],
  });
  await fleet.fleet.enqueue(message('stuck-old', { queue: 'stuck' }), { id: 'stuck-old' });
  await fleet.settled('stuck-old');
  const took = async (id: string) => {
    const one = await idleRound('stuck', 1);
    expect(one.taken).toEqual(id ? [{ id, from: `${folder}/${id.slice(-1)}.yaml` }] : []);
    if (id) await fleet.settled(id);
    return one.troubles.map((said) => said.replace(`${folder}/`, '').split(':').slice(0, 2).join(':'));
  };
  // Not as one whose id is another task's: it is known to have run.
  const [a, b] = ['a.yaml: EEXIST', 'b.yaml: EEXIST'];
  const c = 'c.yaml: is not taken, as there is a task stuck-old already, which is done';
  expect(await took('stuck-a')).toEqual([a]);
  expect(await took('stuck-b')).toEqual([a, b]);
  expect(await took('')).toEqual([a, b, c]);
  await rm(`${folder}/taken`);
  expect(await took('')).toEqual([c]);
  expect((await readdir(folder)).toSorted()).toEqual(['c.yaml', 'taken']);
  expect((await readdir(`${folder}/taken`)).toSorted()).toEqual(['a.yaml', 'b.yaml']);
  expect(await took('')).toEqual([c]);
});
