export const isUrl = (repo: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(repo) || /^[^/\s]+@[^/\s]+:/.test(repo);
/** A repository on one machine only. */
export const isPath = (repo: string | null | undefined): repo is string => !!repo && !isUrl(repo);

/** What a repository is called, however its URL is spelled: `github.com/o/tasks`, or an absolute path. */
export function repositoryName(url: string): string {
  const [, host, path] =
    /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@]*@)?([^/]*)(\/.*)$/i.exec(url) ?? /^(?:[^/@\s]+@)?([^/:\s]+):(.*)$/.exec(url) ?? [];
  const local = host === undefined || /^file:/i.test(url);
  if (!local) return trimmed(`${host.toLowerCase()}/${(path ?? '').replace(/^\/+/, '')}`).replace(/\/?\.git$/, '');
  // Beside `/srv/app` there may be another `/srv/app.git`.
  return trimmed(host === undefined ? url : (path ?? '')).replace(/\/\.git$/, '') || '/';
}

const trimmed = (path: string): string => path.replace(/\/+$/, '');
