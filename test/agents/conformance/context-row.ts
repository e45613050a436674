import { expect } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Inherit } from '../../../src/ports.ts';
import { workspace } from '../run-coder.ts';
import { play } from './play.ts';
import type { Subject } from './subject.ts';

const EVIL = { mcpServers: { evil: { command: 'touch', args: ['touched-by-mcp'] } } };
const SKILL = (canary: string) => `---\nname: x\ndescription: ${canary}\n---\nhi\n`;
const INSTRUCTIONS = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', 'QWEN.md'];
const FOLDERS = [
  '.claude',
  '.agents',
  '.codex',
  '.gemini',
  '.qwen',
  '.opencode',
  '.config/opencode',
  '.copilot',
  '.pi/agent',
];

/** What a repository may hold of any CLI. */
export const REPOSITORY: Record<string, string> = {
  ...Object.fromEntries(INSTRUCTIONS.map((name) => [name, 'CANARY_INSTRUCTIONS\n'])),
  ...Object.fromEntries(FOLDERS.map((name) => [`${name}/skills/x/SKILL.md`, SKILL('CANARY_SKILL')])),
  '.mcp.json': JSON.stringify(EVIL),
  '.gemini/settings.json': JSON.stringify(EVIL),
  // Of another version, it would write the file anew.
  '.qwen/settings.json': JSON.stringify({ $version: 4, ...EVIL }),
  '.codex/config.toml': '[mcp_servers.evil]\ncommand = "touch"\nargs = ["touched-by-mcp"]\n',
  'opencode.json': JSON.stringify({ mcp: { evil: { type: 'local', command: ['touch', 'touched-by-mcp'] } } }),
};

/** What a user may have of any CLI. */
const USER: Record<string, string> = {
  ...Object.fromEntries(
    FOLDERS.flatMap((folder) => INSTRUCTIONS.map((name) => [`${folder}/${name}`, 'CANARY_USER\n'] as const)),
  ),
  ...Object.fromEntries(FOLDERS.map((name) => [`${name}/skills/x/SKILL.md`, SKILL('CANARY_SKILL')])),
};

/** The row `context`: what the model gets to see, and that no server of the repository is started. */
export async function inherited(subject: Subject): Promise<void> {
  expect(await seen(subject, 'none')).toEqual([]);
  expect(await seen(subject, 'project')).toEqual(['CANARY_INSTRUCTIONS']);
}

async function seen(subject: Subject, inherit: Inherit): Promise<string[]> {
  const files = Object.entries(REPOSITORY).filter(([path]) => inherit !== 'none' || path !== subject.loadsAnyway);
  using at = workspace(Object.fromEntries(files));
  for (const [path, text] of Object.entries(USER)) {
    mkdirSync(dirname(join(at.userHome, path)), { recursive: true });
    writeFileSync(join(at.userHome, path), text);
  }
  const { run, requests } = await play(subject, [{ text: 'Done.' }], { at, inherit });
  expect(run.events.at(-1)).toMatchObject({ type: 'ended', ok: true });
  expect(at.git('status', '--porcelain', '--ignored')).toBe('');
  const all = requests.map(({ body }) => body).join('\n');
  return ['CANARY_INSTRUCTIONS', 'CANARY_SKILL', 'CANARY_USER'].filter((canary) => all.includes(canary));
}
