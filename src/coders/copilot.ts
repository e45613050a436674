import type { Upstream } from '../domain/agent/upstream.ts';
import type { Coder, ContextSource, StartInput } from '../ports.ts';
import { sessionOf } from './claude.ts';
import { copilotProtocol } from './streams/copilot.ts';
import { serverOf } from './shared/mcp.ts';
import type { CoderDeclaration } from './shared/overlay.ts';

/**
 * GitHub Copilot CLI, unattended. Command line and variables as observed on 1.0.102 (`docs/coders.md`): the program itself
 * (`copilot-linux-x64/copilot`), as npm's loader in front of it leaves it alive when it is killed.
 *
 * The folder is not trusted, so that no hook or MCP server of the repository loads; its skills would, but for their tool. With a model of one's own
 * (`COPILOT_PROVIDER_BASE_URL`) its calls can go through the run's proxy; GitHub's own models go direct.
 */
const FLAGS = [
  '--output-format=json',
  '--allow-all-tools',
  '--allow-all-paths',
  '--allow-all-urls',
  '--no-ask-user',
  '--no-auto-update',
  '--disable-builtin-mcps',
];

/** Their calls are not in the stream. */
const SUB_AGENTS = ['task', 'read_agent', 'list_agents', 'write_agent'];

const PASSED = [
  'COPILOT_GITHUB_TOKEN',
  'COPILOT_MODEL',
  'COPILOT_OFFLINE',
  ...['BASE_URL', 'TYPE', 'API_KEY', 'BEARER_TOKEN', 'WIRE_API', 'MODEL_ID', 'WIRE_MODEL'].map(
    (name) => `COPILOT_PROVIDER_${name}`,
  ),
];

/** Tells the session, which the CLI does only at its end, and becomes the CLI. */
const SAY = `printf '{"type":"fleet.session","data":{"sessionId":"%s"}}\\n' "$1" && shift && exec "$@"`;

export function createCopilot(overlay: CoderDeclaration = {}): Coder {
  const command = overlay.command ?? ['copilot'];
  return {
    name: 'copilot',
    command,
    ...copilotProtocol,
    model: overlay.model,
    env: [...new Set([...PASSED, ...(overlay.env ?? [])])],
    mcp: true,
    keys: ['COPILOT_GITHUB_TOKEN', 'COPILOT_PROVIDER_API_KEY', 'COPILOT_PROVIDER_BEARER_TOKEN'],
    hosts: ['api.github.com', '*.githubcopilot.com'],
    about: {
      install: 'npm install --global @github/copilot@1.0.102',
      tried: '1.0.102',
      least: '1.0.102',
      by: 'binary',
    },
    context: CONTEXT,
    upstream,
    sessionFile: (session) => ['.copilot', 'session-state', session, 'events.jsonl'],
    start({ runId, home, userHome, model = overlay.model, prompt, inherit, mcp, proxy, resume }) {
      const config = `${home}/.copilot`;
      const session = resume?.id ?? sessionOf(runId);
      return {
        argv: [
          ...['sh', '-c', SAY, 'sh', session],
          ...command,
          ...FLAGS,
          resume ? `--resume=${session}` : `--session-id=${session}`,
          `--excluded-tools=${[...SUB_AGENTS, ...(inherit === 'user' ? [] : ['skill'])].join(',')}`,
          ...(inherit === 'none' ? ['--no-custom-instructions'] : []),
          ...(mcp ? [`--additional-mcp-config=${JSON.stringify(configOf(mcp))}`] : []),
          ...(model ? [`--model=${model}`] : []),
          ...(overlay.args ?? []),
        ],
        stdin: prompt,
        env: {
          HOME: home,
          COPILOT_HOME: config,
          COPILOT_AUTO_UPDATE: 'false',
          ...(proxy
            ? {
                COPILOT_OFFLINE: 'true',
                COPILOT_PROVIDER_BASE_URL: `${proxy.url}/v1`,
                COPILOT_PROVIDER_API_KEY: proxy.key,
              }
            : {}),
        },
        files: {
          // Its login lies there too.
          ...(proxy ? {} : { [`${config}/config.json`]: { link: `${userHome}/.copilot/config.json`, login: true } }),
          ...(inherit === 'user'
            ? Object.fromEntries(
                ['copilot-instructions.md', 'skills', 'agents', 'mcp-config.json'].map((name) => [
                  `${config}/${name}`,
                  { link: `${userHome}/.copilot/${name}` },
                ]),
              )
            : {}),
          ...(resume ? { [`${config}/session-state/${session}/events.jsonl`]: { copy: resume.file } } : {}),
        },
      };
    },
  };
}

const configOf = (mcp: NonNullable<StartInput['mcp']>): object => ({
  mcpServers: { fleet: { type: 'local', ...serverOf(mcp), tools: ['*'] } },
});

/** An OpenAI-compatible provider of one's own; anything else goes direct. */
function upstream(env: Readonly<Record<string, string | undefined>>): Upstream | undefined {
  const base = env['COPILOT_PROVIDER_BASE_URL'] ?? '';
  const key = env['COPILOT_PROVIDER_BEARER_TOKEN'] || env['COPILOT_PROVIDER_API_KEY'];
  if (!key || !base || (env['COPILOT_PROVIDER_TYPE'] || 'openai') !== 'openai') return undefined;
  const api = env['COPILOT_PROVIDER_WIRE_API'] === 'responses' ? 'openai-responses' : 'openai-chat';
  return { api, url: base.replace(/\/+$/, ''), versioned: true, headers: { authorization: `Bearer ${key}` } };
}

const CONTEXT: readonly ContextSource[] = [
  { kind: 'instructions', from: 'user', glob: '.copilot/copilot-instructions.md' },
  { kind: 'instructions', from: 'project', glob: 'AGENTS.md' },
  { kind: 'instructions', from: 'project', glob: '.github/copilot-instructions.md' },
  { kind: 'skill', from: 'user', glob: '.copilot/skills/*/SKILL.md' },
  { kind: 'mcp', from: 'user', glob: '.copilot/mcp-config.json' },
];
