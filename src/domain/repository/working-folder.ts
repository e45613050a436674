/** `packages/web` for `./packages/web/`; undefined: the repository's top. */
export function normalFolder(cwd: string | undefined): string | undefined {
  const parts = (cwd ?? '').split('/').filter((part) => part !== '' && part !== '.');
  return parts.length > 0 ? parts.join('/') : undefined;
}

/** The same command, typed at the repository's top. A command of several parts stays one. */
export function inFolder(cwd: string | undefined, command: string): string {
  const folder = normalFolder(cwd);
  if (folder === undefined) return command;
  const to = /^[\w./@-]+$/.test(folder) && !folder.startsWith('-') ? folder : quoted(folder);
  return `cd ${to} && ${/[;&|\n#]/.test(command) ? `(\n${command}\n)` : command}`;
}

export const noFolder = (folder: string, base: string): string =>
  `cwd ${folder} is no folder of ${base.slice(0, 12)}, where the task starts`;

const quoted = (text: string): string => `'./${text.replaceAll("'", String.raw`'\''`)}'`;
