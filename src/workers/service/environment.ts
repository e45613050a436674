import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, isAbsolute } from 'node:path';
import { serviceEnv } from '../../domain/service/start-script.ts';

/** As a service gets it: folders of programs that are here to stay, node's own first, and FLEET_HOME said outright. */
export function environmentFor(env: NodeJS.ProcessEnv, home: string): Record<string, string> {
  const folders = [dirname(process.execPath), ...(env['PATH'] ?? '').split(delimiter)];
  const path = [...new Set(folders)].filter((folder) => isAbsolute(folder) && !passes(folder) && isFolder(folder));
  return { ...serviceEnv(env), PATH: path.join(delimiter), FLEET_HOME: home };
}

/** It is gone with a shell, or with a login. */
const passes = (folder: string): boolean =>
  folder.startsWith('/run/user/') || folder.startsWith(`${tmpdir()}/`) || folder.endsWith('/node_modules/.bin');

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

const MANAGERS = /\/(\.nvm|\.fnm|fnm|\.volta|\.asdf|\.nodenv|nodenv|mise|\.n|nvs)\//;

/** What may be gone one day without anybody thinking of the service, a sentence each. */
export function passingPaths({ node, main }: { node: string; main: string }): string[] {
  return [
    ...(MANAGERS.test(node)
      ? [`node is ${node}, of a version manager: once that removes it, run fleet worker install again`]
      : []),
    ...(main.includes('/_npx/')
      ? [`the command is ${main}, in npx's cache, which npm may clear: install it first`]
      : []),
  ];
}
