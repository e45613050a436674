import { createHash } from 'node:crypto';
import { object, text } from '../domain/values/json.ts';
import type { ModelWay, Upstream } from '../domain/agent/upstream.ts';
import type { AgentStart, Coder, ContextSource } from '../ports.ts';
import { claudeProtocol } from './streams/claude.ts';
import { hookSettings } from './shared/hooks.ts';
import { serverOf } from './shared/mcp.ts';
import { ownConfig } from './shared/own-config.ts';
import type { CoderDeclaration } from './shared/overlay.ts';

/**
 * Claude Code, unattended. Command line and environment as observed on 2.1.329 (`facts/coders.md`, section 3).
 *
 * Clean context: HOME is the run's own, so `--setting-sources user` reads nothing of the worker's user. The sources
 * `project` and `local` stay off although a repository's CLAUDE.md should count: with `project`, `.claude/settings.json`
 * of the repository set ANTHROPIC_BASE_URL for the CLI itself, so any branch could have named the host that the key
 * and the prompt go to (tried), and its hooks ran. CLAUDE.md and what it imports come in by a link from the run's user
 * memory instead; CLAUDE.md files further down do not load, nor does `.mcp.json` (`--strict-mcp-config`).
 *
 * Tools: those that work on files, the shell and the web. None that talks to other sessions on the machine, starts
 * sub-agents (their calls would be missing from the stream), schedules, or leaves something running in the background.
 *
 * Hooks: settings on the command line, which the agent cannot change once it runs; `overlay.args` may replace them.
 */
const FLAGS = [
  '-p',
  '--output-format=stream-json',
  '--verbose',
  '--permission-mode=bypassPermissions',
  '--setting-sources=user',
  '--strict-mcp-config',
];

const TOOLS = 'Bash,Read,Edit,Write,Glob,Grep,NotebookEdit,WebFetch,WebSearch';

const ENV = {
  DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  // The durable retry is the workflow's: 10 of its own, the default, hide a failure for three minutes, even a 401.
  CLAUDE_CODE_MAX_RETRIES: '2',
  API_TIMEOUT_MS: '120000',
  CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS: '90000',
  // A test suite takes longer than the default 2 minutes; the task's own limits end what hangs.
  BASH_DEFAULT_TIMEOUT_MS: '1800000',
  BASH_MAX_TIMEOUT_MS: '7200000',
};

const PASSED = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_BASE_URL',
  'ANTHROPIC_CUSTOM_HEADERS',
  'ANTHROPIC_MODEL',
  'CLAUDE_CODE_OAUTH_TOKEN',
];

/** Its `env` may lead the key elsewhere. */
const SETTINGS = '.claude/settings.json';

/** What holds a key, or may. */
const KEYS = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_CUSTOM_HEADERS', 'CLAUDE_CODE_OAUTH_TOKEN'];

export function createClaude(overlay: CoderDeclaration = {}): Coder {
  const command = overlay.command ?? ['claude'];
  return {
    name: 'claude',
    command,
    ...claudeProtocol,
    env: [...new Set([...PASSED, ...(overlay.env ?? [])])],
    keys: KEYS,
    hosts: ['api.anthropic.com', 'console.anthropic.com', 'platform.claude.com', 'claude.ai'],
    mcp: true,
    upstream,
    ownConfig: [SETTINGS],
    sessionFile: (session) => ['.claude', 'projects', '*', `${session}.jsonl`],
    about: { install: 'npm install -g @anthropic-ai/claude-code', tried: '2.1.329', least: '2.1.0', by: 'binary' },
    context: CONTEXT,
    start({ runId, tree, home, userHome, model = overlay.model, prompt, inherit, hooks, mcp, proxy, resume }) {
      const config = `${home}/.claude`;
      return {
        argv: [
          ...command,
          ...FLAGS,
          `--tools=${TOOLS}${inherit === 'user' ? ',Skill' : ''}`,
          resume ? `--resume=${resume.id}` : `--session-id=${sessionOf(runId)}`,
          ...(model ? [`--model=${model}`] : []),
          ...(mcp ? [`--mcp-config=${JSON.stringify({ mcpServers: { fleet: serverOf(mcp) } })}`] : []),
          ...(hooks ? [`--settings=${JSON.stringify(hookSettings(hooks))}`] : []),
          ...(overlay.args ?? []),
        ],
        stdin: prompt,
        hooks: hooks !== undefined,
        env: {
          ...ENV,
          HOME: home,
          CLAUDE_CONFIG_DIR: config,
          // Without it, bypassPermissions is refused to root; any other value than 1 is refused too.
          ...(process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {}),
          ...(proxy ? { ANTHROPIC_BASE_URL: proxy.url, ANTHROPIC_API_KEY: proxy.key } : {}),
        },
        files: {
          ...(proxy
            ? {}
            : { [`${config}/.credentials.json`]: { link: `${userHome}/.claude/.credentials.json`, login: true } }),
          ...(inherit === 'none' ? {} : { [`${config}/CLAUDE.md`]: { link: `${tree}/CLAUDE.md` } }),
          ...(inherit === 'user' ? usersOwn(config, `${userHome}/.claude`) : {}),
          ...(resume ? { [`${config}/projects/${slugOf(tree)}/${resume.id}.jsonl`]: { copy: resume.file } } : {}),
        },
      };
    },
  };
}

/**
 * By an API key, or a gateway's token. A subscription's login goes direct: its vendor wants it used by its own programs alone,
 * and the CLI renews it in its own folder.
 */
function upstream(env: ModelWay['worker'], run: ModelWay): Upstream | undefined {
  const { ANTHROPIC_API_KEY: key, ANTHROPIC_AUTH_TOKEN: token } = env;
  const login = token?.startsWith('sk-ant-oat');
  const other = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY'].some(
    (name) => env[name],
  );
  if ((!key && !token) || login || other) return undefined;
  const own = object(ownConfig(run.own[SETTINGS])?.['env']);
  return {
    api: 'anthropic',
    url: env['ANTHROPIC_BASE_URL'] || text(own?.['ANTHROPIC_BASE_URL']) || 'https://api.anthropic.com',
    headers: {
      ...headersIn(env['ANTHROPIC_CUSTOM_HEADERS'] ?? ''),
      ...(key ? { 'x-api-key': key } : {}),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
  };
}

/** `Name: value`, one a line. */
const headersIn = (lines: string): Record<string, string> =>
  Object.fromEntries(
    [...lines.matchAll(/^\s*([\w-]+)\s*:\s*(.*?)\s*$/gm)].map(([, name = '', value = '']) => [
      name.toLowerCase(),
      value,
    ]),
  );

/** The user's instructions as a rule of theirs, as the place of their CLAUDE.md is taken. Their MCP servers stay out: the file that names them is the CLI's own to write. */
const usersOwn = (config: string, own: string): AgentStart['files'] => ({
  [`${config}/rules/user.md`]: { link: `${own}/CLAUDE.md` },
  ...Object.fromEntries(
    ['skills', 'agents', 'commands', 'output-styles'].map((name) => [`${config}/${name}`, { link: `${own}/${name}` }]),
  ),
});

const CONTEXT: readonly ContextSource[] = [
  { kind: 'instructions', from: 'user', glob: '.claude/CLAUDE.md' },
  { kind: 'instructions', from: 'user', glob: '.claude/rules/**/*.md' },
  { kind: 'skill', from: 'user', glob: '.claude/skills/*/SKILL.md' },
  { kind: 'skill', from: 'user', glob: '.claude/agents/*.md' },
  { kind: 'plugin', from: 'user', glob: '.claude/plugins/installed_plugins.json' },
  { kind: 'mcp', from: 'user', glob: '.claude.json' },
  { kind: 'settings', from: 'user', glob: '.claude/settings.json' },
  { kind: 'instructions', from: 'project', glob: 'CLAUDE.md' },
  { kind: 'instructions', from: 'project', glob: '.claude/CLAUDE.md' },
  { kind: 'instructions', from: 'project', glob: 'CLAUDE.local.md' },
  { kind: 'skill', from: 'project', glob: '.claude/skills/*/SKILL.md' },
  { kind: 'skill', from: 'project', glob: '.claude/agents/*.md' },
  { kind: 'mcp', from: 'project', glob: '.mcp.json' },
  { kind: 'settings', from: 'project', glob: '.claude/settings.json' },
];

/** The folder that the CLI keeps the sessions of a working folder in. */
export const slugOf = (tree: string): string => tree.replace(/[^A-Za-z0-9]/g, '-');

/** The same run always has the same session: a second start of it is refused by the CLI ("already in use"). */
export function sessionOf(runId: string): string {
  const hex = createHash('sha256').update(`infinity-fleet run ${runId}`).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}
