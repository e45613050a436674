import { basename } from 'node:path';
import type { Coder, ContextSource, Upstream } from '../ports.ts';
import type { CoderDeclaration } from './overlay.ts';
import { piProtocol } from './pi-stream.ts';

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

interface Provider extends Pick<Upstream, 'api' | 'url'> {
  key: string;
  header: (key: string) => Record<string, string>;
  /** Behind the base URL. */
  folder: string;
}

/** Those whose calls the run's proxy can read. */
const PROVIDERS: Record<string, Provider> = {
  anthropic: {
    key: 'ANTHROPIC_API_KEY',
    api: 'anthropic',
    url: 'https://api.anthropic.com',
    header: (key) => ({ 'x-api-key': key }),
    folder: '',
  },
  openai: {
    key: 'OPENAI_API_KEY',
    api: 'openai-responses',
    url: 'https://api.openai.com',
    header: (key) => ({ authorization: `Bearer ${key}` }),
    folder: '/v1',
  },
  google: {
    key: 'GEMINI_API_KEY',
    api: 'gemini',
    url: 'https://generativelanguage.googleapis.com',
    header: (key) => ({ 'x-goog-api-key': key }),
    folder: '/v1beta',
  },
};

export function createPi(overlay: CoderDeclaration = {}): Coder {
  const command = overlay.command ?? ['pi'];
  const keys = Object.values(PROVIDERS).map(({ key }) => key);
  return {
    name: 'pi',
    command,
    ...piProtocol,
    model: overlay.model,
    env: [...new Set([...keys, 'OPENROUTER_API_KEY', ...(overlay.env ?? [])])],
    keys: [...keys, 'OPENROUTER_API_KEY'],
    about: {
      install: 'npm install --global @mariozechner/pi-coding-agent@0.73.1',
      tried: '0.73.1',
      least: '0.73.1',
      by: 'binary',
    },
    context: CONTEXT,
    upstream: (env) => upstreamOf(env, overlay.model),
    sessionFile: (session) => ['.pi', 'agent', 'sessions', '*', `*_${session}.jsonl`],
    start({ tree, home, userHome, model = overlay.model, prompt, inherit, proxy, resume }) {
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
            ? { [`${config}/models.json`]: { text: JSON.stringify({ providers: providersAt(proxy) }) } }
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

const providersAt = ({ url, key }: { url: string; key: string }) =>
  Object.fromEntries(
    Object.entries(PROVIDERS).map(([name, { folder }]) => [name, { baseUrl: `${url}${folder}`, apiKey: key }]),
  );

/** By the provider of the configured model, else by the first key that there is. A login goes direct. */
function upstreamOf(
  env: Readonly<Record<string, string | undefined>>,
  model: string | undefined,
): Upstream | undefined {
  const named = model?.includes('/') ? model.slice(0, model.indexOf('/')) : undefined;
  const candidates = named ? [PROVIDERS[named]] : Object.values(PROVIDERS);
  const provider = candidates.find((each) => each && env[each.key]);
  if (!provider) return undefined;
  return { api: provider.api, url: provider.url, headers: provider.header(env[provider.key] ?? '') };
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
