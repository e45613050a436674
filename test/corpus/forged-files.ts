import { sha256 } from '../../src/adapters/sha256.ts';
import { joined, linesOf, seal } from '../helpers/bundles.ts';
import { ada, earlier, honest, lines, other, put, VERDICT, without, type Forgery } from './forgery-lab.ts';

/** What is done to a file without any key. */
export const FILE_FORGERIES: readonly Forgery[] = [
  ['nothing', 'empty', null, () => ''],
  ['something else', 'not-json', 1, () => 'hello\n'],
  [
    'a chain of plain receipts, as version 0.1 wrote it',
    'not-an-envelope',
    1,
    () => '{"digest":"d","kind":"exit","ok":true}\n',
  ],
  ['huge JSON', 'too-big', null, () => put(1, `"${'x'.repeat(5_000_000)}"`)],
  ['a huge file', 'too-big', null, () => honest.repeat(1_000)],
  ['JSON nested without end', 'not-canonical', 1, () => `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}\n`],
  ['a receipt dropped', 'chain', 4, () => joined(without(3))],
  ['the first receipt dropped', 'order', 1, () => joined(lines.slice(1))],
  ['a receipt doubled', 'double', 4, () => joined(lines.toSpliced(3, 0, lines[2]!))],
  ['two reordered', 'chain', 3, () => joined(lines.with(2, lines[3]!).with(3, lines[2]!))],
  ['cut at the end', 'no-verdict', null, () => joined(lines.slice(0, -1))],
  ['cut within a line', 'not-json', VERDICT + 1, () => honest.slice(0, -40)],
  ['an extra line behind the verdict', 'after-verdict', VERDICT + 2, () => joined([...lines, lines[3]!])],
  ['an empty line', 'not-json', 3, () => joined(lines.toSpliced(2, 0, ''))],
  ['swapped between tasks', 'other-task', 4, () => put(3, other[3]!)],
  ['swapped between runs', 'other-run', 4, () => put(3, earlier[3]!)],
  ['a whole bundle of another task', 'other-task', 1, () => joined(other), { task: 't1' }],
  ['a whole bundle of an old epoch', 'other-run', 1, () => joined(earlier), { runId: '2-abcd' }],
  ['the verdict of an earlier run replayed', 'other-run', VERDICT + 1, () => put(VERDICT, earlier.at(-1)!)],
  [
    'a receipt of another sealing of the same run',
    'other-nonce',
    4,
    () => put(3, linesOf(seal({ signer: ada, run: { nonce: 'b'.repeat(64) } }).text)[3]!),
  ],
  ['a bundle with another verdict than the task has', 'other-verdict', null, () => honest, { verdict: sha256('') }],
];
