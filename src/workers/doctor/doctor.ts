import { existsSync } from 'node:fs';
import { mkdir, statfs } from 'node:fs/promises';
import { execa } from 'execa';
import { leaveGroups } from '../../adapters/sandbox/cgroup.ts';
import { parentsOf } from '../../adapters/sandbox/cgroup-parents.ts';
import { detectIsolation, groupOnly } from '../../adapters/sandbox/sandbox.ts';
import { checkMachine } from '../../adapters/sandbox/check-machine.ts';
import { checkSecret, variablesOf } from '../../adapters/secrets/credential-secret.ts';
import { createCoders } from '../../coders/registry.ts';
import type { Config } from '../../config.ts';
import { formatBytes, toBytes } from '../../domain/values/bytes.ts';
import { homeLayout } from '../../domain/names.ts';
import { unmetRoutes } from '../../domain/routing/route.ts';
import { isOlder, versionIn } from '../../domain/values/version-compare.ts';
import type { Coder } from '../../ports.ts';
import { probeCoders, usable, whyNot, type Probed } from '../coders/probe-coders.ts';

/** One thing that a run needs here. `note`: worth knowing, and nothing fails for it. */
export interface Check {
  what: string;
  is: 'ok' | 'note' | 'wrong';
  /** One sentence, where it is not ok with what helps. */
  says: string;
}

interface Machine {
  /** `$FLEET_HOME` */
  home: string;
  config: Config;
  env: NodeJS.ProcessEnv;
}

export const OLDEST_NODE = '20.19';
const OLDEST_GIT = '2.36';

/** What a worker of this configuration would find on this machine. Starts no agent and leaves nothing behind but `$FLEET_HOME`. */
export async function examine(machine: Machine): Promise<Check[]> {
  const coders = createCoders(machine.config.coders);
  const checks = await Promise.all([
    programs(),
    containment(machine),
    disk(machine),
    probeCoders(coders.values(), machine.env).then((probed) => coderChecks(machine, probed)),
    ...Object.keys(machine.config.credentials).map((name) => credential(machine, { name, coders })),
  ]);
  return checks.flat();
}

async function programs(): Promise<Check[]> {
  const git = await execa('git', ['--version'], { reject: false });
  const there = git.exitCode === 0 ? versionIn(git.stdout) : undefined;
  return [
    atLeast('node', process.versions.node, OLDEST_NODE),
    there ? atLeast('git', there, OLDEST_GIT) : { what: 'git', is: 'wrong', says: 'git is not here: install it' },
  ];
}

const atLeast = (what: string, version: string, least: string): Check =>
  isOlder(version, least)
    ? { what, is: 'wrong', says: `${version} is too old: ${what} ${least} or later is needed` }
    : { what, is: 'ok', says: version };

async function containment({ home, config }: Machine): Promise<Check[]> {
  const asked = config.worker.isolation;
  const { isolation, why = 'as worker.isolation says' } =
    asked === 'auto' ? await detectIsolation() : { isolation: asked };
  const limited = parentsOf(home).length > 0;
  await mkdir(home, { recursive: true });
  const fault = await checkMachine({ home: homeLayout(home), isolation });
  // A worker that uses them keeps them.
  leaveGroups(home);
  return [
    isolation === 'namespace'
      ? { what: 'isolation', is: 'ok', says: 'agents run in namespaces of their own' }
      : {
          ...{ what: 'isolation', is: 'note' },
          says: groupOnly(why),
        },
    limited
      ? { what: 'limits', is: 'ok', says: 'memory and processes of a run can be limited' }
      : {
          ...{ what: 'limits', is: 'note' },
          says: 'memory and processes of a run cannot be limited: no cgroup here can be written',
        },
    fault
      ? { what: 'runs', is: 'wrong', says: `${fault}: a worker here takes no task` }
      : { what: 'runs', is: 'ok', says: 'the home, node, git and the isolation do what a run needs' },
  ];
}

async function disk({ home, config }: Machine): Promise<Check> {
  await mkdir(home, { recursive: true });
  const { bavail, bsize } = await statfs(home);
  const free = bavail * bsize;
  const floor = toBytes(config.disk.floor);
  return free < floor
    ? {
        ...{ what: 'disk', is: 'wrong' },
        says: `${formatBytes(free)} free at ${home}, less than disk.floor (${config.disk.floor}): no task is taken`,
      }
    : { what: 'disk', is: 'ok', says: `${formatBytes(free)} free at ${home}` };
}

function coderChecks(machine: Machine, probed: readonly Probed[]): Check[] {
  const checks = probed.map((one) => coderCheck(machine, one));
  const dead = unmetRoutes(machine.config.routes, usable(probed)).map((said): Check => ({
    what: 'routes',
    is: 'note',
    says: `${said}, which is not here: another worker has to have it`,
  }));
  return checks.some(({ is }) => is === 'ok')
    ? [...checks, ...dead]
    : [...checks, { what: 'coders', is: 'wrong', says: 'none can be used: no task would be taken' }, ...dead];
}

function coderCheck({ config, env }: Machine, probed: Probed): Check {
  const { coder } = probed;
  const what = `coder ${coder.name}`;
  const why = whyNot(probed);
  // One that nobody asked for may be missing.
  const asked = coder.name in config.coders || config.worker.coder === coder.name;
  if (probed.state !== 'here' && probed.state !== 'unknown')
    return {
      what,
      is: asked || probed.state !== 'missing' ? 'wrong' : 'note',
      says: (why ?? '').replace(`${what} is `, ''),
    };
  const version = probed.version ?? `version not known: ${probed.why}`;
  const tried = triedSentence(coder, probed.version);
  const access = accessOf(coder, { config, env });
  return access || !coder.keys
    ? { what, is: 'ok', says: [version, tried, access].filter(Boolean).join('; ') }
    : {
        ...{ what, is: 'wrong' },
        says: `${version}; it has neither a key nor a login: set ${coder.keys[0]} or configure a credential (docs/credentials.md)`,
      };
}

function triedSentence({ about }: Coder, version: string | null): string | undefined {
  if (!about || version === null) return undefined;
  if (about.by === 'recorded') return 'its parser was tried with recorded output only';
  return versionIn(version) === about.tried
    ? 'the version that passes the conformance suite'
    : `the conformance suite was passed by ${about.tried}`;
}

/** What it would be allowed to its model by. */
function accessOf(coder: Coder, { config, env }: Pick<Machine, 'config' | 'env'>): string | undefined {
  const credentials = Object.entries(config.credentials).flatMap(([name, { coder: of }]) =>
    of === coder.name ? name : [],
  );
  if (credentials.length > 0) return `by credential ${credentials.join(', ')}`;
  const key = coder.keys?.find((name) => env[name] && coder.env.includes(name));
  if (key) return `by ${key}`;
  const places = { runId: '1-0', tree: '/nowhere', home: '/nowhere', userHome: env['HOME'] ?? '/' };
  const { files } = coder.start({ ...places, prompt: '', inherit: 'none' });
  const login = Object.values(files).find((file) => 'link' in file && existsSync(file.link));
  return login && 'link' in login ? `by the login in ${login.link}` : undefined;
}

async function credential(
  { config, home, env }: Machine,
  { name, coders }: { name: string; coders: ReadonlyMap<string, Coder> },
): Promise<Check> {
  const declared = config.credentials[name]!;
  const coder = coders.get(declared.coder);
  const what = `credential ${name}`;
  const wrong = await checkSecret({ name, declared, ...variablesOf(coder), home, env });
  return wrong ? { what, is: 'wrong', says: wrong } : { what, is: 'ok', says: `for ${declared.coder}` };
}
