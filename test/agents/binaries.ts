import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package folder of its own that holds the agent CLIs. */
export const FOLDER = fileURLToPath(new URL('.', import.meta.url)).replace(/\/$/, '');

/**
 * Absolute paths of the real binaries. They lie in platform packages and are native: claude's own `bin` is a stub that
 * only an install script would replace, and needs Node 22. Throws where one is missing or not of the pinned version.
 */
export function agentBinaries(): { claude: string; codex: string; opencode: string; gemini: string[]; qwen: string[] } {
  for (const [name, version] of Object.entries(packageOf(FOLDER).dependencies ?? {})) {
    const installed = packageOf(join(FOLDER, 'node_modules', name)).version;
    if (installed !== version) throw new Error(`${name} is ${installed}, not ${version}`);
  }
  const here = `${platform()}-${arch()}`;
  const anthropic = join(FOLDER, 'node_modules/@anthropic-ai');
  const vendor = join(FOLDER, `node_modules/@openai/codex-${here}/vendor`);
  // A newer Node than ours may be: qwen wants 22.
  const node = found([join(FOLDER, `node_modules/node-${here}/bin/node`), process.execPath]);
  return {
    claude: found(
      [`claude-code-${here}/claude`, `claude-code-${here}-musl/claude`].map((path) => join(anthropic, path)),
    ),
    opencode: found(
      [`opencode-${here}`, `opencode-${here}-baseline`, `opencode-${here}-musl`].map((name) =>
        join(FOLDER, 'node_modules', name, 'bin/opencode'),
      ),
    ),
    gemini: [node, join(FOLDER, 'node_modules/@google/gemini-cli/bundle/gemini.js')],
    qwen: [node, join(FOLDER, 'node_modules/@qwen-code/qwen-code/cli-entry.js')],
    codex: found(readdirSync(vendor).map((target) => join(vendor, target, 'bin/codex'))),
  };
}

/** Its platform's package: npm's loader in front of the program leaves it alive when it is killed. */
export const COPILOT = `@github/copilot-${platform()}-${arch()}`;
export const copilotBinary = (): string => join(FOLDER, 'node_modules', COPILOT, 'copilot');

function packageOf(folder: string): { version: string; dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
}

function found(candidates: string[]): string {
  const there = candidates.find((path) => existsSync(path));
  if (!there) throw new Error(`none of ${candidates.join(', ')} exists`);
  return there;
}
