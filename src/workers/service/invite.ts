import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeText } from '../../adapters/disk/json-file.ts';
import { runSystemProgram } from '../../adapters/service/run.ts';
import { clientOptions } from '../../adapters/temporal/connection.ts';
import { listens, splitAddress } from '../../adapters/temporal/address.ts';
import { portableProfile } from '../../adapters/temporal/portable-profile.ts';
import { FleetError, wrongInput } from '../../domain/error.ts';
import { joinScript } from '../../domain/service/join-script.ts';
import { PACKAGE_ROOT } from '../../package.ts';
import { OLDEST_NODE } from '../doctor/doctor.ts';

export interface Invited {
  /** The script, for its owner alone. */
  file: string;
  bytes: number;
  /** The server's address, as the other machine is to reach it. */
  address: string;
  secrets: string[];
  guarded: boolean;
}

export interface Inviting {
  env: NodeJS.ProcessEnv;
  home: string;
  name: string;
  queues: readonly string[];
  by: string;
  /** Default: the one that this machine uses, or where the same server listens for others. */
  address?: string | undefined;
}

/** Writes the script that makes another machine a worker of this fleet. @throws FleetError where no other machine could reach the server */
export async function invite({ env, home, name, queues, by, ...asked }: Inviting): Promise<Invited> {
  const address = asked.address ?? (await reachable((await clientOptions(env, home)).address));
  const { toml, ...known } = await portableProfile(env, address);
  const script = joinScript({
    ...{ name, queues, by, node: OLDEST_NODE },
    packed: (await packed(env)).toString('base64'),
    // npm leaves it out of what it packs.
    lock: (await readFile(join(PACKAGE_ROOT, 'package-lock.json')).catch(() => Buffer.alloc(0))).toString('base64'),
    profile: toml.toString('base64'),
  });
  const folder = join(home, 'invitations');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${name}.sh`);
  await writeText(file, script);
  return { file, bytes: Buffer.byteLength(script), address, ...known };
}

/** An address that is not this machine's alone. */
async function reachable(address: string): Promise<string> {
  const { host, port } = splitAddress(address);
  if (!isLoopback(host)) return address;
  const own = ownAddresses();
  for (const each of own) if (await listens(`${each}:${port}`)) return `${each}:${port}`;
  throw wrongInput(
    `the server at ${address} can be reached from this machine alone: start it so that it listens on an address of this machine too, which anyone who reaches that can then use`,
    {
      hint: `${join(PACKAGE_ROOT, 'temporal-dev.sh')} --port ${port} --ip ${own[0] ?? '<address>'}; or give the address it is reached by: --address host:port`,
    },
  );
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).flatMap(({ internal, family, address }) => (internal || family !== 'IPv4' ? [] : address)),
  );

/** This very package, as npm packs it. */
async function packed(env: NodeJS.ProcessEnv): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-pack-'));
  try {
    const argv = ['npm', 'pack', '--ignore-scripts', '--silent', '--pack-destination', folder, PACKAGE_ROOT];
    const { code, out, err } = await runSystemProgram(argv, env, 300_000);
    if (code !== 0)
      throw new FleetError(
        'failed',
        `npm could not pack this package: ${code === null ? 'npm is not here' : err.split('\n', 1)[0]}`,
      );
    return await readFile(join(folder, out.trim().split('\n').at(-1) ?? ''));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
