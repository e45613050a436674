/**
 * Files that decide how a result is judged, by ecosystem. Where a task names no scope, acceptance sees them as they are in
 * the base: `tests` where they were changed or deleted, `config` also where they are new. `.fleet.yaml` can name others.
 */
export interface Restore {
  tests: readonly string[];
  config: readonly string[];
  /** What a base of this ecosystem has; default: any of both. */
  sign?: readonly string[];
}

const ECOSYSTEMS: Record<string, Restore> = {
  any: {
    tests: [
      '**/{test,tests,Tests,e2e}/**',
      '{Test,spec,specs}/**',
      '**/*.bats',
      // What results are held against. A new one is welcome, as a new test is.
      '**/{fixtures,__fixtures__,golden,goldens}/**',
    ],
    config: [
      ...['.github/**', '.gitlab-ci.yml', '.gitlab/**', '.circleci/**', '.buildkite/**', '.travis.yml'],
      ...['azure-pipelines*.yml', '**/Jenkinsfile*', '.woodpecker*/**', '.drone.yml'],
      ...[
        '**/{Makefile,makefile,GNUmakefile}',
        '**/*.mk',
        '**/{justfile,Justfile,.justfile}',
        '**/Taskfile.*',
        '**/Rakefile',
        '**/CMakeLists.txt',
      ],
      ...[
        '.fleet.yaml',
        '**/.env',
        '**/.env.test',
        '**/.envrc',
        '**/.tool-versions',
        '**/mise.toml',
        '**/.pre-commit-config.yaml',
      ],
    ],
  },
  node: {
    tests: [
      '**/__tests__/**',
      '**/__mocks__/**',
      '**/__snapshots__/**',
      '**/*.{test,spec,bench}.*',
      '**/*.snap',
      ...[
        '**/test.{js,mjs,cjs,ts,mts,cts}',
        '**/test-*.{js,mjs,cjs,ts,mts,cts}',
        '**/*[-_]test.{js,mjs,cjs,ts,mts,cts}',
      ],
    ],
    config: [
      ...['**/package.json', '**/package-lock.json', '**/npm-shrinkwrap.json', '**/yarn.lock', '**/pnpm-lock.yaml'],
      ...['**/pnpm-workspace.yaml', '**/bun.lock*', '**/.npmrc', '**/.yarnrc*', '**/.pnp.*', '**/.pnpmfile.*'],
      ...['**/node_modules/**', '**/tsconfig*.json', '**/jsconfig*.json', '**/{jest,vitest,vite,babel}.config.*'],
      ...['**/vitest.workspace.*', '**/jest.setup.*', '**/.mocharc*', '**/.babelrc*', '**/.swcrc'],
      ...[
        '**/{playwright,cypress,karma,ava}.config.*',
        '**/.nycrc*',
        '**/.c8rc*',
        '**/.taprc',
        '**/{.jasmine,cypress}.json',
        '**/wdio.conf.*',
        '**/jest.preset.*',
        '.yarn/**',
        '**/patches/**',
        '.husky/**',
        '**/.node-version',
        '**/.nvmrc',
      ],
      ...['**/{deno,turbo,nx,lerna}.json*', '**/bunfig.toml', '**/karma.conf.*', '**/{gulp,Grunt}file.*'],
      ...[
        '**/{jest,vitest,playwright}.*.config.*',
        '**/{vitest.setup,{jest,vitest,test,tests}[-_]setup,setup[-_]{jest,vitest,test,tests}}.*',
        '**/setupTests.*',
        '**/.eslintrc*',
        '**/eslint.config.*',
        '**/biome.json*',
        '**/.prettierrc*',
      ],
    ],
  },
  python: {
    tests: ['**/test_*.py', '**/*_test.py', '**/tests.py', '**/tests/**/*.py'],
    config: [
      ...[
        '**/conftest.py',
        '**/{pytest,tox}.{ini,toml}',
        '**/.pytest.{ini,toml}',
        '**/setup.{cfg,py}',
        '**/pyproject.toml',
      ],
      ...['**/noxfile.py', '**/requirements*.txt', '**/constraints*.txt', '**/Pipfile*', '**/{poetry,uv,pdm}.lock'],
      ...[
        '**/{sitecustomize,usercustomize}.py',
        '**/*.pth',
        '**/*.{dist,egg}-info/**',
        '**/.coveragerc',
        '**/.python-version',
      ],
      ...['**/{ruff,.ruff}.toml', '**/mypy.ini', '**/.flake8', '{unittest,pytest}.py', '{unittest,pytest}/**'],
    ],
  },
  go: {
    tests: ['**/*_test.go', '**/testdata/**'],
    // A vendor folder takes the place of every package that it names.
    config: ['**/go.{mod,sum,work}', '**/go.work.sum', '**/.golangci.*', '**/vendor/**'],
    sign: ['**/go.{mod,work}', '**/*.go'],
  },
  rust: {
    tests: ['**/tests/**/*.rs', '**/benches/**/*.rs', '**/{test,tests}.rs', '**/*_{test,tests}.rs'],
    config: ['**/Cargo.{toml,lock}', '**/build.rs', '**/.cargo/**', '**/rust-toolchain*', '**/.config/nextest.toml'],
  },
  java: {
    tests: ['**/src/test/**', '**/src/{*Test,testFixtures}/**'],
    config: [
      ...['**/pom.xml', '**/*.gradle', '**/*.gradle.kts', '**/gradle.properties', '**/gradle.lockfile', '**/gradle/**'],
      ...['**/{gradlew,mvnw}*', '**/.mvn/**', '**/build.{xml,sbt}', '**/buildSrc/**'],
      ...['**/junit-platform.properties', '**/META-INF/services/org.{junit,testng}*'],
    ],
  },
};

export const DEFAULT_RESTORE: readonly Restore[] = Object.values(ECOSYSTEMS);

/** The globs of all test files. */
export const testGlobs = (restore: readonly Pick<Restore, 'tests'>[]): string[] =>
  restore.flatMap(({ tests }) => [...tests]);

/** Files of the same stem stand for each other in imports: `a/b.js`, `a/b`, `a/b/index.ts`, `a/b/__init__.py`. */
export function stemOf(path: string): string {
  const parts = path.split('/');
  const last = (parts.pop() ?? '').replace(/(?<=.)\.[^.]*$/, '');
  return (last === 'index' || last === '__init__' ? parts : [...parts, last]).join('/');
}
