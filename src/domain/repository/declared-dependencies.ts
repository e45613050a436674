import { inFolder } from './working-folder.ts';

/** What a fresh checkout lacks before its commands can run, for managers that do not fetch it by themselves, as go and cargo do. */

interface Manager {
  /** The file that declares what is needed. */
  file: string;
  /** The command that installs it. */
  install: string;
  /** The file beside it that says whether anything is needed; missing: something is. */
  manifest?: string;
}

/** One of each language counts, the first that is there. */
const MANAGERS: readonly (readonly Manager[])[] = [
  [
    { file: 'pnpm-lock.yaml', install: 'pnpm install --frozen-lockfile', manifest: 'package.json' },
    { file: 'yarn.lock', install: 'yarn install --frozen-lockfile', manifest: 'package.json' },
    { file: 'bun.lock', install: 'bun install --frozen-lockfile', manifest: 'package.json' },
    { file: 'bun.lockb', install: 'bun install --frozen-lockfile', manifest: 'package.json' },
    { file: 'package-lock.json', install: 'npm ci', manifest: 'package.json' },
    { file: 'npm-shrinkwrap.json', install: 'npm ci', manifest: 'package.json' },
    { file: 'package.json', install: 'npm install', manifest: 'package.json' },
  ],
  [
    { file: 'uv.lock', install: 'uv sync --frozen' },
    { file: 'poetry.lock', install: 'poetry install' },
    { file: 'Pipfile.lock', install: 'pipenv sync --dev' },
    {
      file: 'requirements.txt',
      install: 'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt',
      manifest: 'requirements.txt',
    },
  ],
  [{ file: 'Gemfile.lock', install: 'bundle install' }],
  [{ file: 'composer.lock', install: 'composer install' }],
  [{ file: 'mix.lock', install: 'mix deps.get' }],
];

/** Where installed packages lie that a repository carries itself. */
const CARRIED = ['node_modules/', '.yarn/cache/', 'vendor/bundle/', 'vendor/autoload.php'];

/** A file that declares dependencies, with the command that installs them in its folder. */
export interface Declared {
  file: string;
  install: string;
}

interface Files {
  paths: ReadonlySet<string>;
  /** The text of a file; undefined where it cannot be read. */
  read(path: string): Promise<string | undefined>;
}

/** What is declared in folders of a commit, one a language; undefined is the top. */
export async function declaredIn(folders: readonly (string | undefined)[], files: Files): Promise<Declared[]> {
  const found = await Promise.all([...new Set(folders)].map((folder) => declaredInOne(folder, files)));
  return found.flat();
}

/** What to add to `.fleet.yaml`; undefined: nothing. */
export function missingSetup(declared: readonly Declared[]): string | undefined {
  if (declared.length === 0) return undefined;
  const files = declared.map(({ file }) => file).join(', ');
  const setup = declared.map(({ install }) => install).join(', ');
  const verb = declared.length === 1 ? 'declares' : 'declare';
  return `${files} ${verb} dependencies, and .fleet.yaml has no setup: add \`setup: [${setup}]\``;
}

async function declaredInOne(folder: string | undefined, { paths, read }: Files): Promise<Declared[]> {
  const prefix = folder === undefined ? '' : `${folder}/`;
  const carried = CARRIED.some((folder) => [...paths].some((path) => path.startsWith(prefix + folder)));
  if (carried) return [];
  const found: Declared[] = [];
  for (const managers of MANAGERS) {
    const manager = managers.find(({ file }) => paths.has(prefix + file));
    if (!manager) continue;
    const { file, install, manifest } = manager;
    const text = manifest === undefined ? undefined : await read(prefix + manifest);
    if (text === undefined || needsSomething(text, manifest!))
      found.push({ file: prefix + file, install: inFolder(folder, install) });
  }
  return found;
}

function needsSomething(text: string, manifest: string): boolean {
  if (manifest !== 'package.json') return text.split('\n').some((line) => /^\s*[^\s#]/.test(line));
  const { dependencies, devDependencies, optionalDependencies, workspaces } = objectOf(text);
  return [dependencies, devDependencies, optionalDependencies, workspaces].some(
    (named) => typeof named === 'object' && named !== null && Object.keys(named).length > 0,
  );
}

/** The scripts of a `package.json` by name. */
export function scriptsOf(text: string): Record<string, string> {
  const { scripts } = objectOf(text);
  const named = Object.entries(typeof scripts === 'object' && scripts !== null ? scripts : {});
  return Object.fromEntries(named.filter((one): one is [string, string] => typeof one[1] === 'string'));
}

/** The script that a command starts by name, where it does nothing else: `test` of `npm test`. */
export function scriptOf(command: string): string | undefined {
  const [, own, named] = /^(?:npm|pnpm|yarn)\s+(?:(t|tst|test)|run\s+([\w:.-]+))\s*$/.exec(command.trim()) ?? [];
  return own === undefined ? named : 'test';
}

/** What a shell does itself: built in, or a word of its language. */
const SHELL_WORDS = new Set(
  (
    '. alias bg break case cd command continue eval exec exit export fg for getopts hash if jobs local popd pushd read ' +
    'readonly return select set shift shopt source time times trap type ulimit umask unalias unset until wait while'
  ).split(' '),
);

/** The program that a command starts, where that is plain; not one by its path, which an agent may be asked to write. */
export function programOf(command: string): string | undefined {
  const [, word] = /^([\w.+-]+)(?=\s|$)/.exec(command.trim()) ?? [];
  return word === undefined || SHELL_WORDS.has(word) ? undefined : word;
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
