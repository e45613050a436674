import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { FleetWorker } from '../../../client.ts';
import { FleetError, wrongInput } from '../../../domain/error.ts';
import { BUNDLE_MAX } from '../../../receipts/bundle/read-bundle.ts';
import { formatTrustedKeys, parseTrustedKeys, type TrustedKey } from '../../../receipts/bundle/trusted-keys.ts';
import { command, type Cli } from '../../command.ts';
import { readInput, writeOutput } from '../../input/input-file.ts';
import { oneLine } from '../../output/text.ts';

export const receiptsKeys = command<{ output?: string }>({
  flags: [{ flag: '-o, --output <file>', about: 'into this file: what is in it stays, new keys are added' }],
  notes: `Look at what is added: whoever attaches a worker brings its key. To end the trust in one, set its notAfter, or take
it out where others may have had it. Records of workers that left go after 7 days: keep the file.`,
  examples: ['fleet receipts keys -o keys.json', 'fleet receipts keys'],
  async run(cli, { flags: { output } }) {
    const fleet = await cli.fleet();
    const known = await knownKeys(cli, output);
    const added = (await fleet.workers())
      .flatMap((worker) => trustedKey(worker) ?? [])
      .filter((key) => !known.some(({ id, worker }) => id === key.id && worker === key.worker));
    const keys = [...known, ...added];
    if (keys.length === 0)
      throw new FleetError('not-ready', 'no worker has told its key yet: start one with fleet worker');
    if (output === undefined) return cli.raw(formatTrustedKeys(keys));
    await writeOutput(cli, output, formatTrustedKeys(keys));
    cli.print({ file: output, added, keys }, () =>
      [
        ...added.map(
          ({ id, worker, machine }) => `added ${id.slice(0, 16)} of ${oneLine(worker)} on ${oneLine(machine)}`,
        ),
        `${output} has ${keys.length === 1 ? '1 key' : `${keys.length} keys`}, ${added.length} new`,
      ].join('\n'),
    );
  },
});

async function knownKeys(cli: Cli, file: string | undefined): Promise<TrustedKey[]> {
  if (file === undefined || !existsSync(resolve(cli.cwd, file))) return [];
  const keys = parseTrustedKeys(await readInput(cli, file, { maxBytes: BUNDLE_MAX }));
  if (typeof keys === 'string') throw wrongInput(`${file} ${keys}`);
  return keys;
}

function trustedKey({ name, machine, publicKey }: FleetWorker): TrustedKey | undefined {
  if (!publicKey) return undefined;
  const { id, key, since } = publicKey;
  return { id, key, worker: name, machine, notBefore: since, notAfter: null };
}
