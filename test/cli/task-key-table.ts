/** Every key of a task with a value that is not its default, and the flag that says it. A new key needs its line here. */

export interface Fields {
  [field: string]: unknown;
}
export interface Key {
  /** Never its default: what gets lost on the way would not be seen. */
  value: unknown;
  /** As typed; missing: the key has no flag, and is for files and programs. */
  flags?: string[];
}

export const OBJECTIVE = 'Add a /health endpoint';
export const BASE = '<base>';
export const REPO = '<repo>';
export const FIRST = 'first-task';
const SEALED = '-----BEGIN AGE ENCRYPTED FILE-----\nAAAA\n-----END AGE ENCRYPTED FILE-----';

export const KEYS: Record<string, Key> = {
  title: { value: 'Health', flags: ['--title', 'Health'] },
  type: { value: 'review', flags: ['--type', 'review'] },
  repo: { value: REPO, flags: ['--repo', REPO] },
  machine: { value: 'desk' },
  cwd: { value: 'web', flags: ['--cwd', 'web'] },
  submodules: { value: 'none', flags: ['--submodules', 'none'] },
  base: { value: BASE, flags: ['--base', BASE] },
  continueFrom: { value: BASE, flags: ['--continue-from', BASE] },
  queue: { value: 'nightly', flags: ['--queue', 'nightly'] },
  coder: { value: 'claude', flags: ['--coder', 'claude'] },
  model: { value: 'opus', flags: ['--model', 'opus'] },
  credential: { value: 'main', flags: ['--credential', 'main'] },
  priority: { value: 20, flags: ['--priority', '20'] },
  'scope.allow': { value: ['src/**', 'a.txt'], flags: ['--allow', 'src/**', '--allow', 'a.txt'] },
  'scope.protect.paths': { value: ['test/**'], flags: ['--protect', 'test/**'] },
  'scope.protect.new': { value: 'refuse', flags: ['--protect-new', 'refuse'] },
  'verify.commands': { value: ['npm ci', 'npm test'], flags: ['--verify', 'npm ci', '--verify', 'npm test'] },
  'verify.failToPass': { value: ['health > answers'] },
  'verify.control': { value: true },
  'verify.retries': { value: 2 },
  'verify.results': { value: ['out/*.xml'] },
  'verify.heldOut': { value: [{ path: 'check.sh' }, { sealed: SEALED }] },
  'verify.challenge': { value: 'off' },
  'verify.where': { value: 'other' },
  'review.coder': { value: 'codex', flags: ['--review', 'codex'] },
  'review.model': { value: 'o3' },
  'review.gate': { value: true },
  'review.timeout': { value: '5m' },
  artifacts: { value: ['report.md'], flags: ['--artifacts', 'report.md'] },
  'limits.total': { value: '1h', flags: ['--total', '1h'] },
  'limits.idle': { value: '5m', flags: ['--idle', '5m'] },
  'limits.verify': { value: '7m' },
  'limits.tokens': { value: 1_000, flags: ['--tokens', '1000'] },
  'limits.costUsd': { value: 2.5, flags: ['--cost', '2.5'] },
  'limits.memory': { value: '1GB' },
  'limits.processes': { value: 64 },
  'limits.disk': { value: '3GB' },
  'retry.maxAttempts': { value: 7, flags: ['--max-attempts', '7'] },
  'retry.backoff': { value: '3s', flags: ['--backoff', '3s'] },
  resume: { value: false },
  deliver: { value: 'merge', flags: ['--deliver', 'merge'] },
  into: { value: 'release', flags: ['--into', 'release'] },
  'pr.draft': { value: true, flags: ['--draft'] },
  'pr.labels': { value: ['bot'] },
  'pr.until': { value: 'merged', flags: ['--until', 'merged'] },
  'pr.tries': { value: 1 },
  dependsOn: { value: [FIRST], flags: ['--needs', FIRST] },
  onDependencyFailure: { value: 'run', flags: ['--on-dependency-failure', 'run'] },
  overlap: { value: 'serialize', flags: ['--scope-overlap', 'serialize'] },
  approval: { value: 'both', flags: ['--approval', 'both'] },
  producer: { value: 'jean', flags: ['--producer', 'jean'] },
  ageing: { value: '2h', flags: ['--ageing', '2h'] },
  context: { value: 'As it was said on Monday.' },
  'callback.task': { value: FIRST },
  'callback.webhook': { value: 'https://example.com/hook' },
  'callback.message': { value: true },
  agentTools: { value: ['propose'] },
  labels: { value: ['night', 'api'], flags: ['--label', 'night', '--label', 'api'] },
  network: { value: ['model', 'example.org'], flags: ['--network', 'model', '--network', 'example.org'] },
  env: { value: ['CI', 'LANG'], flags: ['--env', 'CI', '--env', 'LANG'] },
};
/** It rules out the coder. */
export const OUTSIDE: Record<string, Key> = { for: { value: 'jean', flags: ['--for', 'jean'] } };
/** What only a hand-off says of a task: clients refuse them. */
export const REFUSED: Record<string, Key> = { parent: { value: FIRST }, proposed: { value: true } };

/** A flag only names the file: its checks are for files and programs. */
const CHECKED: Key = {
  value: [{ path: 'report.md', schema: 'web/schema.json', matches: '^# ', links: true, quotes: ['web/**'] }],
};

const flagged = (keys: Record<string, Key>) =>
  Object.fromEntries(Object.entries(keys).filter(([, { flags }]) => flags));
export const argv = (keys: Record<string, Key>): string[] => Object.values(keys).flatMap(({ flags = [] }) => flags);

/** Of flag, file and program alike: everything that a flag can say, everything else as well, and what does not go with those. */
export const INPUTS = {
  flagged: flagged(KEYS),
  whole: { ...KEYS, artifacts: CHECKED },
  outside: { repo: KEYS['repo']!, base: KEYS['base']!, ...OUTSIDE },
};
