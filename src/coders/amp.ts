import type { Coder } from '../ports.ts';
import { ampProtocol } from './streams/amp.ts';
import type { CoderDeclaration } from './shared/overlay.ts';

/**
 * Amp, unattended, by its documentation: without its vendor's server it does not start, so nothing of it was tried. Its models
 * are chosen and called there: no model of a task reaches it, and no proxy stands between. Its threads lie there as well, so
 * that each run begins a new one.
 */
const FLAGS = ['--execute', '--stream-json', '--dangerously-allow-all'];

export function createAmp(overlay: CoderDeclaration = {}): Coder {
  const command = overlay.command ?? ['amp'];
  return {
    name: 'amp',
    command,
    ...ampProtocol,
    env: [...new Set(['AMP_API_KEY', 'AMP_URL', ...(overlay.env ?? [])])],
    keys: ['AMP_API_KEY'],
    hosts: ['ampcode.com'],
    about: { install: 'npm install --global @sourcegraph/amp', tried: 'none', least: '0.0.0', by: 'recorded' },
    context: [
      { kind: 'instructions', from: 'user', glob: '.config/amp/AGENTS.md' },
      { kind: 'settings', from: 'user', glob: '.config/amp/settings.json' },
      { kind: 'instructions', from: 'project', glob: 'AGENTS.md' },
    ],
    start: ({ home, userHome, prompt, inherit }) => ({
      argv: [...command, ...FLAGS, ...(overlay.args ?? [])],
      stdin: prompt,
      env: { HOME: home },
      files: {
        [`${home}/.local/share/amp/secrets.json`]: { link: `${userHome}/.local/share/amp/secrets.json`, login: true },
        ...(inherit === 'user'
          ? { [`${home}/.config/amp/AGENTS.md`]: { link: `${userHome}/.config/amp/AGENTS.md` } }
          : {}),
      },
    }),
  };
}
