import { createHash } from 'node:crypto';
import type { Finding, Receipt, ReceiptKind } from '../domain/receipt.ts';

/** Chains the findings of one run in their order: no receipt can be changed, dropped or put elsewhere unnoticed. */
export function sealReceipts(findings: readonly (Finding & { kind: ReceiptKind })[]): Receipt[] {
  const receipts: Receipt[] = [];
  for (const finding of findings) {
    const body = { ...finding, previous: receipts.at(-1)?.digest ?? null };
    receipts.push({ ...body, digest: digestOf(body) });
  }
  return receipts;
}

/** What is wrong with a chain, as one sentence; undefined where it holds. A chain cut at its end still holds. */
export function verifyChain(receipts: readonly Receipt[]): string | undefined {
  let previous: string | null = null;
  for (const [i, { digest, ...body }] of receipts.entries()) {
    const which = `receipt ${i + 1} (${body.kind})`;
    if (body.previous !== previous) return `${which} does not follow the one before it`;
    if (digest !== digestOf(body)) return `${which} is not what its digest says`;
    previous = digest;
  }
  return undefined;
}

const digestOf = (body: Omit<Receipt, 'digest'>): string => createHash('sha256').update(canonical(body)).digest('hex');

/** JSON with sorted keys and no blanks; the same for an object that went through `JSON.stringify` and back. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
