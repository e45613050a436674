import { basename } from 'node:path';
import type { Upstream } from '../domain/agent/upstream.ts';
import type { Coder, Inherit } from '../ports.ts';
import { sessionOf } from './claude.ts';
import { geminiProtocol } from './streams/gemini.ts';
import { serverName, serverOf } from './shared/mcp.ts';
import type { CoderDeclaration } from './shared/overlay.ts';

/**
 * Gemini CLI, unattended. Command line and settings as observed on 0.61.0 (`docs/coders.md`).
 *
 * The folder has to be trusted: without `--skip-trust` it exits with 55. A trusted repository's `.gemini/settings.json`
 * and `.gemini/.env` count then, and win over the run's own settings (the system's, which would win over both, have to lie
 * in folders of root's). By the command line no MCP server (but ours, whose name no repository can guess) and no extension of it loads; its hooks and skills can, if it
 * switches them on. It cannot name another host for the model's calls: variables that are set already stay, and the
 * proxy's address is.
 */
const NONE = 'fleet-none';
const FLAGS = ['--output-format=stream-json', '--skip-trust', '--approval-mode=yolo', '--extensions=none'];

const PASSED = [
  'GEMINI_API_KEY',
  'GOOGLE_GEMINI_BASE_URL',
  'GOOGLE_API_KEY',
  'GOOGLE_GENAI_USE_GCA',
  'GOOGLE_GENAI_USE_VERTEXAI',
  'GOOGLE_CLOUD_PROJECT',
  'GOOGLE_CLOUD_LOCATION',
];

/** What the user has under `~/.gemini` that `inherit: user` brings along. */
const OF_THE_USER = ['GEMINI.md', 'skills', 'commands'];

export function createGemini(overlay: CoderDeclaration = {}): Coder {
  const command = overlay.command ?? ['gemini'];
  return {
    name: 'gemini',
    command,
    ...geminiProtocol,
    model: overlay.model,
    env: [...new Set([...PASSED, ...(overlay.env ?? [])])],
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    hosts: [
      'cloudcode-pa.googleapis.com',
      'oauth2.googleapis.com',
      'generativelanguage.googleapis.com',
      '*aiplatform.googleapis.com',
    ],
    mcp: true,
    about: {
      install: 'npm install -g @google/gemini-cli',
      tried: '0.61.0',
      least: '0.61.0',
      by: 'binary',
    },
    context: [
      { kind: 'instructions', from: 'user', glob: '.gemini/GEMINI.md' },
      { kind: 'instructions', from: 'project', glob: '**/GEMINI.md' },
      { kind: 'settings', from: 'user', glob: '.gemini/settings.json' },
      { kind: 'settings', from: 'project', glob: '.gemini/settings.json' },
      { kind: 'skill', from: 'user', glob: '.gemini/skills/*/SKILL.md' },
      { kind: 'skill', from: 'project', glob: '.gemini/skills/*/SKILL.md' },
      { kind: 'plugin', from: 'user', glob: '.gemini/extensions/*/gemini-extension.json' },
    ],
    upstream,
    // The name begins with a date: of several files of one session the last has it all (see `start`).
    sessionFile: (session) => ['.gemini', 'tmp', '*', 'chats', `session-*-${session.slice(0, 8)}.jsonl`],
    start({ runId, tree, home, userHome, model = overlay.model, prompt, inherit, mcp, proxy, resume }) {
      const chats = `${home}/.gemini/tmp/${basename(tree)}/chats`;
      return {
        argv: [
          ...command,
          ...FLAGS,
          `--allowed-mcp-server-names=${mcp ? serverName(sessionOf(runId)) : NONE}`,
          resume ? `--resume=${resume.id}` : `--session-id=${sessionOf(runId)}`,
          ...(model ? [`--model=${model}`] : []),
          ...(overlay.args ?? []),
        ],
        stdin: prompt,
        env: {
          HOME: home,
          // Its launcher would start it a second time, and ignore signals.
          GEMINI_CLI_NO_RELAUNCH: 'true',
          ...(proxy ? { GOOGLE_GEMINI_BASE_URL: proxy.url, GEMINI_API_KEY: proxy.key } : {}),
        },
        files: {
          ...(proxy
            ? {}
            : { [`${home}/.gemini/oauth_creds.json`]: { link: `${userHome}/.gemini/oauth_creds.json`, login: true } }),
          [`${home}/.gemini/settings.json`]: {
            text: JSON.stringify({
              ...settings({ inherit, proxied: proxy !== undefined }),
              ...(mcp ? { mcpServers: { [serverName(sessionOf(runId))]: { ...serverOf(mcp), trust: true } } } : {}),
            }),
          },
          ...(inherit === 'user' ? linked(home, userHome) : {}),
          // A resumed session goes on in its old file; the CLI begins a new one beside it, which stays empty.
          ...(resume
            ? { [`${chats}/session-9999-12-31T23-59-${resume.id.slice(0, 8)}.jsonl`]: { copy: resume.file } }
            : {}),
        },
      };
    },
  };
}

const linked = (home: string, userHome: string) =>
  Object.fromEntries(
    OF_THE_USER.map((name) => [`${home}/.gemini/${name}`, { link: `${userHome}/.gemini/${name}` }] as const),
  );

function settings({ inherit, proxied }: { inherit: Inherit; proxied: boolean }): object {
  return {
    // Without it, a base URL makes it look for a gateway, which it has no use for without a terminal.
    ...(proxied ? { security: { auth: { selectedType: 'gemini-api-key' } } } : {}),
    privacy: { usageStatisticsEnabled: false },
    // The durable retry is the workflow's: ten of its own, the default, hide a failure for four minutes.
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: 2, plan: { enabled: false } },
    advanced: { ignoreLocalEnv: true },
    context: { fileName: inherit === 'none' ? [NONE] : ['GEMINI.md', 'AGENTS.md'] },
    // A sub-agent's calls would be missing from the stream.
    experimental: { enableAgents: false },
    skills: { enabled: inherit === 'user' },
    hooksConfig: { enabled: false },
  };
}

/** A key's calls can go through the run's proxy; Google's login (GOOGLE_GENAI_USE_GCA) and Vertex go elsewhere. */
function upstream(env: Readonly<Record<string, string | undefined>>): Upstream | undefined {
  const key = env['GEMINI_API_KEY'];
  if (!key || env['GOOGLE_GENAI_USE_GCA'] === 'true' || env['GOOGLE_GENAI_USE_VERTEXAI'] === 'true') return undefined;
  const url = (env['GOOGLE_GEMINI_BASE_URL'] || 'https://generativelanguage.googleapis.com').replace(/\/+$/, '');
  return { api: 'gemini', url, headers: { 'x-goog-api-key': key } };
}
