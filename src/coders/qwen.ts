import type { AgentStart, Coder, Inherit } from '../ports.ts';
import { chatUpstream } from './shared/chat-upstream.ts';
import { sessionOf, slugOf } from './claude.ts';
import { serverName, serverOf } from './shared/mcp.ts';
import type { CoderDeclaration } from './shared/overlay.ts';
import { qwenProtocol } from './streams/qwen.ts';

/**
 * Qwen Code, unattended, with any model behind OpenAI's chat completions. Command line and settings as observed on 0.24.4
 * (`docs/coders.md`). Node 22 or newer.
 *
 * Clean context: what we set lies in the system's settings, which win over the user's and the repository's: no hooks, no
 * skills, no memory of other sessions, no talk with other sessions on the machine, no sub-agents (their calls would be
 * missing from the stream); no MCP server but ours passes the allow-list.
 */
const NONE = 'fleet-none';
const FLAGS = ['--output-format=stream-json', '--approval-mode=yolo', '--auth-type=openai', '--extensions=none'];
const BASE_URL = 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1';

/** Tools that leave something running, wake up later, or reach beyond this session. */
const EXCLUDED = [
  ...['agent', 'list_agents', 'send_message', 'skill', 'monitor', 'loop_wakeup', 'enter_worktree', 'exit_worktree'],
  ...['cron_create', 'cron_list', 'cron_delete', 'get_goal', 'update_goal', 'record_artifact', 'report_findings'],
];

const PASSED = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_MODEL'];

/** What the user has under `~/.qwen` that `inherit: user` brings along. */
const OF_THE_USER = ['QWEN.md', 'skills', 'commands'];

export function createQwen(overlay: CoderDeclaration = {}): Coder {
  const command = overlay.command ?? ['qwen'];
  return {
    name: 'qwen',
    command,
    ...qwenProtocol,
    model: overlay.model,
    env: [...new Set([...PASSED, ...(overlay.env ?? [])])],
    keys: ['OPENAI_API_KEY'],
    hosts: ['portal.qwen.ai', 'chat.qwen.ai', 'dashscope.aliyuncs.com'],
    mcp: true,
    about: { install: 'npm install -g @qwen-code/qwen-code', tried: '0.24.4', least: '0.24.0', by: 'binary' },
    context: [
      { kind: 'instructions', from: 'user', glob: '.qwen/QWEN.md' },
      { kind: 'instructions', from: 'project', glob: 'QWEN.md' },
      { kind: 'instructions', from: 'project', glob: 'AGENTS.md' },
      { kind: 'settings', from: 'user', glob: '.qwen/settings.json' },
      { kind: 'settings', from: 'project', glob: '.qwen/settings.json' },
      { kind: 'skill', from: 'user', glob: '.qwen/skills/*/SKILL.md' },
      { kind: 'skill', from: 'project', glob: '.qwen/skills/*/SKILL.md' },
      { kind: 'skill', from: 'user', glob: '.qwen/agents/*.md' },
      { kind: 'skill', from: 'project', glob: '.qwen/agents/*.md' },
    ],
    upstream: (env) => chatUpstream(env['OPENAI_API_KEY'], env['OPENAI_BASE_URL'] || BASE_URL),
    sessionFile: (session) => ['.qwen', 'projects', '*', 'chats', `${session}.jsonl`],
    start({ runId, tree, home, userHome, model = overlay.model, prompt, inherit, mcp, proxy, resume }) {
      const system = `${home}/.fleet/qwen-settings.json`;
      return {
        argv: [
          ...command,
          ...FLAGS,
          `--allowed-mcp-server-names=${mcp ? serverName(sessionOf(runId)) : NONE}`,
          resume ? `--resume=${resume.id}` : `--session-id=${idOf(runId)}`,
          ...(model ? [`--model=${model}`] : []),
          ...(overlay.args ?? []),
        ],
        stdin: prompt,
        env: {
          HOME: home,
          QWEN_HOME: `${home}/.qwen`,
          QWEN_CODE_SYSTEM_SETTINGS_PATH: system,
          QWEN_CODE_NO_RELAUNCH: 'true',
          QWEN_CODE_SUPPRESS_YOLO_WARNING: '1',
          ...(proxy ? { OPENAI_BASE_URL: `${proxy.url}/v1`, OPENAI_API_KEY: proxy.key } : {}),
        },
        files: {
          [system]: {
            text: JSON.stringify({
              ...settings(inherit),
              ...(mcp
                ? {
                    mcpServers: {
                      [serverName(sessionOf(runId))]: { ...serverOf(mcp), trust: true, alwaysLoadTools: true },
                    },
                  }
                : {}),
            }),
          },
          ...(inherit === 'user' ? usersOwn(`${home}/.qwen`, `${userHome}/.qwen`) : {}),
          ...(resume ? sessionIn(`${home}/.qwen/projects/${slugOf(tree)}/chats`, { tree, resume }) : {}),
        },
      };
    },
  };
}

const usersOwn = (config: string, own: string): AgentStart['files'] =>
  Object.fromEntries(OF_THE_USER.map((name) => [`${config}/${name}`, { link: `${own}/${name}` }]));

/** A session belongs to the folder that its first line names, or to the one that this file beside it says it went to. */
function sessionIn(chats: string, { tree, resume }: { tree: string; resume: { id: string; file: string } }) {
  const status = {
    schema_version: 1,
    pid: 0,
    session_id: resume.id,
    work_dir: tree,
    hostname: '',
    started_at: 0,
    qwen_version: null,
  };
  return {
    [`${chats}/${resume.id}.jsonl`]: { copy: resume.file },
    [`${chats}/${resume.id}.runtime.json`]: { text: JSON.stringify(status) },
  };
}

/** The CLI takes UUIDs of the versions 1 to 5 only. */
const idOf = (runId: string): string => sessionOf(runId).replace(/^(.{14})./, '$14');

function settings(inherit: Inherit): object {
  return {
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    general: { enableAutoUpdate: false, disableAutoUpdate: true },
    // The durable retry is the workflow's: the default is ten more after a 429, a minute each. Seven tries stay, in 76 s.
    model: { generationConfig: { maxRetries: 0 } },
    context: { fileName: inherit === 'none' ? [NONE] : ['QWEN.md', 'AGENTS.md'] },
    memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false, enableAutoSkill: false },
    agents: { crossSessionMessaging: false },
    tools: { exclude: inherit === 'user' ? EXCLUDED.filter((name) => name !== 'skill') : EXCLUDED },
    disableAllHooks: true,
    skills: { disabledLevels: ['project', 'extension', 'bundled', ...(inherit === 'user' ? [] : ['user'])] },
  };
}
