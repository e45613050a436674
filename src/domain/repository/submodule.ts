/** Submodules: at which commit, and where from. What stands in `.gitmodules` anybody may have written. */

/** A submodule at the commit that its superproject names, in a base store of its own. */
export interface Submodule {
  /** From the top of the outermost repository. */
  path: string;
  commit: string;
  /** Bare, ours, with only that commit's history. */
  gitDir: string;
}

/** `unreachable`: another time or machine may have it; `refused`: its URL, or that there is none; `no-commit`: its repository lacks it. */
export type NoSubmodule = { ok: false; why: 'unreachable' | 'refused' | 'no-commit'; message: string };
export type Submodules = { ok: true; submodules: Submodule[] } | NoSubmodule;

/** `path`: absolute, on this machine. */
export type SubmoduleOrigin = { ok: true; repo: string; kind: 'url' | 'path' } | { ok: false; why: string };

const LOCAL = /^(?:\/|file:\/\/\/)/;
const HTTPS = /^https:\/\/[^-/\s][^\s]*$/i;
const HTTP = /^http:\/\/[^-/\s][^\s]*$/i;
const SSH = /^ssh:\/\/(?:[\w.%+-]+@)?[^-/@\s][^/@\s]*\/[^-\s]\S*$|^[\w.-]+@[^-/:@\s][^/:@\s]*:(?!-)\S+$/i;

/**
 * The repository that `url` of a `.gitmodules` names, relative ones (`../lib.git`) as git does it: from where the superproject is
 * fetched from, `above`, a URL or an absolute path. Only https, ssh and files; http where the superproject comes by it; a file only
 * below a superproject that is one itself: whoever publishes a repository must not have others' read.
 */
export function submoduleOrigin(url: string, above: string): SubmoduleOrigin {
  const whole = resolved(url, above);
  if (whole === undefined) return no(`its URL ${shown(url)} leads out of ${shown(above)}`);
  if (/[\p{Cc}]/u.test(whole)) return no('its URL has control characters');
  if (LOCAL.test(whole)) {
    if (!LOCAL.test(above)) return no(`its URL ${shown(url)} is a path, and ${shown(above)} is none`);
    return whole.startsWith('/') ? { ok: true, repo: whole, kind: 'path' } : { ok: true, repo: whole, kind: 'url' };
  }
  if (HTTPS.test(whole) || SSH.test(whole) || (HTTP.test(whole) && HTTP.test(above)))
    return { ok: true, repo: whole, kind: 'url' };
  return no(`its URL ${shown(url)} must be an https, ssh or file URL`);
}

const no = (why: string): SubmoduleOrigin => ({ ok: false, why });
const shown = (url: string): string =>
  url
    .replace(/\p{Cc}/gu, ' ')
    .replace(/\/\/[^/@\s]*@/, '//')
    .slice(0, 200);

function resolved(url: string, above: string): string | undefined {
  if (!/^\.\.?(?:\/|$)/.test(url)) return url;
  // The host of a URL, and the root, stay.
  const [, root = '', path = ''] = /^([a-z][a-z0-9+.-]*:\/\/[^/]*\/|[^/\s]+@[^/:\s]+:|\/)(.*)$/i.exec(above) ?? [];
  if (root === '') return undefined;
  const at = path.split('/').filter((part) => part !== '' && part !== '.');
  for (const part of url.split('/').filter((one) => one !== '' && one !== '.')) {
    if (part !== '..') at.push(part);
    else if (at.pop() === undefined) return undefined;
  }
  return root + at.join('/');
}
