import { isSignedBy } from '../../adapters/secrets/signer.ts';
import { sha256 } from '../../adapters/sha256.ts';
import { BundleWalk, type Ending, type Opened, type Shown } from './bundle-walk.ts';
import { PAYLOAD_TYPE, pae } from './dsse.ts';
import { isWrong, linesOf, readEnvelope, readStatement, wrong, type Problem, type Wrong } from './read-bundle.ts';
import { keysOf, type TrustedKey } from './trusted-keys.ts';

export interface Trust {
  trusted: readonly TrustedKey[];
  /** What it has to be the bundle of, where that is known. */
  task?: string | undefined;
  runId?: string | undefined;
  /** Digest of the last verdict, as in the task's result. */
  verdict?: string | undefined;
  /** Milliseconds since the epoch. */
  now: number;
}

export type Checked =
  | ({ ok: true; statements: Shown[] } & Ending)
  | {
      ok: false;
      problem: Problem;
      /** From 1; null where it is about the whole. */
      line: number | null;
      message: string;
      /** Those before it, which hold. */
      statements: Shown[];
    };

/** Clocks of machines differ. */
const SKEW_MS = 10 * 60_000;

/** Checks a bundle from its text and the trusted keys alone. Never throws for what it finds; the first thing wrong is told. */
export function verifyBundle(text: string, trust: Trust): Checked {
  const walk = new BundleWalk(trust);
  const failed = ({ problem, message }: Wrong, line: number | null): Checked => ({
    ...{ ok: false, problem, line, message, statements: walk.shown },
  });
  const lines = linesOf(text);
  if (isWrong(lines)) return failed(lines, null);
  for (const [index, line] of lines.entries()) {
    const opened = open(line, trust);
    const refused = isWrong(opened) ? opened : walk.add(opened);
    if (refused) return failed(refused, index + 1);
  }
  const end = walk.end();
  return isWrong(end) ? failed(end, null) : { ok: true, ...end, statements: walk.shown };
}

/** The statement in an envelope that a trusted key has signed. Nothing of the payload is read before that. */
function open(line: string, { trusted, now }: Trust): Opened | Wrong {
  const envelope = readEnvelope(line);
  if (isWrong(envelope)) return envelope;
  const [{ keyid, sig }] = envelope.signatures as [Envelope1];
  const known = keysOf(trusted, keyid);
  if (!known) return wrong('wrong-key', `it is signed with a key that is not trusted: ${keyid.slice(0, 64)}`);
  const payload = Buffer.from(envelope.payload, 'base64');
  if (!isSignedBy(known.key, pae(PAYLOAD_TYPE, payload), Buffer.from(sig, 'base64')))
    return wrong('bad-signature', 'its signature does not fit');
  const statement = readStatement(payload);
  if (isWrong(statement)) return statement;
  const at = Date.parse(statement.predicate.x_fleet.at);
  if (at > now + SKEW_MS) return wrong('from-the-future', `it says to be of ${statement.predicate.x_fleet.at}`);
  const entry = known.entries.find((each) => isWithin(each, at));
  if (entry) return { statement, digest: sha256(payload), keyId: keyid, worker: entry.worker, machine: entry.machine };
  const { worker, notBefore, notAfter } = known.entries[0]!;
  return notBefore !== null && at < Date.parse(notBefore)
    ? wrong('key-not-yet-valid', `the key of ${worker} holds from ${notBefore}, and it is of before`)
    : wrong('expired-key', `the key of ${worker} has expired at ${notAfter}, and it is of later`);
}
type Envelope1 = { keyid: string; sig: string };

const isWithin = ({ notBefore, notAfter }: TrustedKey, at: number): boolean =>
  (notBefore === null || at >= Date.parse(notBefore)) && (notAfter === null || at <= Date.parse(notAfter));
