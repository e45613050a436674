import { failpoint } from '../../failpoint.ts';
import { git, GitFailed, lastLine, redact } from '../git.ts';
import type { Identity } from '../init.ts';
import { listRemote } from '../source/mirror.ts';
import { fail, failGit, type Failed } from '../failures.ts';
import type { QueuePlace, Tip } from './look.ts';

export interface QueueWrite {
  place: QueuePlace;
  /** What the new commit comes after. */
  on: Tip;
  files: readonly { path: string; mode: string; text: string }[];
  message: string;
  identity: Identity;
}

/** `moved`: somebody else was first. */
export type Written = { ok: true; commit: string } | { ok: false; moved: true } | (Failed & { moved?: false });

const PUSH_MS = 2 * 60_000;
const PUSH = ['push', '--quiet', '--no-verify', '--no-follow-tags', '--no-signed', '--recurse-submodules=no'];

/** One commit of these files on the remote's branch, or nothing: never over somebody else's. Every other file stays. */
export async function writeQueue(write: QueueWrite): Promise<Written> {
  const { place, on } = write;
  try {
    const commit = await commitFiles(write);
    failpoint('sync.committed');
    return await push(place, { on, commit });
  } catch (error) {
    return failGit(error, 'repo-unavailable', `${redact(place.url)} did not take the commit`);
  }
}

async function commitFiles({ place, on, files, message, identity }: QueueWrite): Promise<string> {
  const plain = (text: string): string => text.replace(/[\p{Cc}<>]/gu, ' ').trim() || 'unknown';
  const who = `${plain(identity.name)} <${plain(identity.email).replaceAll(' ', '')}>`;
  const parts: (string | Buffer)[] = [
    // Without a parent it would go on from the last commit of that name.
    'reset refs/queue/next\n\n',
    `commit refs/queue/next\nmark :1\ncommitter ${who} ${Math.floor(Date.now() / 1_000)} +0000\n`,
    ...data(`${message}\n`),
    ...(on.commit ? [`from ${on.commit}\n`] : []),
    ...files.flatMap(({ path, mode, text }) => [`M ${mode} inline ${quote(path)}\n`, ...data(text)]),
    'get-mark :1\ndone\n',
  ];
  const input = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const out = await git(['fast-import', '--quiet', '--done', '--force'], { gitDir: place.gitDir, input });
  return out.toString('utf8').trim();
}

const data = (text: string): string[] => [`data ${Buffer.byteLength(text)}\n`, text, '\n'];
const quote = (path: string): string => `"${path.replace(/["\\]/g, '\\$&')}"`;

async function push(place: QueuePlace, { on, commit }: { on: Tip; commit: string }): Promise<Written> {
  const { url, gitDir } = place;
  try {
    await git([...PUSH, `--force-with-lease=${on.ref}:${on.commit ?? ''}`, '--', url, `${commit}:${on.ref}`], {
      gitDir,
      network: true,
      timeoutMs: PUSH_MS,
    });
    return { ok: true, commit };
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    // What stands there decides, not what git said.
    const remote = await listRemote(url, [on.ref]);
    if (!remote.ok) return remote;
    const there = remote.refs.get(on.ref) ?? null;
    if (there === commit) return { ok: true, commit };
    if (there !== on.commit || LOCKED.test(error.stderr)) return { ok: false, moved: true };
    return fail('repo-unavailable', `${redact(url)} did not take the commit: ${whyNot(error.stderr)}`);
  }
}

/** Somebody else was pushing at the same instant. */
const LOCKED = /cannot lock ref|incorrect old value|reference already exists|unable to create .*\.lock/i;

function whyNot(stderr: string): string {
  if (/branch is currently checked out/i.test(stderr))
    return 'its branch is checked out there: use a bare repository (git clone --bare)';
  const [, refusal] = /^ ! \[[^\]]*\] .*\((.+)\)$/m.exec(stderr) ?? [];
  return refusal ?? (lastLine(stderr) || 'git said nothing');
}
