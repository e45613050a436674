/** Coders that ship with the product: a `coders` entry of that name may be partial. Each is described in docs/coders.md. */
export const BUILTIN_CODERS = ['claude', 'codex', 'gemini', 'qwen', 'opencode', 'pi', 'copilot', 'amp', 'agy'] as const;

/** What a declared program's output can be read as. */
export const PROTOCOL_NAMES = [
  'claude',
  'codex',
  'gemini',
  'qwen',
  'opencode',
  'pi',
  'copilot',
  'amp',
  'acp',
  'events',
  'none',
] as const;
export type ProtocolName = (typeof PROTOCOL_NAMES)[number];
