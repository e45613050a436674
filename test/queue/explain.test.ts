import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { agent, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
});
afterAll(() => fleet[Symbol.asyncDispose]());

const sentence = async (id: string) => (await fleet.fleet.explain(id)).sentence;

test('a worker that is busy, silent and stopped: what waits is counted, what it runs is unknown, and since when', async () => {
  const repo = await fleet.repo('repo');
  const worker = await fleet.worker('full', { worker: { slots: 1 }, coders: { wait: agent('wait-for-file.sh') } });
  const task = { objective: 'x', repo, coder: 'wait' };
  const running = await fleet.fleet.enqueue(task);
  await fleet.running(running);
  expect(await sentence(running)).toMatch(/^the agent runs on worker full-/);
  await until(async () => (await worker.view()).slots.used === 1);

  worker.kill('SIGSTOP');
  const last = (await Promise.all([1, 2, 3, 4, 5].map(() => fleet.fleet.enqueue(task)))).at(-1)!;
  const said = `worker ${worker.name} is attached and did not answer in time, as happens under load`;
  expect(await sentence(last)).toBe(
    `the only slot of ${worker.name} is taken, and about 4 others wait in queue fleet (${said}: this is what the server knows)`,
  );
  await expect(fleet.fleet.read(running, { file: 'log' })).rejects.toThrow(said);

  const state = async () => (await fleet.fleet.workers()).find(({ name }) => name === worker.name)!;
  await until(async () => (await state()).state === 'silent');
  const { heardAt } = await state();
  expect(await sentence(running)).toMatch(
    new RegExp(`^unknown: worker ${worker.name} gave its last sign \\S+ ago, at ${heardAt}, in state running; `),
  );
  worker.kill('SIGCONT');
  await until(async () => (await state()).state === 'attached');
  expect(await sentence(running)).toMatch(/^the agent runs on worker full-/);
});

test('what a closed task left on a worker that is busy: the worker is not called gone', async () => {
  await using worker = await fleet.worker('busy', {
    worker: { queues: ['busy'] },
    lease: { heartbeat: '60s' },
    coders: { ok: agent('ok.sh') },
  });
  const repo = await fleet.repo('busy');
  const id = await fleet.fleet.enqueue({ objective: 'x', repo, coder: 'ok', queue: 'busy' });
  await fleet.result(id);
  worker.kill('SIGSTOP');
  try {
    const why = `worker ${worker.name} is attached and did not answer in time, as happens under load`;
    expect(await fleet.fleet.saved.list(id)).toEqual([{ worker: worker.name, runs: [], why }]);
  } finally {
    worker.kill('SIGCONT');
  }
});
