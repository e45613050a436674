import { parseDocument } from 'yaml';
import { repoFile, type RepoFile } from '../../domain/repository/repo-policy.ts';
import { firstIssue } from '../../domain/artifact/first-issue.ts';

/** A repository's `.fleet.yaml`; empty text is an empty one. The message names the file and the key. */
export function parseRepoFile(text: string): { ok: true; file: RepoFile } | { ok: false; message: string } {
  const invalid = (message: string) => ({ ok: false, message: `.fleet.yaml: ${message}` }) as const;
  const document = parseDocument(text);
  if (document.errors[0]) return invalid(document.errors[0].message.split('\n', 1)[0] ?? 'not YAML');
  const parsed = repoFile.safeParse(document.toJS() ?? {});
  return parsed.success ? { ok: true, file: parsed.data } : invalid(firstIssue(parsed.error));
}
