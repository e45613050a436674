import { closeSync, constants, accessSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { PACKAGE_ROOT } from '../../package.ts';
import { within } from '../paths.ts';

/** The system's, with what a distribution keeps elsewhere of its programs and certificates. No `/var`, no `/run`. */
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/etc', '/nix/store', '/gnu/store'],
  ...['/var/lib/gems', '/var/lib/ca-certificates', '/run/current-system', '/run/opengl-driver'],
  ...['/sys/devices/system', '/sys/fs/cgroup', '/sys/kernel/mm'],
];
/** What lies beside the `bin` of a tool that is installed in a folder of its own. */
const BESIDE = [
  'lib',
  'lib64',
  'libexec',
  'include',
  'share',
  'conf',
  'jre',
  'jmods',
  'versions',
  'pyvenv.cfg',
  'Cellar',
  'opt',
];
/** Programs that a folder of programs may only link to, with all that they read elsewhere. */
const INTERPRETERS = ['python3', 'python', 'node', 'ruby', 'java'];
/** Variables whose value is a file or folder that programs read. */
const NAMED = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'JAVA_HOME'];
/** Set by `environment` in the activities: where version managers keep what they choose from. */
const MANAGERS = ['RUSTUP_HOME', 'ASDF_DATA_DIR', 'MISE_DATA_DIR', 'VOLTA_HOME', 'PYENV_ROOT'];
const SHEBANG_BYTES = 256;

/**
 * Folders and files of the programs that a process tree may start: the system's, those in its PATH with what belongs to them,
 * node, this product, and its own first program with its interpreter. Never the whole of a HOME. Some may be missing.
 */
export function toolFolders({ argv, env = {} }: { argv: readonly string[]; env?: NodeJS.ProcessEnv }): string[] {
  const path = (env['PATH'] ?? '').split(':').filter(isAbsolute);
  const named = [...NAMED, ...MANAGERS].flatMap((name) => env[name] ?? []).filter(isAbsolute);
  return [
    ...SYSTEM,
    ...path.flatMap((folder) => [...installedIn(folder), ...linkedFrom(folder)]),
    ...installedIn(dirname(realpathSync(process.execPath))),
    ...product(),
    ...argv.flatMap((word, at) => (at === 0 || isAbsolute(word) ? programAt(word, path) : [])),
    ...named,
    ...nameServers(),
  ];
}

/** A folder of programs, where it leads, and what belongs to it. Beside `~/bin` and `~/.local/bin` lies what is the user's own. */
function installedIn(bin: string): string[] {
  const folders = [bin, realpathOf(bin)].filter((folder) => folder !== undefined);
  return [...new Set(folders)].flatMap((folder) => {
    const prefix = dirname(folder);
    const owned = /^s?bin$/.test(basename(folder)) && basename(prefix) !== '.local' && !isHome(prefix);
    return [folder, ...(owned ? BESIDE.map((name) => join(prefix, name)) : [])];
  });
}

/** A virtual environment's Python lies in another installation. */
function linkedFrom(folder: string): string[] {
  return INTERPRETERS.flatMap((name) => {
    const real = realpathOf(join(folder, name));
    return real === undefined || dirname(real) === folder || within('/usr', real) ? [] : installedIn(dirname(real));
  });
}

const isHome = (folder: string): boolean => ['/', '/root'].includes(folder) || /^\/(home|Users)\/[^/]+$/.test(folder);

/** A program, where it leads, the package that it is part of, and the program that reads it. */
function programAt(word: string, path: readonly string[]): string[] {
  const file = isAbsolute(word) ? word : path.map((folder) => join(folder, word)).find(isProgram);
  const real = file === undefined ? undefined : realpathOf(file);
  if (file === undefined || real === undefined || !statSync(real).isFile()) return [];
  const at = real.indexOf('/node_modules/');
  const parts = at === -1 ? [real] : [real.slice(0, at + '/node_modules'.length)];
  const packaged = at === -1 && basename(dirname(real)) === 'bin' ? installedIn(dirname(real)) : [];
  return [file, ...parts, ...packaged, ...interpreter(real).flatMap((one) => programAt(one, path))];
}

/** From its first line: by `env`, the program that it looks for. */
function interpreter(file: string): string[] {
  const words = /^#!\s*(\S+)(?:[ \t]+(.*))?/.exec(head(file));
  if (!words) return [];
  const [, program = '', rest = ''] = words;
  if (basename(program) !== 'env') return [program];
  const looked = rest.split(/\s+/).find((word) => word !== '' && !word.startsWith('-') && !word.includes('='));
  return looked === undefined ? [program] : [looked];
}

function head(file: string): string {
  try {
    const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(SHEBANG_BYTES);
      return bytes.toString('latin1', 0, readSync(fd, bytes)).split('\n', 1)[0]!;
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}

/** With the packages beside it, where it is installed as one. */
function product(): string[] {
  const at = PACKAGE_ROOT.indexOf('/node_modules/');
  if (at !== -1) return [PACKAGE_ROOT.slice(0, at + '/node_modules'.length)];
  return [PACKAGE_ROOT];
}

/** Where the system's list of name servers is a link to another folder, the file that it leads to. */
function nameServers(): string[] {
  const real = realpathOf('/etc/resolv.conf');
  return real === undefined || within('/etc', real) ? [] : [real];
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function realpathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
