import { basename } from 'node:path';
import { MAVEN, POM } from '../../corpus/generate/ecosystems.ts';

interface Layout {
  command: string;
  options?: { links?: Record<string, string>; results?: string[] };
  /** Files that all exercises share, by those of them. */
  around(files: Record<string, string>): Record<string, string>;
  /** Where an example of this path goes. */
  solutionOf(example: string, solutions: readonly string[]): string;
  /** Exercism skips every test but the first. */
  enable(tests: string): string;
  /** Other files of an exercise. */
  more?: string[];
  /** A path and a text of an exercise as they lie beside those of others; undefined: below a folder of its name. */
  beside?(path: string, text: string, slug: string): [path: string, text: string];
  /** Whether an exercise needs what is not here, by its build file. */
  leavesOut?: { path: string; text: RegExp };
}

const first = (_example: string, [solution = '']: readonly string[]): string => solution;

/** How the tests of all exercises run at once. */
export const LANGUAGES: Record<string, Layout> = {
  python: {
    command: 'python3 -m pytest -q -p no:cacheprovider --tb=no',
    around: () => ({}),
    solutionOf: first,
    enable: (tests) => tests,
  },
  go: {
    command: 'go test ./...',
    around: () => ({ 'go.mod': 'module exercises\n\ngo 1.18\n' }),
    solutionOf: first,
    enable: (tests) => tests,
  },
  rust: {
    // One that does not build keeps no other from running.
    command: 'for crate in */Cargo.toml; do cargo test -q --no-fail-fast --tests --manifest-path $crate; done',
    around: (files) => ({
      'Cargo.toml': `[workspace]\nmembers = [${Object.keys(files)
        .filter((path) => path.endsWith('/Cargo.toml'))
        .map((path) => `"${path.split('/')[0]}"`)
        .join(', ')}]\nresolver = "2"\n`,
    }),
    solutionOf: (example, solutions) => (example.endsWith('.toml') ? 'Cargo.toml' : first(example, solutions)),
    enable: (tests) => tests.replace(/^#\[ignore\b.*\]$/gm, ''),
    more: ['Cargo.toml', 'src/pre_implemented.rs'],
  },
  java: {
    command: `mvn -o -q -Dmaven.repo.local=${MAVEN} -Dmaven.test.failure.ignore test`,
    around: () => ({ 'pom.xml': POM }),
    solutionOf: (example, solutions) =>
      example.startsWith('.meta/src/reference/java/')
        ? `src/main/java/${basename(example)}`
        : first(example, solutions),
    enable: (tests) => tests.replace(/^\s*@Disabled\b.*$/gm, ''),
    // A package for each, as all have none.
    beside: (path, text, slug) => {
      const name = `p${slug.replaceAll('-', '')}`;
      return [path.replace(/^(src\/(?:main|test)\/java)\//, `$1/${name}/`), `package ${name}; ${text}`];
    },
    leavesOut: { path: 'build.gradle', text: /mplementation ["'](?!org\.(junit|assertj))/ },
  },
  javascript: {
    command: 'node --experimental-vm-modules node_modules/.bin/jest --silent --maxWorkers=2',
    options: { links: { node_modules: 'node_modules' } },
    around: () => ({
      'package.json': JSON.stringify({ type: 'commonjs' }),
      'jest.config.js': `module.exports = { transform: { '\\\\.js$': ['@swc/jest', { module: { type: 'commonjs' } }] } };`,
    }),
    solutionOf: (example, [solution = '']) => (example.includes('proof') ? solution : basename(example)),
    enable: (tests) => tests.replace(/\bx(test|it|describe)\b/g, '$1').replace(/\b(test|it|describe)\.skip\b/g, '$1'),
  },
};
