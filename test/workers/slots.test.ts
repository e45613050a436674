import { expect, test } from '@jest/globals';
import { SlotGate } from '../../src/workers/slots.ts';

test('pollers are admitted only while a slot is free, one after the other', async () => {
  let free = 0;
  const gate = new SlotGate(() => free);
  const supplier = gate.supplier('fleet');
  const order: string[] = [];
  const ask = (name: string, signal = new AbortController().signal) =>
    supplier.reserveSlot({} as never, signal).then(() => order.push(name));
  const [a, b] = [ask('a'), ask('b')];
  gate.pump();
  await Promise.resolve();
  expect(order).toEqual([]);
  free = 1;
  gate.pump();
  await a;
  expect(order).toEqual(['a']);
  await b;
  expect(order).toEqual(['a', 'b']);
  expect(supplier.tryReserveSlot({} as never)).toBeNull();
  gate.close();
});

test('an aborted poller leaves the line', async () => {
  let free = 0;
  const gate = new SlotGate(() => free);
  const abort = new AbortController();
  const given = gate.supplier('fleet').reserveSlot({} as never, abort.signal);
  const next = gate.supplier('fleet').reserveSlot({} as never, new AbortController().signal);
  abort.abort();
  await expect(given).rejects.toThrow('aborted');
  free = 1;
  gate.pump();
  await next;
  gate.close();
});

test('a queue that has nothing free is passed over', async () => {
  const free: Record<string, number> = { fleet: 0, 'fleet/codex': 1 };
  const gate = new SlotGate((queue) => free[queue] ?? 0);
  const order: string[] = [];
  const ask = (queue: string) =>
    gate
      .supplier(queue)
      .reserveSlot({} as never, new AbortController().signal)
      .then(() => order.push(queue));
  const plain = ask('fleet');
  await ask('fleet/codex');
  expect(order).toEqual(['fleet/codex']);
  free['fleet'] = 1;
  gate.pump();
  await plain;
  gate.close();
});
