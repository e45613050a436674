/**
 * Files that decide how a result is judged, by ecosystem. Where a task names no scope, acceptance sees them as they are in
 * the base: `tests` where they were changed or deleted, `config` also where they are new. `.fleet.yaml` can name others.
 */
const ECOSYSTEMS: Record<string, { tests: readonly string[]; config: readonly string[] }> = {
  any: {
    tests: ['{test,tests,spec,specs}/**'],
    config: [
      ...['.github/**', '.gitlab-ci.yml', '.gitlab/**', '.circleci/**', '.buildkite/**', '.travis.yml'],
      ...['azure-pipelines*.yml', '**/Jenkinsfile*', '.woodpecker*/**', '.drone.yml'],
      ...['**/{Makefile,makefile,GNUmakefile}', '**/*.mk', '**/{justfile,Justfile,.justfile}', '**/Taskfile.*'],
      ...['.fleet.yaml', '**/.env', '**/.envrc', '**/.tool-versions', '**/mise.toml', '**/.pre-commit-config.yaml'],
    ],
  },
  node: {
    tests: ['**/__tests__/**', '**/__mocks__/**', '**/__snapshots__/**', '**/*.{test,spec,bench}.*', '**/*.snap'],
    config: [
      ...['**/package.json', '**/package-lock.json', '**/npm-shrinkwrap.json', '**/yarn.lock', '**/pnpm-lock.yaml'],
      ...['**/pnpm-workspace.yaml', '**/bun.lock*', '**/.npmrc', '**/.yarnrc*', '**/.pnp.*', '**/.pnpmfile.*'],
      ...['**/node_modules/**', '**/tsconfig*.json', '**/jsconfig*.json', '**/{jest,vitest,vite,babel}.config.*'],
      ...['**/vitest.workspace.*', '**/jest.setup.*', '**/.mocharc*', '**/.babelrc*', '**/.swcrc'],
      ...['**/{playwright,cypress,karma,ava}.config.*', '**/.nycrc*', '**/.c8rc*', '**/.node-version', '**/.nvmrc'],
      ...['**/{deno,turbo,nx,lerna}.json*'],
    ],
  },
  python: {
    tests: ['**/test_*.py', '**/*_test.py', '**/tests/**/*.py'],
    config: [
      ...['**/conftest.py', '**/{pytest,tox}.ini', '**/.pytest.ini', '**/setup.{cfg,py}', '**/pyproject.toml'],
      ...['**/noxfile.py', '**/requirements*.txt', '**/constraints*.txt', '**/Pipfile*', '**/{poetry,uv,pdm}.lock'],
      ...['**/{sitecustomize,usercustomize}.py', '**/*.pth', '**/.coveragerc', '**/.python-version'],
    ],
  },
  go: { tests: ['**/*_test.go', '**/testdata/**'], config: ['**/go.{mod,sum,work}', '**/go.work.sum'] },
  rust: {
    tests: ['**/tests/**/*.rs', '**/benches/**/*.rs'],
    config: ['**/Cargo.{toml,lock}', '**/build.rs', '**/.cargo/**', '**/rust-toolchain*', '**/.config/nextest.toml'],
  },
  java: {
    tests: ['**/src/test/**', '**/src/{integrationTest,testFixtures}/**'],
    config: [
      ...['**/pom.xml', '**/*.gradle', '**/*.gradle.kts', '**/gradle.properties', '**/gradle.lockfile', '**/gradle/**'],
      ...['**/{gradlew,mvnw}*', '**/.mvn/**', '**/build.{xml,sbt}', '**/buildSrc/**'],
    ],
  },
};

const all = (which: 'tests' | 'config'): string[] => Object.values(ECOSYSTEMS).flatMap((one) => one[which]);

export const DEFAULT_TESTS: readonly string[] = all('tests');
export const DEFAULT_CONFIG: readonly string[] = all('config');

/** Files of the same stem stand for each other in imports: `a/b.js`, `a/b`, `a/b/index.ts`, `a/b/__init__.py`. */
export function stemOf(path: string): string {
  const parts = path.split('/');
  const last = (parts.pop() ?? '').replace(/(?<=.)\.[^.]*$/, '');
  return (last === 'index' || last === '__init__' ? parts : [...parts, last]).join('/');
}
