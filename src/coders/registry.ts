import type { BUILTIN_CODERS, ProtocolName } from '../domain/task/coder-names.ts';
import type { Coder, StartInput } from '../ports.ts';
import { createAgy } from './agy.ts';
import { createAmp } from './amp.ts';
import { ampProtocol } from './streams/amp.ts';
import { createClaude } from './claude.ts';
import { claudeProtocol } from './streams/claude.ts';
import { createCodex } from './codex.ts';
import { codexProtocol } from './streams/codex.ts';
import { conversationOf, driven, driveProtocol } from './shared/drive.ts';
import { createCopilot } from './copilot.ts';
import { copilotProtocol } from './streams/copilot.ts';
import { createGemini } from './gemini.ts';
import { geminiProtocol } from './streams/gemini.ts';
import { serverOf } from './shared/mcp.ts';
import { noProtocol } from './shared/none.ts';
import { createOpencode } from './opencode.ts';
import { opencodeProtocol } from './streams/opencode.ts';
import { createQwen } from './qwen.ts';
import { qwenProtocol } from './streams/qwen.ts';
import type { CoderDeclaration, Protocol } from './shared/overlay.ts';
import { createPi } from './pi.ts';
import { piProtocol } from './streams/pi.ts';

export const PROTOCOLS = {
  claude: claudeProtocol,
  codex: codexProtocol,
  gemini: geminiProtocol,
  qwen: qwenProtocol,
  opencode: opencodeProtocol,
  pi: piProtocol,
  copilot: copilotProtocol,
  amp: ampProtocol,
  /** The Agent Client Protocol, by a driver. */
  acp: driveProtocol,
  /** Our own events, as a driver prints them. */
  events: driveProtocol,
  none: noProtocol,
} as const satisfies Record<ProtocolName, Protocol>;

const BUILTIN: Record<(typeof BUILTIN_CODERS)[number], (overlay: CoderDeclaration) => Coder> = {
  claude: createClaude,
  codex: createCodex,
  gemini: createGemini,
  qwen: createQwen,
  opencode: createOpencode,
  pi: createPi,
  copilot: createCopilot,
  amp: createAmp,
  agy: createAgy,
};

/**
 * Every coder by name: the builtin ones, with what the configuration lays over them, then the declared ones. An entry
 * with a protocol is a declaration of its own, also under a builtin's name. One with neither that nor a builtin's name
 * is not a coder: the configuration's schema has refused it.
 */
export function createCoders(declared: Readonly<Record<string, CoderDeclaration>> = {}): ReadonlyMap<string, Coder> {
  const builtin = Object.entries(BUILTIN).map(([name, create]) => create(declared[name] ?? {}));
  const own = Object.entries(declared).flatMap(([name, entry]) => declare(name, entry) ?? []);
  return new Map([...builtin, ...own].map((coder) => [coder.name, coder]));
}

const toolsOf = ({ mcp }: StartInput) => (mcp ? { mcp: serverOf(mcp) } : {});

/** Gets the prompt by stdin and a HOME of its own; its argv is exactly what was declared, behind a driver where it needs one. */
function declare(
  name: string,
  { command, protocol, args = [], env = [], model, auth, mode }: CoderDeclaration,
): Coder | undefined {
  if (!command || !protocol) return undefined;
  return {
    name,
    command,
    ...PROTOCOLS[protocol],
    ...(protocol === 'acp' ? { mcp: true } : {}),
    env,
    start: (order) => {
      const chosen = order.model ?? model;
      const argv = [...command, ...args];
      return {
        argv:
          protocol === 'acp'
            ? driven({
                ...{ protocol, command: argv, ...conversationOf(order, chosen), ...toolsOf(order) },
                ...(auth ? { auth } : {}),
                ...(mode ? { mode } : {}),
              })
            : argv,
        stdin: order.prompt,
        env: {
          HOME: order.home,
          ...(chosen ? { FLEET_MODEL: chosen } : {}),
          // Claude's adapter offers root no mode that asks nobody without it.
          ...(protocol === 'acp' && process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {}),
        },
        files: {},
      };
    },
  };
}
