import { access, chmod, constants, cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtFile } from '../../package.ts';

/** Programs that a command may start with variables of its own, so that ours would be lost. */
const SHIMMED = ['node', 'python', 'python3', 'pytest', 'py.test', 'go'];

/** Where cargo may build for the machine that it runs on. */
const HOSTS = ['x86_64', 'aarch64'].flatMap((cpu) =>
  ['unknown-linux-gnu', 'unknown-linux-musl', 'apple-darwin'].map((system) => `${cpu}-${system}`),
);

/**
 * Lays the probes into `dir`, and gives what the commands of a trial need in their environment so that every test run of theirs,
 * however it is started, reports to `dir`: variables, and folders in front of PATH. `all`: also the tests behind what is broken.
 */
export async function watchTests(
  dir: string,
  { all = false } = {},
): Promise<{
  env: Record<string, string>;
  path: string[];
}> {
  const probes = join(dir, 'probes');
  const bin = join(dir, 'bin');
  for (const folder of [join(dir, 'reports'), bin]) await mkdir(folder, { recursive: true });
  await cp(builtFile('probes'), probes, { recursive: true });
  const shim = (await readFile(join(probes, 'shell/shim.sh'), 'utf8')).replace('@HOME@', () =>
    dir.replaceAll("'", "'\\''"),
  );
  for (const name of await installed(SHIMMED)) await writeFile(join(bin, name), shim, { mode: 0o755 });
  const runner = join(probes, 'shell/cargo-runner.sh');
  await chmod(runner, 0o755);
  const preload = `--require ${JSON.stringify(join(probes, 'node/preload.cjs'))}`;
  const reporter = `--test-reporter=${pathToFileURL(join(probes, 'node/node-test.mjs')).href}`;
  await writeFile(
    join(dir, 'settings'),
    [preload, `${reporter} --test-reporter-destination=stdout`, process.execPath, ''].join('\n'),
  );
  return {
    env: {
      NODE_OPTIONS: preload,
      PYTHONPATH: join(probes, 'python'),
      // Else one file that cannot be imported keeps every test from running.
      ...(all ? { PYTEST_ADDOPTS: '--continue-on-collection-errors' } : {}),
      // cargo splits it at spaces.
      ...(/\s/.test(runner)
        ? {}
        : Object.fromEntries(
            HOSTS.map((host) => [`CARGO_TARGET_${host.toUpperCase().replaceAll('-', '_')}_RUNNER`, runner]),
          )),
    },
    path: [bin],
  };
}

/** A shim for a program that is not there would make a script believe that it is. */
async function installed(names: readonly string[]): Promise<string[]> {
  const folders = (process.env['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'));
  const found: string[] = [];
  for (const name of names)
    for (const folder of folders) if (!found.includes(name) && (await executable(join(folder, name)))) found.push(name);
  return found;
}

async function executable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
