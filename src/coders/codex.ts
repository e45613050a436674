import { basename } from 'node:path';
import type { Coder } from '../ports.ts';
import { codexProtocol } from './codex-stream.ts';
import type { CoderDeclaration } from './overlay.ts';

/**
 * Codex CLI, unattended, by `codex exec`. Command line as observed on 0.169.0 (`facts/coders.md`, section 4).
 *
 * No sandbox of its own: it breaks commits without a word (`index.lock: Read-only file system`); the run's namespace is
 * the boundary. Clean context: CODEX_HOME is the run's own, with the configuration below. The repository's AGENTS.md
 * counts; its `.codex/config.toml`, rules and skills do not.
 */
const FLAGS = [
  'exec',
  '--json',
  '--dangerously-bypass-approvals-and-sandbox',
  '--skip-git-repo-check',
  '--ignore-rules',
  '--config=skills.include_instructions=false',
];

// `unbounded_connection_retries` prints "Reconnecting" for ever without a network, which looks like progress.
const OFF = ['apps', 'plugins', 'goals', 'multi_agent', 'image_generation', 'unbounded_connection_retries'];

/** The key stays out of the environment of the agent's commands. `--json` shows neither refusals nor error codes. */
const CONFIG = `check_for_update_on_startup = false

[analytics]
enabled = false

[shell_environment_policy]
exclude = ["CODEX_API_KEY", "OPENAI_API_KEY"]
`;

export function createCodex(overlay: CoderDeclaration = {}): Coder {
  const command = overlay.command ?? ['codex'];
  return {
    name: 'codex',
    command,
    ...codexProtocol,
    model: overlay.model,
    // `codex exec` does not read OPENAI_API_KEY (tried): a provider of one's own can, by `args` and `env`.
    env: [...new Set(['CODEX_API_KEY', ...(overlay.env ?? [])])],
    sessionFile: (session) => ['.codex', 'sessions', '*', '*', '*', `rollout-*-${session}.jsonl`],
    start({ tree, home, userHome, model = overlay.model, prompt, resume }) {
      const config = `${home}/.codex`;
      return {
        argv: [
          ...command,
          ...FLAGS,
          ...OFF.map((feature) => `--disable=${feature}`),
          `--cd=${tree}`,
          ...(model ? [`--model=${model}`] : []),
          ...(overlay.args ?? []),
          ...(resume ? ['resume', resume.id] : []),
          '-',
        ],
        stdin: prompt,
        env: { HOME: home, CODEX_HOME: config },
        files: {
          // A link, never a copy: refresh tokens are single-use, and a second copy revokes the login.
          [`${config}/auth.json`]: { link: `${userHome}/.codex/auth.json` },
          [`${config}/config.toml`]: { text: CONFIG },
          // Any date will do: the CLI looks for the id.
          ...(resume ? { [`${config}/sessions/2000/01/01/${basename(resume.file)}`]: { copy: resume.file } } : {}),
        },
      };
    },
  };
}
