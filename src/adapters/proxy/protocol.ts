import type { Secrets } from '../../domain/secrets/redaction.ts';
import type { WireLive } from '../../domain/agent/model-traffic.ts';
import type { Upstream } from '../../domain/agent/upstream.ts';

/** What goes over the proxy's socket, in the way of the keeper's. */

export const PROTOCOL = 3;

export interface Operations {
  hello: { asks: object; answers: { protocol: number; pid: number; port: number } };
  /** Opens a run's way to its model, or replaces it: the key of an earlier order is refused from then on. */
  open: { asks: OpenInput; answers: object };
  /** Keeps the process for a run that has a way out by it, and a model elsewhere. */
  hold: { asks: HoldInput; answers: object };
  /** Ends what is under way of it, and answers when all of it is in the file. */
  close: { asks: { id: string }; answers: object };
  /** Null: it is not open. */
  status: { asks: { id: string }; answers: WireLive | null };
}

/** Kept in `file` (0600, never seen by an agent) until the run is closed, for the next proxy to go on with. */
export interface OpenInput extends HoldInput {
  /** Gets a `WireLine` each. Its folder must exist. */
  wireFile: string;
  /** The digest of the key that the agent is given, hex. */
  keySha256: string;
  upstream: Upstream;
  /** Values that `wireFile` is kept without, by their names. */
  secrets?: Secrets;
}

export interface HoldInput {
  /** In the URL: letters, digits, `.`, `_` and `-`. */
  id: string;
  /** Where the order is kept. Once it is gone, the run is closed. */
  file: string;
}
