import type { Coder } from '../ports.ts';
import { noProtocol } from './shared/none.ts';
import type { CoderDeclaration } from './shared/overlay.ts';

/**
 * Antigravity CLI, unattended, by what is written of it: its program is not to be had by npm, and nothing of it was tried. It
 * prints text alone, so that its exit code and worktree are the evidence, and its prompt is an argument, of 128 KB at most.
 * Its login is one of the whole machine, in the user's keyring: no proxy, no key, no session that could be carried.
 */
const FLAGS = ['--dangerously-skip-permissions', '--print-timeout=24h'];

export function createAgy(overlay: CoderDeclaration = {}): Coder {
  const command = overlay.command ?? ['agy'];
  return {
    name: 'agy',
    command,
    ...noProtocol,
    model: overlay.model,
    env: overlay.env ?? [],
    hosts: ['*.googleapis.com'],
    about: { install: 'see https://antigravity.google', tried: 'none', least: '0.0.0', by: 'recorded' },
    context: [
      { kind: 'instructions', from: 'user', glob: '.gemini/GEMINI.md' },
      { kind: 'instructions', from: 'project', glob: 'AGENTS.md' },
      { kind: 'instructions', from: 'project', glob: 'GEMINI.md' },
    ],
    start: ({ home, model = overlay.model, prompt }) => ({
      argv: [...command, ...FLAGS, ...(model ? [`--model=${model}`] : []), ...(overlay.args ?? []), '--print', prompt],
      stdin: '',
      env: { HOME: home, AGY_CLI_DISABLE_AUTO_UPDATE: 'true' },
      files: {},
    }),
  };
}
