import type { CoderDeclaration } from '../../../src/coders/shared/overlay.ts';
import { createCoders } from '../../../src/coders/registry.ts';
import { createCopilot } from '../../../src/coders/copilot.ts';
import { agentBinaries, copilotBinary } from '../binaries.ts';
import { scriptedAt } from '../scenario.ts';
import { byProxy, type Setup, type Subject } from './subject.ts';

const builtin = (name: string, coders: Record<string, CoderDeclaration>, env: Record<string, string>): Setup => ({
  coder: createCoders(coders).get(name)!,
  env,
});

/** Each coder with its real binary and a scripted model at a base URL without the version folder. */
export const SETUPS = {
  claude: (url) => builtin('claude', scriptedAt(url).coders, scriptedAt(url).env),
  codex: (url) => builtin('codex', scriptedAt(url).coders, scriptedAt(url).env),
  gemini: (url) => behind(url, 'gemini', { command: agentBinaries().gemini, model: 'gemini-2.5-pro' }),
  qwen: (url) => behind(url, 'qwen', { command: agentBinaries().qwen, model: 'qwen3-coder-plus' }),
  opencode: (url) => behind(url, 'opencode', { command: [agentBinaries().opencode], model: 'scripted' }),
} as const satisfies Record<string, Subject['setup']>;

/** Apart: what it costs to start is not measured. */
export const COPILOT_SETUP: Subject['setup'] = (url) => ({
  coder: byProxy(createCopilot({ command: [copilotBinary()], model: 'gpt-5.4' }), url, 'openai-responses'),
  env: { COPILOT_PROVIDER_WIRE_API: 'responses' },
});

function behind(url: string, name: string, declared: CoderDeclaration): Setup {
  const api = name === 'gemini' ? 'gemini' : 'openai-chat';
  return { ...builtin(name, { [name]: declared }, {}), proxy: { url, key: 'sk-scripted-000003', api } };
}
