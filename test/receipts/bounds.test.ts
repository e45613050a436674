import { expect, test } from '@jest/globals';
import type { AgentEvent } from '../../src/domain/agent/event.ts';
import { exit } from '../../src/receipts/kinds/exit.ts';
import { git } from '../../src/receipts/kinds/git.ts';
import { COLLECTORS } from '../../src/receipts/index.ts';
import { result } from '../../src/receipts/kinds/result.ts';
import { scope } from '../../src/receipts/kinds/scope.ts';
import { tools } from '../../src/receipts/kinds/tools.ts';
import { RECEIPT_KINDS } from '../../src/domain/evidence/receipt.ts';
import { answer, call, evidenceOf } from './evidence.ts';

test('every kind has its collector, in the order of the chain', () => {
  // A replay is another worker's.
  expect(COLLECTORS.map(({ kind }) => kind)).toEqual(RECEIPT_KINDS.filter((kind) => kind !== 'replay'));
});

const long = (n: number) => `${n}/${'p'.repeat(500)}`;
const many = Array.from({ length: 2_000 }, (_, n) => n);

test.each([exit, result, tools, git, scope])(
  '$kind: its evidence stays small, whatever the run was',
  async (collector) => {
    const finding = await collector.collect(
      evidenceOf({
        task: {
          scope: {
            allow: many.slice(0, 200).map((n) => `${n}${'g'.repeat(200)}`),
            protect: many.slice(0, 200).map((n) => `${n}${'g'.repeat(200)}`),
          },
        },
        outcome: { claim: long(1) },
        changes: many.map(long),
        result: {
          commits: many.map((n) => ({ id: 'f'.repeat(40), subject: long(n) })),
          violations: many.map(long),
          odd: long(0),
        },
        events: many.flatMap((n): AgentEvent[] => [
          call(long(n), n % 2 ? long(n) : 'Bash', long(n)),
          answer(long(n + 9_000)),
        ]),
      }),
    );
    expect(JSON.stringify(finding?.evidence).length).toBeLessThan(4_096);
    expect(finding?.summary.length).toBeLessThan(1_000);
  },
);
