import { expect, test } from '@jest/globals';
import type { ReachedLine } from '../../../src/domain/task/network.ts';
import { network } from '../../../src/receipts/kinds/network.ts';
import { evidenceOf } from '../evidence.ts';

const found = (lines: ReachedLine[], all = true) => network.collect(evidenceOf({ rest: { reached: { lines, all } } }));
const to = (host: string, port = 443) => ({ host, port });

test('an agent that reached nothing has no such receipt', async () => {
  expect(await found([])).toBeUndefined();
});

test('it says which hosts were reached, how much went to and fro, and what was refused', async () => {
  const finding = await found([
    { is: 'open', ...to('a.example') },
    { is: 'open', ...to('a.example', 80) },
    { is: 'closed', ...to('a.example'), up: 1_000, down: 2_000 },
    { is: 'open', ...to('10.0.0.7', 5432) },
    { is: 'refused', ...to('b.example') },
    { is: 'refused', ...to('b.example') },
  ]);
  expect(finding).toEqual({
    ok: true,
    summary: 'reached 2 hosts: a.example (2 requests, 3.0 KB), 10.0.0.7:5432 (1 request, 0 B); was refused b.example',
    evidence: {
      hosts: [
        { host: 'a.example', requests: 2, up: 1_000, down: 2_000 },
        { host: '10.0.0.7:5432', requests: 1, up: 0, down: 0 },
      ],
      refused: [{ host: 'b.example', requests: 2 }],
    },
  });
});

test('whose a long name is can be seen', async () => {
  const finding = await found([{ is: 'open', ...to(`registry.npmjs.org.${'a'.repeat(100)}.evil.example`) }]);
  expect(finding!.summary).toMatch(/^reached 1 host: …a+\.evil\.example \(1 request, 0 B\)$/);
});

test('where an agent could not be held to its task, that is said, and not that it reached nothing', async () => {
  const given = evidenceOf({ task: { network: ['none'] }, outcome: { isolation: 'process-group' } });
  expect(await network.collect(given)).toMatchObject({
    ok: true,
    summary: 'was not held to network of the task: that needs namespaces',
  });
});

test('as many hosts as an agent likes make it no larger, and that it is not all is said', async () => {
  const lines = Array.from({ length: 500 }, (_, i): ReachedLine => {
    const is = i % 2 === 0 ? 'open' : 'refused';
    return { is, ...to(`${'x'.repeat(200)}${i}.example`) };
  });
  const finding = await found(
    lines.map((line, i) => ({ ...line, host: `${i}${line.host}` })),
    false,
  );
  expect(JSON.stringify(finding!.evidence).length).toBeLessThan(4_096);
  expect(finding!.evidence).toMatchObject({ all: { hosts: 250, refused: 250 }, cut: true });
  expect(finding!.summary).toContain('there was more than could be noted');
  const refused = await found([{ is: 'refused', ...to('b.example') }], false);
  expect(refused!.summary).toBe('was refused b.example; there was more than could be noted');
});
