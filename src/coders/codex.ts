import { basename } from 'node:path';
import type { ModelWay, Upstream } from '../domain/agent/upstream.ts';
import type { AgentStart, Coder, ContextSource, StartInput } from '../ports.ts';
import { codexProtocol } from './streams/codex.ts';
import { conversationOf, driven, driveProtocol } from './shared/drive.ts';
import type { CoderDeclaration } from './shared/overlay.ts';

/**
 * Codex CLI, unattended, by its app-server, or by `codex exec` where the configuration says `protocol: codex`. As observed
 * on 0.169.0 (`facts/coders.md`, section 4): exec's events have no call ids, no error codes, no refusals, and usage at the end only.
 *
 * No sandbox of its own: it breaks commits without a word (`index.lock: Read-only file system`); the run's namespace is
 * the boundary. Clean context: CODEX_HOME is the run's own, with the configuration below. The repository's AGENTS.md
 * counts; its `.codex/config.toml`, rules and skills do not.
 */
const EXEC = [
  'exec',
  '--json',
  '--dangerously-bypass-approvals-and-sandbox',
  '--skip-git-repo-check',
  '--ignore-rules',
];
const SERVER = ['app-server', '--config=sandbox_mode="danger-full-access"', '--config=approval_policy="never"'];

// `unbounded_connection_retries` prints "Reconnecting" for ever without a network, which looks like progress.
const OFF = ['apps', 'plugins', 'goals', 'multi_agent', 'image_generation', 'unbounded_connection_retries'];

/** The key stays out of the environment of the agent's commands. */
const CHECKS = 'check_for_update_on_startup = false\n';
const CONFIG = `
[analytics]
enabled = false

[shell_environment_policy]
exclude = ["CODEX_API_KEY", "OPENAI_API_KEY"]
`;

/** Its `openai_base_url` may lead the key elsewhere. */
const CONFIG_FILE = '.codex/config.toml';

/** An argument that says where the model calls go: then they do not go through a proxy. */
const OWN_WAY = /model_provider|base_url|chatgpt|^--oss$|^--local-provider|^--profile|^-p$/;

export function createCodex(overlay: CoderDeclaration = {}): Coder {
  const command = overlay.command ?? ['codex'];
  const exec = overlay.protocol === 'codex';
  return {
    name: 'codex',
    command,
    ...(exec ? codexProtocol : driveProtocol),
    model: overlay.model,
    // Codex does not read OPENAI_API_KEY (tried): a provider of one's own can, by `args` and `env`.
    env: [...new Set(['CODEX_API_KEY', 'OPENAI_BASE_URL', ...(overlay.env ?? [])])],
    keys: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
    hosts: ['api.openai.com', 'auth.openai.com', 'chatgpt.com'],
    mcp: true,
    ownConfig: [CONFIG_FILE],
    upstream: (env, { own }) =>
      (overlay.args ?? []).some((arg) => OWN_WAY.test(arg)) ? undefined : upstreamOf(env, own[CONFIG_FILE] ?? ''),
    sessionFile: (session) => ['.codex', 'sessions', '*', '*', '*', `rollout-*-${session}.jsonl`],
    about: { install: 'npm install -g @openai/codex', tried: '0.169.0', least: '0.150.0', by: 'binary' },
    context: CONTEXT,
    start(order) {
      const { tree, home, userHome, model = overlay.model, prompt, inherit, mcp, proxy, resume } = order;
      const config = `${home}/.codex`;
      const flags = [
        ...OFF.map((feature) => `--disable=${feature}`),
        `--config=skills.include_instructions=${inherit === 'user'}`,
        ...(inherit === 'none' ? ['--config=project_doc_max_bytes=0'] : []),
        ...(exec ? [`--cd=${tree}`, ...(model ? [`--model=${model}`] : [])] : []),
        ...(overlay.args ?? []),
      ];
      return {
        argv: exec
          ? [...command, ...EXEC, ...flags, ...(resume ? ['resume', resume.id] : []), '-']
          : driven({ protocol: 'codex', command: [...command, ...SERVER, ...flags], ...conversationOf(order, model) }),
        stdin: prompt,
        env: { HOME: home, CODEX_HOME: config, ...(proxy ? { CODEX_API_KEY: proxy.key } : {}) },
        files: {
          // A link, never a copy: refresh tokens are single-use, and a second copy revokes the login.
          ...(proxy ? {} : { [`${config}/auth.json`]: { link: `${userHome}/.codex/auth.json`, login: true } }),
          [`${config}/config.toml`]: {
            text: CHECKS + (proxy ? providerOf(proxy.url) : '') + CONFIG + (mcp ? serverIn(mcp) : ''),
          },
          ...(inherit === 'user' ? usersOwn(config, `${userHome}/.codex`) : {}),
          // Any date will do: the CLI looks for the id.
          ...(resume ? { [`${config}/sessions/2000/01/01/${basename(resume.file)}`]: { copy: resume.file } } : {}),
        },
      };
    },
  };
}

/**
 * By an API key; a ChatGPT login goes direct, as the CLI renews it, and its vendor wants it used by its own programs alone.
 * The CLI does not read OPENAI_API_KEY: it counts only where a credential or the configuration names it.
 */
function upstreamOf(env: ModelWay['worker'], config: string): Upstream | undefined {
  const key = env['CODEX_API_KEY'] || env['OPENAI_API_KEY'];
  if (!key) return undefined;
  // A key in front of the first table of the user's own configuration.
  const [top = ''] = config.split(/^\s*\[/m);
  const own = /^\s*openai_base_url\s*=\s*["']([^"'\n]+)["']/m.exec(top)?.[1];
  return {
    api: 'openai-responses',
    url: (env['OPENAI_BASE_URL'] || own || 'https://api.openai.com').replace(/\/v1\/?$/, ''),
    headers: { authorization: `Bearer ${key}` },
  };
}

/** A provider of our own: the builtin one would try a WebSocket first, and its own retries are long. */
const providerOf = (url: string): string => `model_provider = "fleet"

[model_providers.fleet]
name = "OpenAI"
base_url = ${JSON.stringify(`${url}/v1`)}
wire_api = "responses"
env_key = "CODEX_API_KEY"
request_max_retries = 2
stream_max_retries = 2

`;

const serverIn = (mcp: NonNullable<StartInput['mcp']>): string => `
[mcp_servers.fleet]
command = ${JSON.stringify(mcp.command)}
args = ${JSON.stringify(mcp.args)}
`;

/** The user's MCP servers stay out: they are named in the file that also names where the key goes. */
const usersOwn = (config: string, own: string): AgentStart['files'] =>
  Object.fromEntries(
    ['AGENTS.md', 'AGENTS.override.md', 'skills'].map((name) => [`${config}/${name}`, { link: `${own}/${name}` }]),
  );

const CONTEXT: readonly ContextSource[] = [
  { kind: 'instructions', from: 'user', glob: '.codex/AGENTS.md' },
  { kind: 'skill', from: 'user', glob: '.codex/skills/*/SKILL.md' },
  { kind: 'skill', from: 'user', glob: '.agents/skills/*/SKILL.md' },
  { kind: 'mcp', from: 'user', glob: '.codex/config.toml' },
  { kind: 'instructions', from: 'project', glob: 'AGENTS.md' },
  { kind: 'skill', from: 'project', glob: '.agents/skills/*/SKILL.md' },
  { kind: 'settings', from: 'project', glob: '.codex/config.toml' },
];
