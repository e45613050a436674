import { mkdir } from 'node:fs/promises';
import { keepBuildCache, layBuildCache } from '../../adapters/state/build-cache.ts';
import { runContained } from '../../adapters/keeper/contained.ts';
import { readJson, writeJson } from '../../adapters/disk/json-file.ts';
import { removeTree } from '../../adapters/disk/remove-tree.ts';
import type { Prepared } from '../../adapters/state/run-registry.ts';
import type { ContainedCommand } from '../../domain/values/contained.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { Evidence, Space, SpaceName } from '../../ports.ts';
import { sha256 } from '../../adapters/sha256.ts';
import type { Task } from '../../domain/task/schema.ts';
import { VERSION } from '../../package.ts';
import { listed, type Deps } from '../worker/context.ts';
import { environment, soundPath } from '../worker/environment.ts';
import { runSetup } from '../prepare/install-packages.ts';
import { withWay, type Out } from '../prepare/network.ts';
import { submodulesFrom } from '../prepare/submodules.ts';

interface Place {
  /** Folder of all spaces. */
  dir(name: SpaceName): string;
  log(name: SpaceName): string;
  prepared: Pick<Prepared, 'policy' | 'base' | 'baseDir' | 'sealed'> & { task: Pick<Task, 'repo'> };
  signal: AbortSignal;
}

type Spaces = Pick<Evidence, 'space' | 'ofBase' | 'submodules'>;

/** Where a run's result is tried out: folders of its own for each trial, and the same containment for all of their commands. */
export function spacesFor(deps: Deps, ref: RunRef, place: Place): Spaces {
  const { prepared } = place;
  let repeated = false;
  const space = async (name: SpaceName): Promise<Space> => {
    const dir = place.dir(name);
    const own = { tree: `${dir}/tree`, aside: `${dir}/aside`, home: `${dir}/home`, tmp: `${dir}/tmp` };
    const given = `${dir}/given`;
    await removeTree(dir);
    for (const folder of [...Object.values(own), given]) await mkdir(folder, { recursive: true });
    const { tree, aside } = own;
    const kept = `${prepared.baseDir}/fleet-build-cache`;
    await layBuildCache(kept, own.home);
    const run: Space['run'] = async ({ command, setup, timeoutMs, env = {}, path = [] }) => {
      const startedAt = performance.now();
      const options = (out: Out) => ({
        ...out.plan,
        isolation: deps.isolation,
        limits: prepared.policy.limits,
        secrets: deps.secrets.all,
        home: deps.home.root,
        hide: deps.otherHomes(),
        // One by one: no code of the agent's can put a link where the worker writes next.
        show: [...Object.values(own).map((path) => ({ path })), { path: given, readOnly: true }],
        // Code of the agent's runs here: it can write nothing that a later run reads.
        read: Object.values(listed(deps)).flat(),
        tmp: own.tmp,
        env: environment(deps.env, [], {
          ...out.env,
          ...env,
          PATH: [...path, soundPath(deps.env['PATH'] ?? '', [deps.home.runs])].join(':'),
          HOME: own.home,
          TMPDIR: own.tmp,
          PWD: tree,
          CI: '1',
          FLEET_RUN: `${ref.runId}-verify`,
        }),
      });
      const use = setup ? 'setup' : 'checks';
      const asked = { command, cwd: tree, timeoutMs, logFile: place.log(name) };
      const { signal } = place;
      const { policy, task } = prepared;
      const ran = (asked: ContainedCommand) =>
        deps.programs.run('command', signal, (signal) =>
          withWay(deps, { use, repo: task.repo, narrowed: policy.network[use] }, async (out) => ({
            ...(await runContained(asked, { ...options(out), signal })),
            ...(out.offlineBy === undefined ? {} : { offlineBy: out.offlineBy }),
          })),
        );
      const asSetup = { ...asked, home: own.home, policy, repo: task.repo, runId: ref.runId, signal };
      const result = await (setup ? runSetup(deps, asSetup, ran) : ran(asked));
      // One that failed while the disk was full says nothing about the work: once, as it may have been its own doing.
      if (result.exitCode !== 0 && !repeated && (await deps.disk.wasFullSince(startedAt))) {
        repeated = true;
        throw new Error(`"${command}" failed: no space left on device`);
      }
      return result;
    };
    return {
      ...{ tree, aside, given, logFile: place.log(name), run },
      keepBuildCache: () => keepBuildCache(own.home, kept),
    };
  };
  // What another version reads of the tests may have other names.
  const tools = `${VERSION} ${process.version}`;
  const submodules = submodulesFrom(deps, { ...prepared, signal: place.signal });
  return { space, submodules, ofBase: (key, make) => ofBase(prepared.baseDir, `${key} ${tools}`, make) };
}

/** Under way in this process, by file. */
const making = new Map<string, Promise<unknown>>();

/** Kept in the base store, which agents can only read, and gone with it. */
async function ofBase<T>(baseDir: string, key: string, make: () => Promise<{ value: T; keep: boolean }>): Promise<T> {
  const file = `${baseDir}/fleet-${sha256(key).slice(0, 32)}.json`;
  const known = await readJson<{ value: T }>(file);
  if (known) return known.value;
  const earlier = making.get(file) as Promise<T> | undefined;
  // The other's run may be cancelled: then it is ours to find out.
  if (earlier) return earlier.catch(() => ofBase(baseDir, key, make));
  const made = make().then(async ({ value, keep }) => {
    if (keep) await writeJson(file, { value });
    return value;
  });
  making.set(file, made);
  try {
    return await made;
  } finally {
    making.delete(file);
  }
}
