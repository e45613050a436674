import { fits } from '../values/wildcard.ts';

/** What cannot be undone, as the owner of a worker declares it: `irreversible` of config.yaml, with what a careful one would want. */

/** A merge into one of these, or into the default branch, is seen by everybody. */
export const PROTECTED_BRANCHES = ['main', 'master', 'trunk', 'production', 'release/*'];

/** Word by word: other words may stand between. `<outside>` is a path outside of the run's own folders. */
export const IRREVERSIBLE_COMMANDS = [
  ...['git push', 'gh pr merge', 'gh release create', 'gh release delete', 'gh repo delete', 'glab mr merge'],
  ...[
    'npm publish',
    'npm unpublish',
    'pnpm publish',
    'yarn publish',
    'yarn npm publish',
    'bun publish',
    'cargo publish',
  ],
  ...['twine upload', 'uv publish', 'poetry publish', 'gem push', 'docker push', 'podman push'],
  ...['kubectl apply', 'kubectl delete', 'helm install', 'helm upgrade', 'helm uninstall', 'terraform apply'],
  ...['terraform destroy', 'tofu apply', 'tofu destroy', 'pulumi up', 'pulumi destroy', 'ansible-playbook'],
  ...[
    'vercel --prod',
    'netlify deploy',
    'fly deploy',
    'flyctl deploy',
    'gcloud deploy',
    'serverless deploy',
    'cdk deploy',
  ],
  ...['rm <outside>', 'rmdir <outside>', 'shred <outside>'],
];

const OUTSIDE = '<outside>';

/** The pattern that a command fits; undefined where none. `words`: its program first, without folders. `own`: folders of the run. */
export function irreversiblePattern(
  words: readonly string[],
  { patterns, own }: { patterns: readonly string[]; own: readonly string[] },
): string | undefined {
  return patterns.find((pattern) => {
    const [program = '', ...rest] = pattern.split(/\s+/).filter(Boolean);
    if (!fits(program, words[0] ?? '')) return false;
    let at = 0;
    return rest.every((part) => {
      const found = words.findIndex(
        (word, index) => index > at && (part === OUTSIDE ? isOutside(word, own) : fits(part, word)),
      );
      at = found;
      return found > 0;
    });
  });
}

function isOutside(word: string, own: readonly string[]): boolean {
  if (/^~($|\/)/.test(word) || /^\$\{?HOME\b/.test(word)) return false;
  if (!word.startsWith('/')) return false;
  if (word.split('/').includes('..')) return true;
  return !['/tmp', '/dev/null', ...own].some((folder) => word === folder || word.startsWith(`${folder}/`));
}

/** Whether a merge into that branch is one; undefined: into the default branch, which always is where any is. */
export const protectedBranch = (into: string | undefined, branches: readonly string[]): string | undefined =>
  into === undefined ? branches[0] && 'the default branch' : branches.find((pattern) => fits(pattern, into));
