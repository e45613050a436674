import { sha256 } from '../../src/adapters/sha256.ts';
import { DECISION, joined, linesOf, seal, sealElsewhere, seenElsewhere } from '../helpers/bundles.ts';
import {
  ACCEPTANCE,
  ada,
  change,
  chained,
  eve,
  honest,
  lines,
  part,
  rejected,
  renewed,
  twice,
  VERDICT,
  without,
  type Forgery,
} from './forgery-lab.ts';

const first = (): string => seal({ signer: ada, run: { where: 'other' } }).text;

/** By a worker whose key is trusted: it still has to tell one story. */
export const LIE_FORGERIES: readonly Forgery[] = [
  ['two subjects', 'subjects', 4, () => change(3, ({ subject }) => void subject.push(subject[0]!))],
  ['no subject', 'subjects', 4, () => change(3, ({ subject }) => void subject.pop())],
  [
    'another subject',
    'other-result',
    4,
    () => change(3, ({ subject }) => void (subject[0]!.digest.gitCommit = 'e'.repeat(40))),
  ],
  [
    'a subject of another name',
    'other-run',
    4,
    () => change(3, ({ subject }) => void (subject[0]!.name = 't1@3-abcd')),
  ],
  [
    'another type of statement',
    'statement-type',
    4,
    () => change(3, (statement) => void (statement._type = 'https://in-toto.io/Statement/v0.1')),
  ],
  [
    'another type of predicate',
    'predicate-type',
    4,
    () => change(3, (statement) => void (statement.predicateType = 'https://slsa.dev/provenance/v1')),
  ],
  [
    'a kind that there is not',
    'not-a-statement',
    4,
    () =>
      change(
        3,
        part((it) => void ((it as { kind: string }).kind = 'trust-me')),
      ),
  ],
  [
    'another base',
    'other-base',
    4,
    () =>
      change(
        3,
        part((it) => void (it.base = 'f'.repeat(40))),
      ),
  ],
  [
    'another task spec',
    'other-spec',
    4,
    () =>
      change(
        3,
        part((it) => void (it.spec = sha256('other'))),
      ),
  ],
  [
    'another epoch',
    'other-epoch',
    4,
    () =>
      change(
        3,
        part((it) => void (it.n = 3)),
      ),
  ],
  [
    'another execution of the workflow',
    'other-epoch',
    4,
    () =>
      change(
        3,
        part((it) => void (it.workflowRunId = 'w-2')),
      ),
  ],
  [
    'a task shown that is not the one it is bound to',
    'other-spec',
    1,
    () =>
      change(0, ({ predicate }) => {
        (
          predicate as never as { buildDefinition: { externalParameters: { task: { objective: string } } } }
        ).buildDefinition.externalParameters.task.objective = 'Something harmless';
      }),
  ],
  ['an optional receipt dropped, all chained anew', 'missing-receipt', VERDICT, () => chained(without(ACCEPTANCE))],
  ['a receipt doubled, all chained anew', 'double', 4, () => chained(lines.toSpliced(3, 0, lines[2]!))],
  ['two reordered, all chained anew', 'order', 4, () => chained(lines.with(2, lines[3]!).with(3, lines[2]!))],
  ['a second run within the first', 'double', 2, () => chained(lines.toSpliced(1, 0, lines[0]!))],
  [
    'a verdict that lists fewer',
    'verdict-list',
    VERDICT + 1,
    () => change(VERDICT, ({ predicate }) => void (predicate['inputAttestations'] as object[]).pop()),
  ],
  [
    'a verdict by another policy',
    'other-policy',
    VERDICT + 1,
    () => change(VERDICT, ({ predicate }) => void (predicate['policy'] = { digest: { sha256: sha256('') } })),
  ],
  [
    'a rejection signed as accepted',
    'contradiction',
    VERDICT + 1,
    () =>
      chained(rejected, ({ predicate }) => {
        if (predicate.x_fleet.verdict) {
          predicate.x_fleet.verdict.accepted = true;
          predicate['verificationResult'] = 'PASSED';
        }
      }),
  ],
  [
    'a result that says both',
    'contradiction',
    ACCEPTANCE + 1,
    () =>
      chained(rejected, ({ predicate }) => {
        if (predicate['result']) predicate['result'] = 'PASSED';
      }),
  ],
  [
    'a verdict that says both',
    'contradiction',
    VERDICT + 1,
    () => change(VERDICT, ({ predicate }) => void (predicate['verificationResult'] = 'FAILED')),
  ],
  [
    'no second verdict where one is asked for',
    'not-verified-elsewhere',
    null,
    () => seal({ signer: ada, run: { where: 'other' } }).text,
  ],
  [
    'the second verdict by the same worker',
    'not-verified-elsewhere',
    VERDICT + 2,
    () => sealElsewhere(seal({ signer: ada, run: { where: 'other' } }).text, { signer: ada }).text,
  ],
  [
    'the second verdict by the same worker with another key',
    'not-verified-elsewhere',
    VERDICT + 2,
    () => sealElsewhere(first(), { signer: renewed }).text,
  ],
  ...seenElsewhere().map(({ kind }): Forgery => [
    `the second worker has no ${kind}`,
    'missing-receipt',
    VERDICT + 5,
    () => {
      const findings = seenElsewhere().filter((found) => found.kind !== kind);
      return sealElsewhere(first(), { signer: eve, findings }).text;
    },
  ]),
  [
    'the second verdict agrees on something else',
    'contradiction',
    VERDICT + 6,
    () => {
      const findings = seenElsewhere(true, { first: DECISION, second: 'e'.repeat(64) });
      return sealElsewhere(first(), { signer: eve, findings }).text;
    },
  ],
  [
    'a second verdict that nobody asked for',
    'after-verdict',
    VERDICT + 2,
    () => sealElsewhere(honest, { signer: eve }).text,
  ],
  [
    'a second verdict that disagrees',
    'disagreement',
    null,
    () => sealElsewhere(seal({ signer: ada, run: { where: 'other' } }).text, { signer: eve, ok: false }).text,
  ],
  ['the second verdict cut', 'no-verdict', null, () => joined(linesOf(twice).slice(0, -1))],
  [
    'a second verdict from another bundle',
    'other-nonce',
    VERDICT + 2,
    () =>
      joined([
        ...linesOf(seal({ signer: ada, run: { where: 'other', nonce: 'c'.repeat(64) } }).text),
        ...linesOf(twice).slice(-5),
      ]),
  ],
];
