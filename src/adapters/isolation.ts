import { spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Isolation } from '../domain/run.ts';
import { mountOperations, ownTmpOf, type Named } from './mounts.ts';
import { systemFolders } from './system-folders.ts';

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
  /** Folders that stay writable inside of a read-only one. A missing one is skipped. */
  writable?: string[];
  /**
   * A shown folder that stands in for /tmp and /var/tmp, so that nothing is seen there of others, nor left for them; of what
   * is there, only the entries with a path that is named by the plan or the command stay. /dev/shm is empty then.
   */
  tmp?: string;
  /** Nothing outside of the shown folders can be written. */
  sealed?: boolean;
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin';

/**
 * Runs before the agent's own namespaces, where mounting is still allowed: arguments are `home cwd tmp`, pairs of an operation
 * and its object up to `--` (see mounts.ts), then the command. What is covered is shown again by a descriptor opened before.
 */
const OUTER = `
set -e
home=$1 cwd=$2 tmp=$3 agent_path=$PATH lines= failed=
shift 3
PATH=${SYSTEM_PATH}
exec 8<"$home"
while [ "$1" != -- ]; do
  case $1 in
    private)
      private=$2
      exec 9<"$2"
      case $2 in
        */shm) mount -t tmpfs -o mode=1777,nosuid,nodev fleet "$2" ;;
        *) mount --no-canonicalize --bind "/proc/self/fd/8/$tmp" "$2" ;;
      esac ;;
    keep)
      at=$private/$2
      [ ! -L "$at" ] || rm -f "$at"
      if [ -d "/proc/self/fd/9/$2" ]; then [ -d "$at" ] || mkdir "$at"; else [ -e "$at" ] || : >"$at"; fi
      mount --no-canonicalize --rbind "/proc/self/fd/9/$2" "$at" ;;
    bind) mount --rbind "$2" "$2" ;;
    hide) mount -t tmpfs -o mode=755,size=1m fleet "$2" || [ ! -e "$2" ] ;;
    show) mkdir -p "$home/$2"; mount --no-canonicalize --bind "/proc/self/fd/8/$2" "$home/$2" ;;
    line) lines="$lines$2
" ;;
    mount)
      printf %s "$lines" >"$2/.fstab"
      mount -a -T "$2/.fstab" || failed=1
      rm "$2/.fstab" ;;
    must)
      if [ "$failed" ] && [ -e "$2" ] && [ -w "$2" ]; then echo "$2 cannot be made read-only" >&2; exit 1; fi ;;
    close) mount -o remount,bind,ro "$2" ;;
    root) mount -o "$2" / ;;
  esac
  shift 2
done
shift
exec 8<&- 9<&-
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
export function containedArgv(plan: IsolationPlan, named: Named): string[] {
  const { argv, cwd } = named;
  const sh = tool('sh');
  const init = [sh, '-c', INIT, 'fleet-init', plan.isolation, ...argv];
  // The shell only changes folder: given to spawn, a missing `cwd` would look like a missing program.
  if (plan.isolation === 'process-group')
    return [sh, '-c', 'cd "$1" && shift && unset OLDPWD && exec "$@"', 'fleet-outer', cwd, ...init];
  const [uid, gid] = [process.getuid!(), process.getgid!()];
  const unshare = tool('unshare');
  const dieWithUs = [tool('setpriv'), '--pdeathsig', 'KILL'];
  const mountNamespace = [unshare, ...(uid === 0 ? [] : ['--user', '--map-root-user']), '--mount'];
  const places = [realpathSync(plan.home), realpathSync(cwd), ownTmpOf(plan)];
  const outer = [sh, '-c', OUTER, 'fleet-outer', ...places, ...mountOperations(plan, named), '--'];
  const pidNamespace = [
    unshare,
    '--user',
    `--map-user=${uid}`,
    `--map-group=${gid}`,
    '--ipc',
    '--pid',
    '--fork',
    '--mount-proc',
  ];
  return [...dieWithUs, ...mountNamespace, ...outer, ...pidNamespace, '--kill-child=SIGKILL', ...init];
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

/** What this machine can do. */
export async function detectIsolation(): Promise<Isolation> {
  if (process.platform !== 'linux') return 'process-group';
  return (await tryIsolation('namespace')) === 'works' ? 'namespace' : 'process-group';
}

/** Runs the real chain once (some 40 ms). `late`: it took too long to tell. */
export async function tryIsolation(isolation: Isolation): Promise<'works' | 'late' | { why: string }> {
  const home = mkdtempSync(join(tmpdir(), 'fleet-isolation-'));
  try {
    mkdirSync(`${home}/work`);
    const plan: IsolationPlan = {
      isolation,
      home,
      show: [{ path: `${home}/work` }],
      tmp: `${home}/work`,
      readOnly: systemFolders(process.env),
    };
    return await talk(containedArgv(plan, { argv: ['true'], cwd: `${home}/work` }));
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  } finally {
    rmSync(home, { recursive: true });
  }
}

const TALK_MS = 10_000;

function talk([file, ...args]: string[]): Promise<Awaited<ReturnType<typeof tryIsolation>>> {
  return new Promise((resolve, reject) => {
    const child = spawn(file!, args, {
      cwd: '/',
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, TALK_MS);
    let said = '';
    let notes = '';
    child.stderr?.on('data', (bytes) => (notes = (notes + String(bytes)).slice(-300)));
    child.on('error', reject).on('close', (code, signal) => {
      clearTimeout(timer);
      if (said.includes('exit 0')) resolve('works');
      else if (late) resolve('late');
      else resolve({ why: notes.trim() || (signal ? `it was ended by ${signal}` : `it ended with ${code}`) });
    });
    const control = child.stdio[3] as Socket | null;
    control?.on('data', (bytes) => (said += String(bytes))).on('error', () => {});
    control?.end('go\n');
  });
}
