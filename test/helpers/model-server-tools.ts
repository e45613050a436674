import type { Call, DeclaredTool, ToolStep } from './model-server.ts';

/** What agent CLIs call the tools that a step may want, and the arguments of these. */
const NAMES = {
  sh: ['Bash', 'bash', 'run_shell_command', 'exec_command', 'shell_command', 'shell'],
  write: ['Write', 'write', 'write_file', 'create'],
  read: ['Read', 'read', 'read_file', 'view'],
};
const PATHS = ['file_path', 'filePath', 'absolute_path', 'path'];
const TEXTS = ['content', 'file_text', 'text'];

/** The step in the words of the tools that a request offers; where it has no tool of its own, by the shell. */
export function callOf(step: ToolStep, offered: DeclaredTool[], cwd: string): Call {
  const at = (path: string) => (path.startsWith('/') ? path : `${cwd}/${path}`);
  if ('use' in step) return used(step, offered);
  if ('find' in step) throw new Error('only codex looks for its tools');
  if ('sh' in step) return shell(step.sh, offered);
  if ('read' in step) {
    const tool = find('read', offered);
    if (!tool) return shell(`cat '${step.read}'`, offered);
    return { name: tool.name, input: { [keyOf(tool, PATHS)]: at(step.read) } };
  }
  const tool = find('write', offered);
  if (!tool) return shell(`cat > '${step.write}' <<'END'\n${step.content.replace(/\n$/, '')}\nEND`, offered);
  return { name: tool.name, input: { [keyOf(tool, PATHS)]: at(step.write), [keyOf(tool, TEXTS)]: step.content } };
}

/** @throws where no such tool is offered */
export function used({ use, input }: Extract<ToolStep, { use: string }>, offered: DeclaredTool[]): Call {
  const tool = offered.find(({ name }) => name.endsWith(use));
  if (!tool) throw new Error(`no ${use} among the tools offered: ${offered.map(({ name }) => name).join(', ')}`);
  return { name: tool.name, input, ...(tool.namespace ? { namespace: tool.namespace } : {}) };
}

function shell(command: string, offered: DeclaredTool[]): Call {
  const tool = find('sh', offered);
  if (!tool) throw new Error(`no shell among the tools offered: ${offered.map(({ name }) => name).join(', ')}`);
  return {
    name: tool.name,
    input: {
      [keyOf(tool, ['command', 'cmd'])]: command,
      ...('description' in tool.properties ? { description: 'Run a command' } : {}),
      ...('is_background' in tool.properties ? { is_background: false } : {}),
    },
  };
}

const find = (kind: keyof typeof NAMES, offered: DeclaredTool[]) =>
  NAMES[kind].flatMap((name) => offered.find((tool) => tool.name === name) ?? [])[0];

const keyOf = ({ properties }: DeclaredTool, names: string[]): string =>
  names.find((name) => name in properties) ?? names[0]!;
