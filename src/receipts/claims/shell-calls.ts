import type { StoredEvent } from '../../domain/agent/event.ts';

// Names of claude's and codex's tools, and of the usual others, in lower case.
const SHELLS = new Set([
  ...['bash', 'shell', 'local_shell', 'command_execution', 'exec_command', 'shell_command', 'powershell'],
  ...['run_shell_command', 'execute_command', 'exec', 'terminal', 'execute'],
]);
const EDITORS = new Set([
  ...['edit', 'multiedit', 'write', 'notebookedit', 'apply_patch', 'file_change', 'write_file', 'create'],
  ...['replace', 'patch', 'create_file', 'edit_file', 'str_replace_editor', 'str_replace_based_edit_tool'],
  ...['delete', 'move'],
  // What a sub-agent did is not always told.
  ...['task', 'agent'],
]);
const CUT = '…';

/** One tool call with its result, as the event stream tells it. */
export interface ToolCall {
  id: string;
  name: string;
  input: string;
  /** Undefined: it was never answered. */
  ok: boolean | undefined;
  output: string;
  shell: boolean;
  /** A tool made to change files; one of an MCP server (`mcp__server__tool`, `server.tool`) may do anything. */
  editor: boolean;
}

export function toolCalls(events: readonly StoredEvent[]): ToolCall[] {
  const results = new Map(events.flatMap((event) => (event.type === 'tool-result' ? [[event.id, event]] : [])));
  return events.flatMap((event) => {
    if (event.type !== 'tool-call') return [];
    const { id, name, input } = event;
    const result = results.get(id);
    const editor = EDITORS.has(name.toLowerCase()) || name.startsWith('mcp__') || name.includes('.');
    return [{ id, name, input, ok: result?.ok, output: result?.output ?? '', shell: isShell(name), editor }];
  });
}

/** Whether a tool of that name runs shell commands. */
export const isShell = (name: string): boolean => SHELLS.has(name.toLowerCase());

/** Whose own calls are not always told. */
export const isSubAgent = ({ name }: ToolCall): boolean =>
  /^(?:task|agent|skill|.*sub_?-?agent|(?:dispatch|spawn|run)_agent|delegate\w*)$/i.test(name);

/** May have run anything, by a name that is no shell's: an MCP server's tool, a sub-agent, `runTests`. */
export const mayRun = (call: ToolCall): boolean =>
  isSubAgent(call) || /^mcp__|\.|run|exec|test|terminal|shell|process/i.test(call.name);

/** Could have changed a file. */
export const isAble = (call: ToolCall): boolean => call.shell || (call.editor && call.ok !== false);

/** The events hold only its begin. */
export const isCut = ({ input }: ToolCall): boolean => input.endsWith(CUT);

/** Programs that only look, move files or talk to git: none of them runs anybody's tests. */
const PLAIN =
  /^(?:cd|ls|cat|head|tail|less|grep|egrep|rg|find|fd|tree|wc|pwd|echo|printf|sort|uniq|cut|tr|diff|cmp|stat|file|which|type|mkdir|rmdir|rm|cp|mv|touch|chmod|ln|git|sed|date|true|test|\[|export|set|sleep|basename|dirname|realpath|readlink)$/;

/** A shell command none of whose programs could have run tests, a build or a linter. */
export function isPlain({ input, output }: ToolCall): boolean {
  // Hooks of git run what they like.
  if (/\bgit\b.*\b(?:commit|push|merge|rebase|am|hook)\b/s.test(input) && /pass|✓|✔|\bok\b|succe/i.test(output))
    return false;
  if (input.endsWith(CUT) || /[`<]|\$\(|\bxargs\b|-exec\b|\balias\b|\bbisect\b/.test(input)) return false;
  const commands = unwrapped(input).split(/\|\||&&|[;|&\n]/);
  return commands.every((command) => {
    const word = /^[\s({]*(?:\w+=\S*\s+)*([^\s)]*)/.exec(command)?.[1] ?? '';
    return word === '' || PLAIN.test(word);
  });
}

/** What codex hands to its shell: `/bin/bash -lc "make"`. */
const unwrapped = (command: string): string => /^\S*sh -l?c (['"])([\s\S]*)\1$/.exec(command)?.[2] ?? command;
