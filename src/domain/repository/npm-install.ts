import { scriptsOf } from './declared-dependencies.ts';

/** A setup command that does nothing but install what npm's lock file names. */
export interface NpmInstall {
  /** Where, from the repository's top; empty: there. */
  folder: string;
  /** Its options, with a blank before each. */
  options: string;
  /** Scripts of packages and of the project are run. */
  scripts: boolean;
}

/** Options that name no other place than the project's folder, and no other packages than its lock file. */
const OPTION =
  '--(?:no-audit|no-fund|no-progress|no-optional|silent|quiet|prefer-offline|ignore-scripts|legacy-peer-deps|force|(?:audit|fund|progress)=false|(?:omit|include|loglevel)[= ][a-z]+)';
const COMMAND = new RegExp(`^(?:cd ([\\w./@-]+) && )?npm (?:ci|clean-install|install|i)((?: ${OPTION})*)$`);

/** Undefined: it is something else, or may do more. */
export function npmInstallOf(command: string): NpmInstall | undefined {
  const [, at = '.', options = ''] = COMMAND.exec(command.trim()) ?? [undefined, '/'];
  const parts = at.split('/').filter((part) => part !== '' && part !== '.');
  if (at.startsWith('/') || at.startsWith('-') || parts.includes('..')) return undefined;
  return { folder: parts.join('/'), options, scripts: !options.includes('--ignore-scripts') };
}

/** What a lock file says that its packages are made of. */
export interface Locked {
  /** Folders of the project and its workspaces, from the lock file's own, which is empty. */
  projects: string[];
  /** Some package has a script that installs it on this platform. */
  hasScripts: boolean;
}

/**
 * Undefined where its packages depend on more than the lock file and the manifests of its projects: on files of the repository,
 * or what npm before 7 does not say.
 * @param platform as `process.platform`
 */
export function readLock(text: string, platform: string): Locked | undefined {
  const { packages } = parsed(text);
  const locked: Locked = { projects: [], hasScripts: false };
  for (const [path, of] of Object.entries(objectOf(packages))) {
    const { resolved, link, hasInstallScript, os } = objectOf(of);
    const isPackage = `/${path}/`.includes('/node_modules/');
    if (path.split('/').includes('..') || path.startsWith('/')) return undefined;
    if (!isPackage) locked.projects.push(path);
    else if (link !== true && typeof resolved === 'string' && resolved.startsWith('file:')) return undefined;
    else if (hasInstallScript === true && runsOn(os, platform)) locked.hasScripts = true;
  }
  return locked.projects.includes('') ? locked : undefined;
}

function runsOn(os: unknown, platform: string): boolean {
  const named = Array.isArray(os) ? os.filter((one): one is string => typeof one === 'string') : [];
  if (named.includes(`!${platform}`)) return false;
  const wanted = named.filter((one) => !one.startsWith('!'));
  return wanted.length === 0 || wanted.includes(platform);
}

/** The scripts of a project that npm runs by itself when it installs. */
const LIFECYCLE = [
  ...['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare', 'dependencies'],
];
/** Those of the top project that npm runs once all packages are there, in this order. */
const LAST = ['postinstall', 'prepare'];

/**
 * The commands that do the rest once the packages lie there without any script having run. Undefined: npm runs other scripts of
 * the projects, in an order of its own.
 * @param manifests each project's `package.json`, by folder
 */
export function restOf(
  { scripts }: Pick<NpmInstall, 'scripts'>,
  { hasScripts }: Pick<Locked, 'hasScripts'>,
  manifests: ReadonlyMap<string, string>,
): string[] | undefined {
  const lifecycle = (text: string) => LIFECYCLE.filter((name) => Object.hasOwn(scriptsOf(text), name));
  const own = lifecycle(manifests.get('') ?? '');
  const others = [...manifests].filter(([folder]) => folder !== '').map(([, text]) => text);
  const isPlain = own.every((name) => LAST.includes(name)) && others.every((text) => lifecycle(text).length === 0);
  if (scripts && !isPlain) return undefined;
  // Files of workspaces that npm makes programs of.
  const hasPrograms = others.some((text) => parsed(text)['bin'] !== undefined);
  return [
    ...((scripts && hasScripts) || hasPrograms ? [`npm rebuild${scripts ? '' : ' --ignore-scripts'}`] : []),
    ...LAST.filter((name) => scripts && own.includes(name)).map((name) => `npm run ${name}`),
  ];
}

/** A workspace's packages are installed with those of the project above it. */
export const hasWorkspaces = (manifest: string): boolean => parsed(manifest)['workspaces'] !== undefined;

/** Settings by which an install does more, or something else, than its lock file says. */
export const isPlainNpmrc = (text: string): boolean =>
  !/^\s*(?:script-shell|node-options|install-links|install-strategy|ignore-scripts|prefix|cache|location|global\w*|userconfig)\b/m.test(
    text,
  );

function parsed(text: string): Record<string, unknown> {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
