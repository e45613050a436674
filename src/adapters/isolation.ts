import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import type { Isolation } from '../domain/run.ts';
import { cgroupMounts } from './cgroup-parents.ts';

/** What a process tree may see and write. All paths are absolute. */
export interface IsolationPlan {
  isolation: Isolation;
  /** `$FLEET_HOME`: an empty read-only folder for the tree, apart from `show`. */
  home: string;
  /** Folders inside `home` that the tree sees. They must exist. */
  show: { path: string; readOnly?: boolean }[];
  /** Folders outside `home` that the tree does not see at all: other fleet homes. A missing one is skipped. */
  hide?: string[];
  /** Folders outside `home` that the tree can only read, e.g. the user's checkout. A missing one is skipped. */
  readOnly: string[];
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin';

/**
 * Runs before the agent's own namespaces, where mounting is still allowed: arguments are `home cwd uid-map-command`, pairs
 * of an operation and a path up to `--`, then the command. Folders are shown again by a descriptor opened before `home` was hidden.
 */
const OUTER = `
set -e
home=$1 cwd=$2 agent_path=$PATH
shift 2
PATH=${SYSTEM_PATH}
exec 8<"$home"
while [ "$1" != -- ]; do
  case $1 in
    hide) mount -t tmpfs -o mode=755,size=1m fleet "$2" || [ ! -e "$2" ] ;;
    show) mkdir -p "$home/$2"; mount --no-canonicalize --bind "/proc/self/fd/8/$2" "$home/$2" ;;
    show-ro)
      mkdir -p "$home/$2"; mount --no-canonicalize --bind "/proc/self/fd/8/$2" "$home/$2"
      mount -o remount,bind,ro "$home/$2" ;;
    seal)
      mount --rbind "$2" "$2"; mount -o remount,bind,ro "$2"
      while read -r _ _ _ _ at _; do
        case $at in *\\\\*) at=$(printf '%b' "$at") ;; esac
        case $at in "$2"/*) mount -o remount,bind,ro "$at" || : ;; esac
      done </proc/self/mountinfo ;;
    close) mount -o remount,bind,ro "$2" ;;
  esac
  shift 2
done
shift
exec 8<&-
cd "$cwd"
unset OLDPWD
PATH=$agent_path
exec "$@"
`;

/**
 * The agent's parent; pid 1 in a namespace. Descriptor 4 is the agent's stderr: on 2 are only notes of the isolation's own
 * programs, such as why it cannot start. Speaks on descriptor 3: says \`ready\`, waits for \`go\` (so that the identity is
 * on disk before the agent exists; the end of the stream means do not start), at the end says \`exit <status>\` and waits to be
 * killed: what it leaves behind is counted from outside, where the agent has no hand in the answer.
 * Where memory runs out, the kernel is to take the agent rather than its keeper.
 * The agent runs in the foreground: a background one would ignore SIGINT and lose its stdin. Signals to the agent are the
 * keeper's affair; the traps only keep this shell alive, and as handlers they are not inherited.
 * Without a namespace a watcher kills the process group when the keeper is gone.
 */
const INIT = `
mode=$1 watcher=
shift
exec 2>/dev/null
trap : INT TERM HUP QUIT USR1 USR2 ALRM
echo ready >&3
read -r go <&3 && [ "$go" = go ] || exit 0
if [ "$mode" = process-group ]; then
  ( trap '' INT TERM HUP; while read -r _ <&3; do :; done; kill -KILL -$$ ) </dev/null >/dev/null 4>&- &
  watcher=$!
fi
( echo 1000 >/proc/self/oom_score_adj; exec "$@" 2>&4 3>&- 4>&- )
status=$?
exec 4>&-
[ -z "$watcher" ] || { kill -KILL $watcher; wait $watcher; }
echo "exit $status" >&3
read -r _ <&3
`;

/**
 * The command line that runs `argv` in `cwd` as the plan says. Start it detached, in `/`, with descriptor 3 a pipe in both
 * directions and 4 the agent's stderr, see `keeper/tree.ts`. @throws where a shown folder does not exist or a system tool is missing
 */
export function containedArgv(plan: IsolationPlan, { argv, cwd }: { argv: readonly string[]; cwd: string }): string[] {
  const sh = tool('sh');
  const init = [sh, '-c', INIT, 'fleet-init', plan.isolation, ...argv];
  // The shell only changes folder: given to spawn, a missing `cwd` would look like a missing program.
  if (plan.isolation === 'process-group')
    return [sh, '-c', 'cd "$1" && shift && unset OLDPWD && exec "$@"', 'fleet-outer', cwd, ...init];
  const [uid, gid] = [process.getuid!(), process.getgid!()];
  const unshare = tool('unshare');
  const dieWithUs = [tool('setpriv'), '--pdeathsig', 'KILL'];
  const mountNamespace = [unshare, ...(uid === 0 ? [] : ['--user', '--map-root-user']), '--mount'];
  const outer = [sh, '-c', OUTER, 'fleet-outer', realpathSync(plan.home), realpathSync(cwd), ...mounts(plan), '--'];
  const pidNamespace = [
    unshare,
    '--user',
    `--map-user=${uid}`,
    `--map-group=${gid}`,
    '--pid',
    '--fork',
    '--mount-proc',
  ];
  return [...dieWithUs, ...mountNamespace, ...outer, ...pidNamespace, '--kill-child=SIGKILL', ...init];
}

/**
 * Operations for OUTER, in order. A sealed folder around `home` comes before the hiding, so that the shown folders in it stay
 * writable; one inside `home` is hidden anyway, unless it lies in a shown folder: then it is sealed there.
 */
function mounts(plan: IsolationPlan): string[] {
  const home = realpathSync(plan.home);
  const show = plan.show
    .map(({ path, readOnly = false }) => ({ path: realpathSync(path), readOnly }))
    .toSorted((a, b) => a.path.length - b.path.length);
  const stray = show.find(({ path }) => !within(home, path) || path === home);
  if (stray) throw new Error(`${stray.path} is not inside ${home}`);
  const real = [...new Set(plan.readOnly.filter((path) => existsSync(path)).map((path) => realpathSync(path)))];
  const seal = real.filter(
    (path) => !real.some((around) => around !== path && within(around, path) && !within(around, home)),
  );
  const hidden = (plan.hide ?? [])
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path))
    .filter((path) => !within(home, path) && !within(path, home));
  return [
    ...seal.filter((path) => !within(home, path)).flatMap((path) => ['seal', path]),
    ...hidden.flatMap((path) => ['hide', path]),
    'hide',
    home,
    ...show.flatMap(({ path, readOnly }) => [readOnly ? 'show-ro' : 'show', relative(home, path)]),
    ...seal.filter((path) => show.some((shown) => within(shown.path, path))).flatMap((path) => ['seal', path]),
    'close',
    home,
    ...cgroupMounts().flatMap((path) => ['close', path]),
  ];
}

function within(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest === '' || (!rest.startsWith('..') && !isAbsolute(rest));
}

/** Absolute, and never looked up in the agent's PATH. */
function tool(name: string): string {
  for (const dir of SYSTEM_PATH.split(':')) {
    try {
      accessSync(`${dir}/${name}`, constants.X_OK);
      return `${dir}/${name}`;
    } catch {}
  }
  throw new Error(`${name} is missing in ${SYSTEM_PATH}`);
}

/** What this machine can do, by running the real chain once (some 30 ms). */
export async function detectIsolation(): Promise<Isolation> {
  if (process.platform !== 'linux') return 'process-group';
  const home = mkdtempSync(join(tmpdir(), 'fleet-isolation-'));
  try {
    mkdirSync(`${home}/work`);
    const plan: IsolationPlan = {
      isolation: 'namespace',
      home,
      show: [{ path: `${home}/work`, readOnly: true }],
      readOnly: [],
    };
    const said = await talk(containedArgv(plan, { argv: ['true'], cwd: `${home}/work` }));
    return said.includes('exit 0') ? 'namespace' : 'process-group';
  } catch {
    return 'process-group';
  } finally {
    rmSync(home, { recursive: true });
  }
}

function talk([file, ...args]: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(file!, args, {
      cwd: '/',
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      timeout: 10_000,
    });
    const control = child.stdio[3] as Socket;
    let said = '';
    control.on('data', (bytes) => (said += String(bytes))).on('error', () => {});
    control.end('go\n');
    child.on('error', reject).on('close', () => resolve(said));
  });
}
