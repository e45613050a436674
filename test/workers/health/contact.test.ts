import { expect, test } from '@jest/globals';
import { startContact } from '../../../src/workers/health/contact.ts';
import { until } from '../../helpers/until.ts';

type Place = boolean | undefined;

/** A server that answers or not, at an address where one of this machine, another program or nobody listens. */
function scene(first: { answers: boolean; place: Place }) {
  const now = { ...first };
  let proofs = 0;
  let asked = 0;
  const contact = startContact({
    keeper: { contact: async () => void (proofs += 1) },
    ping: async () => {
      asked += 1;
      if (!now.answers) throw new Error('no answer');
    },
    livesHere: async () => now.place,
    selfKillMs: 200,
  });
  /** Whether contact was proved after the server had been asked four times more. */
  const proves = async (next: { answers: boolean; place: Place }): Promise<boolean> => {
    Object.assign(now, next);
    // What was under way may still see what was.
    await pings(2);
    const before = proofs;
    await pings(4);
    return proofs > before;
  };
  const pings = (more: number, from = asked) => until(() => asked >= from + more);
  return { proves, inContact: contact.inContact, [Symbol.dispose]: contact.stop };
}

test('a server of this machine that is down, hangs or comes up counts as contact', async () => {
  using worker = scene({ answers: true, place: true });
  expect(await worker.proves({ answers: true, place: true })).toBe(true);
  for (const place of [undefined, true, undefined]) expect(await worker.proves({ answers: false, place })).toBe(true);
  expect(worker.inContact()).toBe(true);
});

test('one whose place could not be told while it answered does not', async () => {
  for (const place of [false, undefined]) {
    using worker = scene({ answers: true, place });
    expect(await worker.proves({ answers: true, place })).toBe(true);
    expect(await worker.proves({ answers: false, place })).toBe(false);
    // What is started in its place, and does not answer yet, may be any server.
    expect(await worker.proves({ answers: false, place: true })).toBe(false);
    await until(() => !worker.inContact());
  }
});

test('one that never answered does not', async () => {
  using worker = scene({ answers: false, place: true });
  expect(await worker.proves({ answers: false, place: undefined })).toBe(false);
});

test("nor does one in whose place another program listens: a tunnel's end, silent or not", async () => {
  for (const answers of [true, false]) {
    using worker = scene({ answers: true, place: true });
    expect(await worker.proves({ answers: true, place: true })).toBe(true);
    expect(await worker.proves({ answers, place: false })).toBe(answers);
    expect(await worker.proves({ answers: false, place: undefined })).toBe(false);
    // Back on this machine.
    expect(await worker.proves({ answers: true, place: true })).toBe(true);
    expect(await worker.proves({ answers: false, place: undefined })).toBe(true);
  }
});
