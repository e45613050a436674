import { basename } from 'node:path';
import type { ModelWay, Upstream } from '../domain/agent/upstream.ts';
import type { Coder, ContextSource, StartInput } from '../ports.ts';
import { text } from '../domain/values/json.ts';
import type { CoderDeclaration } from './shared/overlay.ts';
import { lowerCase, ownConfig, providerIn } from './shared/own-config.ts';
import { piProtocol } from './streams/pi.ts';
import { upstreamTo, VENDORS } from './shared/vendors.ts';

/**
 * pi, unattended. Command line and files as observed on 0.73.1 (`docs/coders.md`). It has neither a sandbox nor permissions:
 * the run's namespace is the boundary. A model is named as `provider/model`.
 *
 * The repository's `.pi/settings.json` counts and cannot be kept out; by the command line no extension, skill, prompt or theme
 * of it loads, and it cannot name another host for the model's calls.
 */
const FLAGS = ['--mode', 'json', '--print', '--offline'];
const ALONE = ['--no-extensions', '--no-skills', '--no-prompt-templates', '--no-themes'];

/** The durable retry is the workflow's, and a conversation that overflows is begun anew by it. */
const SETTINGS = {
  retry: { enabled: false, provider: { maxRetries: 1 } },
  compaction: { enabled: false },
  enableInstallTelemetry: false,
  quietStartup: true,
};

/** Those whose calls the run's proxy can read, with what each wants behind a base URL. */
const FOLDERS = { anthropic: '', openai: '/v1', google: '/v1beta' } as const;
/** Its own list of models, which may lead a provider's calls elsewhere. */
const MODELS = '.pi/agent/models.json';
type ProviderName = keyof typeof FOLDERS;
const NAMES = Object.keys(FOLDERS) as ProviderName[];

export function createPi(overlay: CoderDeclaration = {}): Coder {
  const command = overlay.command ?? ['pi'];
  const vendors = NAMES.map((name) => VENDORS[name]);
  const keys = vendors.map(({ key }) => key);
  return {
    name: 'pi',
    command,
    ...piProtocol,
    model: overlay.model,
    env: [
      ...new Set([...keys, ...vendors.map(({ address }) => address), 'OPENROUTER_API_KEY', ...(overlay.env ?? [])]),
    ],
    keys: [...keys, 'OPENROUTER_API_KEY'],
    hosts: [...vendors.map(({ url }) => new URL(url).hostname), 'openrouter.ai'],
    about: {
      install: 'npm install --global @mariozechner/pi-coding-agent@0.73.1',
      tried: '0.73.1',
      least: '0.73.1',
      by: 'binary',
    },
    context: CONTEXT,
    upstream: upstreamOf,
    ownConfig: [MODELS],
    sessionFile: (session) => ['.pi', 'agent', 'sessions', '*', `*_${session}.jsonl`],
    start({ tree, home, userHome, model = overlay.model, prompt, inherit, proxy, own: ofUser, resume }) {
      const config = `${home}/.pi/agent`;
      const own = `${userHome}/.pi/agent`;
      // By its path: an id of another folder would ask whether to fork, on stdout, and exit with 0.
      const session = resume && `${config}/sessions/--resumed--/${basename(resume.file)}`;
      const saved = `${config}/resumed.jsonl`;
      const link = (name: string) => [`${config}/${name}`, { link: `${own}/${name}` }] as const;
      return {
        argv: [
          ...(session ? moved(saved, session, tree) : []),
          ...command,
          ...FLAGS,
          ...(inherit === 'user' ? [] : ALONE),
          ...(inherit === 'none' ? ['--no-context-files'] : []),
          ...(model ? ['--model', model] : []),
          ...(session ? ['--session', session] : []),
          ...(overlay.args ?? []),
        ],
        stdin: prompt,
        env: { HOME: home, PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1' },
        files: {
          [`${config}/settings.json`]: { text: JSON.stringify(SETTINGS) },
          ...(proxy
            ? { [`${config}/models.json`]: { text: JSON.stringify({ providers: providersAt(proxy, ofUser) }) } }
            : Object.fromEntries(['auth.json', 'models.json'].map(link))),
          ...(inherit === 'user' ? Object.fromEntries(['AGENTS.md', 'skills', 'extensions', 'prompts'].map(link)) : {}),
          // The folder has to be there for what is made of it.
          ...(resume && session ? { [saved]: { copy: resume.file }, [session]: { text: '' } } : {}),
        },
      };
    },
  };
}

/** A session goes on in the folder that its first line names: that becomes the new worktree, before the CLI takes the place of the shell. */
function moved(saved: string, session: string, tree: string): string[] {
  const cwd = `"cwd":${JSON.stringify(tree)}`.replace(/[\\&|]/g, String.raw`\$&`);
  const script = String.raw`sed "1s|\"cwd\":\"[^\"]*\"|$1|" "$2" > "$3" && shift 3 && exec "$@"`;
  return ['sh', '-c', script, 'sh', cwd, saved, session];
}

/** The one that the proxy speaks for, with the models that the user has added to it. */
function providersAt({ url, key, api }: NonNullable<StartInput['proxy']>, own: StartInput['own']): object {
  const name = NAMES.find((each) => VENDORS[each].api === api) ?? 'openai';
  const { models, modelOverrides, compat, api: spoken } = providerIn(ownConfig(own?.[MODELS]), 'providers', name);
  return { [name]: { models, modelOverrides, compat, api: spoken, baseUrl: `${url}${FOLDERS[name]}`, apiKey: key } };
}

/**
 * By the provider of the run's model, else by the first key that there is. A login goes direct. The CLI itself takes another
 * address from its `models.json` alone, whose headers go with it.
 */
function upstreamOf(env: ModelWay['worker'], { model, worker, own: ofUser }: ModelWay): Upstream | undefined {
  const named = model?.includes('/') ? model.slice(0, model.indexOf('/')) : undefined;
  const name = NAMES.find((each) => env[VENDORS[each].key] && (named === undefined || each === named));
  if (!name) return undefined;
  const own = providerIn(ownConfig(ofUser[MODELS]), 'providers', name);
  const url = text(own['baseUrl']);
  // A value is a variable's name, or stands for itself; one that a command would give is left out.
  const headers = lowerCase(own['headers'], (value) => (value.startsWith('!') ? undefined : (worker[value] ?? value)));
  const bearer = own['authHeader'] === true ? { authorization: `Bearer ${env[VENDORS[name].key]}` } : {};
  const gateway = { url, versioned: FOLDERS[name] !== '', headers: { ...headers, ...bearer } };
  return upstreamTo(VENDORS[name], env, url ? gateway : undefined);
}

const CONTEXT: readonly ContextSource[] = [
  { kind: 'instructions', from: 'user', glob: '.pi/agent/AGENTS.md' },
  { kind: 'instructions', from: 'project', glob: 'AGENTS.md' },
  { kind: 'instructions', from: 'project', glob: 'CLAUDE.md' },
  { kind: 'skill', from: 'user', glob: '.pi/agent/skills/*/SKILL.md' },
  { kind: 'skill', from: 'project', glob: '.pi/skills/*/SKILL.md' },
  { kind: 'plugin', from: 'user', glob: '.pi/agent/extensions/*' },
  { kind: 'plugin', from: 'project', glob: '.pi/extensions/*' },
  { kind: 'settings', from: 'user', glob: '.pi/agent/settings.json' },
  { kind: 'settings', from: 'project', glob: '.pi/settings.json' },
];
