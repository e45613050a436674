import { CappedLog } from '../../adapters/keeper/capped-log.ts';
import { runContained } from '../../adapters/keeper/contained.ts';
import {
  keepPackages,
  layPackages,
  readPackages,
  type Packages,
  type InstallFolders,
} from '../../adapters/state/packages.ts';
import { inFolder } from '../../domain/repository/working-folder.ts';
import { npmInstallOf, type NpmInstall } from '../../domain/repository/npm-install.ts';
import type { Policy } from '../../domain/repository/repo-policy.ts';
import type { ContainedCommand, ContainedResult } from '../../domain/values/contained.ts';
import { environment, soundPath } from '../worker/environment.ts';
import { listed, type Deps } from '../worker/context.ts';
import { withWay, type Out } from './network.ts';

interface Setup extends ContainedCommand {
  /** HOME of the command. */
  home: string;
  policy: Pick<Policy, 'limits' | 'network'>;
  repo: string | undefined;
  runId: string;
  signal: AbortSignal;
}

type Run = (command: ContainedCommand) => Promise<ContainedResult>;

/**
 * Runs a setup command. Of one that only installs what npm's lock file names, the packages are installed once on this worker, without
 * any script and away from every tree, and copied: their scripts and the project's run in the tree as ever. Where that is not
 * possible, the command runs as it stands.
 */
export async function runSetup(deps: Deps, setup: Setup, run: Run): Promise<ContainedResult> {
  const startedAt = performance.now();
  const spent = () => performance.now() - startedAt;
  const { cwd, timeoutMs, logFile } = setup;
  const command = (text: string) => ({
    ...{ command: text, cwd, logFile },
    timeoutMs: Math.max(1_000, timeoutMs - spent()),
  });
  const install = npmInstallOf(setup.command);
  // Without namespaces an agent reaches what is kept.
  const packages =
    install && deps.isolation === 'namespace'
      ? await readPackages(cwd, install, soundPath(deps.env['PATH'] ?? '', [deps.home.runs]))
      : undefined;
  if (!install || !packages) return run(command(setup.command));
  const laid = await lay(deps, setup, { install, packages });
  const rest = packages.rest.join(' && ');
  const scripts = laid && rest !== '' ? await run(command(inFolder(install.folder, rest))) : DONE;
  // npm's own order may make what they miss.
  const result = laid && scripts.exitCode === 0 ? scripts : await run(command(setup.command));
  return { ...result, durationMs: spent() };
}

const DONE: ContainedResult = { exitCode: 0, signal: null, timedOut: false, durationMs: 0, said: '', notFound: [] };

async function lay(
  deps: Deps,
  setup: Setup,
  { install, packages }: { install: NpmInstall; packages: Packages },
): Promise<boolean> {
  const { cwd, home, logFile, command } = setup;
  return deps.programs.run('command', setup.signal, async (signal) => {
    const made = keepPackages(deps.home.packages, packages, (at) => make(deps, { ...setup, signal }, { install, at }));
    const kept = await untilAborted(made, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      deps.log(`packages for \`${command}\` cannot be kept: ${String(error)}`);
    });
    const isLaid = kept !== undefined && (await layPackages(kept, packages, { tree: cwd, home, signal }));
    const log = new CappedLog(logFile);
    if (isLaid)
      log.write(Buffer.from(`$ ${command}\n(copied from packages/${packages.key.slice(0, 12)} of this worker)\n`));
    log.close();
    return isLaid;
  });
}

async function make(
  deps: Deps,
  setup: Setup,
  { install, at }: { install: NpmInstall; at: InstallFolders },
): Promise<boolean> {
  const { policy, repo, runId, signal, logFile, timeoutMs } = setup;
  const options = install.options.replace(/ --ignore-scripts\b/g, '');
  const command = inFolder(install.folder, `npm ci --ignore-scripts${options}`);
  const contained = (out: Out) => ({
    ...out.plan,
    isolation: deps.isolation,
    limits: policy.limits,
    secrets: deps.secrets.all,
    home: deps.home.root,
    hide: deps.otherHomes(),
    show: [{ path: at.dir }],
    read: Object.values(listed(deps)).flat(),
    tmp: at.tmp,
    env: environment(deps.env, [], {
      ...out.env,
      PATH: soundPath(deps.env['PATH'] ?? '', [deps.home.runs]),
      HOME: at.home,
      TMPDIR: at.tmp,
      PWD: at.tree,
      CI: '1',
      FLEET_RUN: `${runId}-packages`,
    }),
  });
  const result = await withWay(deps, { use: 'setup', repo, narrowed: policy.network.setup }, (out) =>
    runContained({ command, cwd: at.tree, timeoutMs, logFile }, { ...contained(out), signal }),
  );
  signal.throwIfAborted();
  return result.exitCode === 0;
}

/** What others wait for as well goes on. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const ended = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true, signal: ended.signal });
  });
  return Promise.race([work, aborted]).finally(() => ended.abort());
}
