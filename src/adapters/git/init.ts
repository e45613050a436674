import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export interface InitGitDir {
  dir: string;
  format: ObjectFormat;
  /** The content of HEAD: `ref: refs/heads/x` or a commit id. */
  head: string;
  bare: boolean;
  /** A git dir whose objects, and shallow boundary, are borrowed. */
  borrow?: string;
  identity?: Identity;
}

export type ObjectFormat = 'sha1' | 'sha256';
export interface Identity {
  name: string;
  email: string;
}

/** Bytes in the tree are the bytes of the blob: no line ends, no `$Id$`, no encodings, no filters, whatever .gitattributes says. */
const RAW = '* -text !eol !filter !ident !working-tree-encoding\n';

/** `git init` without the process, a template, or anybody's configuration. */
export function initGitDir(init: InitGitDir): void {
  for (const sub of ['objects/info', 'objects/pack', 'refs/heads', 'info'])
    mkdirSync(`${init.dir}/${sub}`, { recursive: true });
  writeFileSync(`${init.dir}/HEAD`, `${init.head}\n`);
  writeFileSync(`${init.dir}/config`, config(init));
  writeFileSync(`${init.dir}/info/attributes`, init.bare ? RAW.replace('\n', ' !diff\n') : RAW);
  if (!init.borrow) return;
  writeFileSync(`${init.dir}/objects/info/alternates`, `${init.borrow}/objects\n`);
  if (existsSync(`${init.borrow}/shallow`))
    writeFileSync(`${init.dir}/shallow`, readFileSync(`${init.borrow}/shallow`));
}

/** Writes a ref of a repository that only we write to; a full disk leaves the old one. */
export function writeRef(gitDir: string, ref: string, commit: string): void {
  const draft = `${gitDir}/${ref}.lock`;
  mkdirSync(dirname(draft), { recursive: true });
  writeFileSync(draft, `${commit}\n`);
  renameSync(draft, `${gitDir}/${ref}`);
}

export const formatOf = (id: string): ObjectFormat => (id.length === 64 ? 'sha256' : 'sha1');
export const isCommitId = (text: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

function config({ format, bare, identity }: InitGitDir): string {
  return [
    '[core]',
    `\trepositoryformatversion = ${format === 'sha256' ? 1 : 0}`,
    '\tfilemode = true',
    `\tbare = ${bare}`,
    `\tlogallrefupdates = ${!bare}`,
    ...(format === 'sha256' ? ['[extensions]', '\tobjectformat = sha256'] : []),
    ...(identity ? ['[user]', `\tname = ${quote(identity.name)}`, `\temail = ${quote(identity.email)}`] : []),
    '[gc]',
    '\tauto = 0',
    '[maintenance]',
    '\tauto = false',
    '',
  ].join('\n');
}

const quote = (value: string): string => `"${value.replace(/\p{Cc}/gu, ' ').replace(/["\\]/g, '\\$&')}"`;
