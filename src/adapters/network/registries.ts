import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { hostOfUrl } from '../../domain/task/network.ts';
import { askProgram } from '../program/run-with-stdin.ts';

const ASK_MS = 20_000;
/** What pip asks where nothing is configured, as pip itself has it. */
const PIP_DEFAULTS =
  'from pip._internal.models.index import PyPI; print(PyPI.url, "https://" + PyPI.file_storage_domain)';

const NOTHING = '/dev/null';
/** The file that Go reads where no variable says more. */
const goSettings = ({ GOENV, XDG_CONFIG_HOME }: Record<string, string>, home: string): string =>
  GOENV || join(process.platform === 'darwin' ? join(home, MAC) : (XDG_CONFIG_HOME ?? join(home, '.config')), 'go/env');
const MAC = 'Library/Application Support';

/** Maven's own settings block mirrors by it. */
const NOWHERE = '0.0.0.0';

/** By the environment of a worker: its clients are asked once. */
const known = new WeakMap<NodeJS.ProcessEnv, Promise<string[]>>();

/**
 * The hosts that the package clients of this machine are set up for: npm, pip and Go say it themselves, with what is built into
 * them; of Cargo, Maven and apt, what their files name.
 */
export function registryHosts(env: NodeJS.ProcessEnv): Promise<string[]> {
  let hosts = known.get(env);
  if (!hosts) known.set(env, (hosts = find(env)));
  return hosts;
}

async function find(env: NodeJS.ProcessEnv): Promise<string[]> {
  const home = env['HOME'] ?? homedir();
  const set = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const say = async (command: readonly string[], more: Record<string, string> = {}): Promise<string> => {
    const said = await askProgram({ command, env: { ...set, ...more }, input: '', timeoutMs: ASK_MS });
    return said.ok ? said.output : '';
  };
  // Go counts its own commands, beside its settings, unless it finds no such folder; a version manager's needs its own below HOME.
  const askGo = ['go', 'env', 'GOPROXY', 'GOSUMDB'];
  const uncounted = { GOENV: goSettings(set, home), HOME: NOTHING, XDG_CONFIG_HOME: NOTHING };
  // None is to leave anything in this HOME.
  const [npm, pip, built, go] = await Promise.all([
    say(['npm', '--logs-max=0', '--no-update-notifier', 'config', 'ls', '--json']),
    say(['pip', 'config', 'list']),
    say(['python3', '-B', '-c', PIP_DEFAULTS]),
    say(askGo, uncounted).then((said) => said || say(askGo)),
  ]);
  const texts = [
    registriesOf(npm),
    pip,
    /index-url=/.test(pip.replace(/extra-index-url=/g, '')) ? '' : built,
    go.replace(/^([a-z][\w.-]*\.[a-z]+)(\+\S*)?( |$)/gm, 'https://$1 '),
    ...['.cargo/config.toml', '.cargo/config', '.m2/settings.xml'].map((file) => textOf(join(home, file))),
    ...['/etc/maven/settings.xml', '/etc/apt/sources.list'].map(textOf),
    ...listOf('/etc/apt/sources.list.d').map(textOf),
  ];
  return [...new Set(texts.flatMap(hostsIn))].filter((host) => host !== NOWHERE);
}

/** Hosts, with their ports, of the URLs in a text. */
export const hostsIn = (text: string): string[] =>
  (text.match(/https?:\/\/[^\s"'<>,|\\]+/g) ?? []).flatMap((url) => {
    const found = hostOfUrl(url);
    return found ? (found.port === undefined ? found.host : `${found.host}:${found.port}`) : [];
  });

/** All of npm's settings have URLs in them, of which few are asked. */
function registriesOf(json: string): string {
  try {
    const settings = JSON.parse(json) as Record<string, unknown>;
    const named = Object.entries(settings).filter(([name]) => name === 'registry' || name.endsWith(':registry'));
    return named.map(([, url]) => String(url)).join(' ');
  } catch {
    return '';
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
      .replace(/^\s*#.*$|<!--[\s\S]*?-->/gm, '')
      .replace(/xmlns\S*|\S*schemaLocation="[^"]*"/g, '');
  } catch {
    return '';
  }
}

function listOf(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}
