import { sha256 } from '../../src/adapters/sha256.ts';
import { canonical } from '../../src/receipts/canonical.ts';
import type { Problem } from '../../src/receipts/bundle/read-bundle.ts';
import type { Statement } from '../../src/receipts/bundle/statement.ts';
import { verifyBundle, type Checked, type Trust } from '../../src/receipts/bundle/verify-bundle.ts';
import { envelopeOf, joined, linesOf, newSigner, NOW } from '../helpers/bundles.ts';
import { resigned, seal, sealElsewhere } from '../helpers/bundles.ts';

/** What it is, how it has to be told, on which line (null: the whole), the bundle, and whom the reader trusts. */
export type Forgery = [name: string, problem: Problem, line: number | null, text: () => string, trust?: Partial<Trust>];

/** One honest bundle and what a forger has at hand. */

export const ada = newSigner('ada');
export const eve = newSigner('eve');
export const mallory = newSigner('mallory');
/** The first one's worker with another key. */
export const renewed = newSigner('ada');
export const trusted = [ada.trusted, eve.trusted, renewed.trusted];
export const check = (text: string, trust: Partial<Trust> = {}): Checked =>
  verifyBundle(text, { trusted, now: NOW, ...trust });

export const { text: honest, verdict } = seal({ signer: ada });
export const lines = linesOf(honest);
export const other = linesOf(seal({ signer: ada, run: { task: 't2', runId: '2-abcd' } }).text);
export const earlier = linesOf(seal({ signer: ada, run: { runId: '1-aaaa', n: 1 } }).text);
export const rejected = linesOf(seal({ signer: ada, failed: 'acceptance' }).text);
export const twice = sealElsewhere(seal({ signer: ada, run: { where: 'other' } }).text, { signer: eve }).text;

export const ACCEPTANCE = 6;
export const VERDICT = lines.length - 1;
export const put = (index: number, line: string): string => joined(lines.with(index, line));
export const change = (index: number, by: (statement: Statement) => void): string =>
  put(index, resigned(lines[index]!, ada, by));
export const part = (by: (part: Statement['predicate']['x_fleet']) => void) => (statement: Statement) =>
  by(statement.predicate.x_fleet);

/** The lines, chained anew by a trusted worker that lies: only what they say can give them away. */
export function chained(from: readonly string[], by: (statement: Statement, i: number) => void = () => {}): string {
  const digests: string[] = [];
  return joined(
    from.map((line, i) =>
      resigned(line, ada, (statement) => {
        by(statement, i);
        statement.predicate.x_fleet.prev = digests.at(-1) ?? null;
        if (statement.predicate.x_fleet.kind === 'verdict')
          statement.predicate['inputAttestations'] = digests.map((digest) => ({ digest: { sha256: digest } }));
        digests.push(sha256(canonical(statement)));
      }),
    ),
  );
}
export const without = (index: number): string[] => lines.toSpliced(index, 1);
export const withEnvelope = (index: number, by: (envelope: ReturnType<typeof envelopeOf>) => object): string =>
  put(index, canonical(by(envelopeOf(lines[index]!))));
