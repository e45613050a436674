import { object, text, type Json } from '../domain/values/json.ts';
import type { ModelWay, Upstream } from '../domain/agent/upstream.ts';
import type { Coder, StartInput } from '../ports.ts';
import { chatUpstream } from './shared/chat-upstream.ts';
import { opencodeProtocol } from './streams/opencode.ts';
import type { CoderDeclaration } from './shared/overlay.ts';
import { lowerCase, ownConfig, providerIn } from './shared/own-config.ts';
import { upstreamTo, VENDORS } from './shared/vendors.ts';

/**
 * opencode, unattended. Command line and configuration as observed on 1.18.33 (`docs/coders.md`).
 *
 * Models are named `provider/model`; a name without a provider is one of `fleet`, which is whatever speaks OpenAI's chat
 * completions at OPENAI_BASE_URL. It looks for its folder in $PWD before it asks the system, so `--dir` says it.
 *
 * Clean context: HOME is the run's own, and the repository's configuration, skills and plugins stay off; the repository's
 * AGENTS.md comes in as an instruction of ours. It ignores signals, and keeps its session in a database with a log beside it,
 * which is no one file that another run could go on with.
 */
const FLAGS = ['run', '--format=json', '--pure', '--title=fleet'];

const ENV = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_PROJECT_CONFIG: '1',
  OPENCODE_DISABLE_TERMINAL_TITLE: '1',
};

/** Its own configuration, which may lead a provider's calls elsewhere. */
const OWN = ['opencode.jsonc', 'opencode.json', 'config.json'].map((name) => `.config/opencode/${name}`);

const PASSED = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'];

export function createOpencode(overlay: CoderDeclaration = {}): Coder {
  const command = overlay.command ?? ['opencode'];
  return {
    name: 'opencode',
    command,
    ...opencodeProtocol,
    model: overlay.model,
    env: [...new Set([...PASSED, ...(overlay.env ?? [])])],
    keys: ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY'],
    hosts: ['api.anthropic.com', 'api.openai.com', 'opencode.ai', 'models.dev'],
    mcp: true,
    about: { install: 'npm install -g opencode-ai', tried: '1.18.33', least: '1.18.0', by: 'binary' },
    context: [
      { kind: 'instructions', from: 'user', glob: '.config/opencode/AGENTS.md' },
      { kind: 'instructions', from: 'user', glob: '.claude/CLAUDE.md' },
      { kind: 'instructions', from: 'project', glob: 'AGENTS.md' },
      { kind: 'instructions', from: 'project', glob: 'CLAUDE.md' },
      { kind: 'settings', from: 'user', glob: '.config/opencode/opencode.json*' },
      { kind: 'settings', from: 'project', glob: 'opencode.json*' },
      { kind: 'skill', from: 'user', glob: '.config/opencode/skills/*/SKILL.md' },
      { kind: 'skill', from: 'project', glob: '.opencode/skills/*/SKILL.md' },
      { kind: 'skill', from: 'user', glob: '.claude/skills/*/SKILL.md' },
    ],
    upstream: upstreamOf,
    ownConfig: OWN,
    start(order) {
      const { tree, home, userHome, model = overlay.model, prompt, inherit, proxy } = order;
      const config = `${home}/.config/opencode`;
      return {
        argv: [
          ...command,
          ...FLAGS,
          `--dir=${tree}`,
          ...(model ? [`--model=${model.includes('/') ? model : `fleet/${model}`}`] : []),
          ...(overlay.args ?? []),
        ],
        // As an argument it would reach the model in quotation marks.
        stdin: prompt,
        env: {
          ...ENV,
          HOME: home,
          ...(inherit === 'user' ? {} : { OPENCODE_DISABLE_CLAUDE_CODE: '1', OPENCODE_DISABLE_EXTERNAL_SKILLS: '1' }),
          OPENCODE_CONFIG_CONTENT: JSON.stringify(configOf({ ...order, ...(model ? { model } : {}) })),
          ...(proxy && proxy.api !== 'anthropic'
            ? { OPENAI_BASE_URL: `${proxy.url}/v1`, OPENAI_API_KEY: proxy.key }
            : {}),
        },
        files: {
          // It would install a package for plugins in each new HOME, from the network.
          [`${config}/.npmrc`]: { text: 'offline=true\nregistry=http://127.0.0.1:9/\n' },
          ...(proxy
            ? {}
            : {
                [`${home}/.local/share/opencode/auth.json`]: {
                  link: `${userHome}/.local/share/opencode/auth.json`,
                  login: true,
                },
              }),
          ...(inherit === 'user'
            ? {
                [`${config}/AGENTS.md`]: { link: `${userHome}/.config/opencode/AGENTS.md` },
                [`${config}/skills`]: { link: `${userHome}/.config/opencode/skills` },
              }
            : {}),
        },
      };
    },
  };
}

/** It lies over whatever else it reads. */
function configOf({ tree, own, inherit, mcp, proxy, model }: StartInput): object {
  const key = { baseURL: '{env:OPENAI_BASE_URL}', apiKey: '{env:OPENAI_API_KEY}' };
  const config = ownOf(own);
  const through = (name: string) => ({
    [name]: {
      ...withoutSecrets(providerIn(config, 'provider', name)),
      options: { baseURL: `${proxy?.url}/v1`, apiKey: proxy?.key },
    },
  });
  const ours = model && !model.includes('/') ? { [model]: {} } : {};
  return {
    provider: {
      ...(proxy ? through(proxy.api === 'anthropic' ? 'anthropic' : 'openai') : direct(config, model)),
      fleet: { npm: '@ai-sdk/openai-compatible', name: 'Fleet', options: key, models: ours },
    },
    ...(model ? { small_model: model.includes('/') ? model : `fleet/${model}` } : {}),
    permission: { '*': 'allow', question: 'deny', ...(inherit === 'user' ? {} : { skill: 'deny' }) },
    ...(mcp ? { mcp: { fleet: { type: 'local', command: [mcp.command, ...mcp.args], enabled: true } } } : {}),
    instructions: inherit === 'none' ? [] : [`${tree}/AGENTS.md`],
    // A sub-agent's calls would be missing from the stream.
    tools: { task: false },
    autoupdate: false,
    share: 'disabled',
    snapshot: false,
    // A conversation that outgrew its model would be shortened again and again, without end.
    compaction: { auto: false },
  };
}

/** The user's own configuration: the first of its names that is there. */
const ownOf = (own: StartInput['own']): Json | undefined => OWN.map((path) => ownConfig(own?.[path])).find(Boolean);

/** A login is used where the user's own configuration leads: the provider of the run's model, else of the user's. */
function direct(config: Json | undefined, model = text(config?.['model'])): Json {
  const [name = ''] = model.split('/', 1);
  const entry = model.includes('/') && object(object(config?.['provider'])?.[name]);
  return entry ? { [name]: withoutSecrets(entry) } : {};
}

const BY_VARIABLE = /\{env:[^}]+\}/;
const SECRET = /key|token|secret|password|authorization|cookie/i;

/**
 * What an agent may read: of headers, and of what is called a key or the like, only those that name a variable. An account of the
 * fleet has keys of its own.
 */
function withoutSecrets(entry: Json, headers = false): Json {
  const kept = Object.entries(entry).flatMap(([name, value]): [string, unknown][] => {
    if (typeof value === 'string')
      return !(headers || SECRET.test(name)) || BY_VARIABLE.test(value) ? [[name, value]] : [];
    const inner = object(value);
    return [[name, inner ? withoutSecrets(inner, headers || name === 'headers') : value]];
  });
  return Object.fromEntries(kept);
}

/**
 * By the provider of the run's model; where none is named, by the address of one's own first, then by the vendor's key. Another
 * provider's calls go direct, and so does a login. The CLI itself takes another address from its own configuration, too.
 */
function upstreamOf(env: ModelWay['worker'], { model, worker, own }: ModelWay): Upstream | undefined {
  const byKey = env['OPENAI_BASE_URL'] || !env['ANTHROPIC_API_KEY'] ? 'openai' : 'anthropic';
  const name = model === undefined ? byKey : model.includes('/') ? model.slice(0, model.indexOf('/')) : 'fleet';
  if (name === 'fleet') return chatUpstream(env['OPENAI_API_KEY'], env['OPENAI_BASE_URL'] || VENDORS.openai.url);
  if (name !== 'anthropic' && name !== 'openai') return undefined;
  const { baseURL, headers } = object(providerIn(ownOf(own), 'provider', name)['options']) ?? {};
  const put = (value: string) => value.replace(/\{env:([^}]+)\}/g, (_, variable: string) => worker[variable] ?? '');
  const gateway = { url: put(text(baseURL)), versioned: true, headers: lowerCase(headers, put) };
  return upstreamTo(VENDORS[name], env, baseURL ? gateway : undefined);
}
