import type { SecretFound } from '../../domain/secrets/secret-shapes.ts';
import type { ReceiptCollector } from '../../ports.ts';
import { counted, named, sample } from '../bounded.ts';

/** Secrets that the result would deliver, in its files or in a commit on the way to them: where, and never what they are. */
export const secrets: ReceiptCollector = {
  kind: 'secrets',
  async collect({ secretsFound: found }) {
    if (found.length === 0) return undefined;
    const places = found.map(placeOf);
    return {
      ok: false,
      reason: 'secret-found',
      summary: `${counted(found.length, 'secret')} would be delivered: ${named(places, 5)}; secrets.ignore of the worker's configuration says which are none`,
      evidence: { found: sample(places), count: found.length },
    };
  },
};

const placeOf = ({ path, line, what, commit }: SecretFound): string =>
  `${what} in ${path}:${line}${commit ? ` (commit ${commit.slice(0, 12)})` : ''}`;
