import { sealText } from '../../adapters/secrets/age-seal.ts';
import { wrongState } from '../../domain/error.ts';
import type { FleetConnection } from '../connection.ts';
import { workersNamed } from '../fleet/orders.ts';

/** Text that only these workers can read. @throws FleetError (2) where one was never attached, or told no recipient */
export async function sealFor(wire: FleetConnection, text: string, names: readonly string[]): Promise<string> {
  const found = await Promise.all(names.map((name) => recipientsOf(wire, name)));
  return sealText(text, [...new Set(found.flat())]);
}

/** The keys of all workers of a name: there may be several, on other machines or with another home. */
async function recipientsOf(wire: FleetConnection, name: string): Promise<string[]> {
  const recipients = (await workersNamed(wire, name)).flatMap(({ recipient }) => recipient ?? []);
  if (recipients.length > 0) return recipients;
  throw wrongState(`worker ${name} has told nothing that could be sealed to it`, {
    hint: 'its version is too old, or its record is gone: start it again',
  });
}
