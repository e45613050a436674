import type { Entry } from './commands.ts';

/** As typed: `task <id> log`, `task <id> answer <answer>`, `enqueue [words...]`. */
export function usageOf({ name, args = '' }: Entry): string {
  const [group, action] = name.split(' ');
  const [id = '', ...rest] = args.split(' ');
  return (group === 'task' && action ? [group, id, action, ...rest] : [name, args]).join(' ').trim();
}
