import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Exercise, Files } from './exercise.ts';

/** How exercises of one language are run as a project of their users would be. */
export interface Ecosystem {
  language: string;
  /** The globs that a sensible user protects. */
  protect: readonly string[];
  setup: readonly string[];
  verify: readonly string[];
  /** Files that the exercise lacks for that. */
  files?: (exercise: Exercise) => Files;
  /** Installs, once for all, what its commands need. @throws where a program or a package is not to be had */
  install?: (exercises: readonly Exercise[]) => void;
}

/** Where packages and caches lie between runs: trials can read them. */
export const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'infinity-fleet-corpus');

function once(name: string, make: (dir: string) => void): void {
  const dir = join(CACHE, name);
  if (existsSync(join(dir, '.complete'))) return;
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  make(dir);
  writeFileSync(join(dir, '.complete'), '');
}

const python: Ecosystem = {
  language: 'python',
  protect: ['*_test.py'],
  setup: [],
  verify: ['python3 -m pytest -q'],
  files: () => ({ '.gitignore': '__pycache__/\n.pytest_cache/\n' }),
};

/** Go builds the standard library once more wherever its cache is empty, which takes half a minute, and refuses one that is read-only. */
const go: Ecosystem = {
  language: 'go',
  protect: ['*_test.go'],
  setup: [`cp -r ${CACHE}/go/cache "$TMPDIR/go-cache"`],
  verify: ['GOCACHE="$TMPDIR/go-cache" go test ./...'],
  install: () =>
    once('go', (dir) => {
      writeFileSync(join(dir, 'go.mod'), 'module warm\n\ngo 1.21\n');
      const imports = [
        'errors',
        'fmt',
        'math',
        'math/rand',
        'os',
        'reflect',
        'regexp',
        'sort',
        'strings',
        'sync',
        'time',
      ];
      const lines = [...imports, 'testing', 'bytes', 'bufio', 'io', 'encoding/json', 'unicode', 'runtime', 'syscall'];
      writeFileSync(
        join(dir, 'warm_test.go'),
        `package warm\n\nimport (\n${lines.map((path) => `\t${path === 'testing' ? '' : '_ '}"${path}"`).join('\n')}\n)\n\nfunc TestWarm(t *testing.T) {}\n`,
      );
      execFileSync('go', ['test', './...'], { cwd: dir, env: { ...process.env, GOCACHE: join(dir, 'cache') } });
    }),
};

const JEST = { jest: '29.7.0', 'babel-jest': '29.7.0', '@babel/core': '7.28.5', '@babel/preset-env': '7.28.5' };

const forNode = ({ tests, files }: Exercise): boolean => tests.some((path) => files[path]?.includes('node:test'));

/** Exercises whose tests do not import `node:test` are for jest. */
const javascript: Ecosystem = {
  language: 'javascript',
  protect: ['*.spec.js', '*.test.js'],
  setup: [],
  verify: ['npm test'],
  files: (exercise) => {
    if (forNode(exercise)) return { 'package.json': '{ "type": "module", "scripts": { "test": "node --test" } }\n' };
    return {
      'package.json': '{ "private": true, "scripts": { "test": "jest" } }\n',
      'babel.config.js': `module.exports = { presets: [['@babel/preset-env', { targets: { node: 'current' } }]] };\n`,
      '.gitignore': 'node_modules\n',
      '.fleet.yaml': fleetYaml({ setup: [`ln -sfn ${CACHE}/jest/node_modules node_modules`], verify: ['npm test'] }),
    };
  },
  install: (exercises) => {
    if (!exercises.every(forNode)) once('jest', (dir) => npmInstall(dir, JEST));
  },
};

const typescript: Ecosystem = {
  language: 'typescript',
  protect: ['*.test.ts'],
  setup: [`ln -sfn ${CACHE}/vitest/node_modules node_modules`],
  verify: ['npm test'],
  files: () => ({
    'package.json': '{ "private": true, "type": "module", "scripts": { "test": "vitest run" } }\n',
    '.gitignore': 'node_modules\n',
  }),
  install: () => once('vitest', (dir) => npmInstall(dir, { vitest: '3.2.4' })),
};

function npmInstall(dir: string, devDependencies: Record<string, string>): void {
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ private: true, devDependencies }));
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: dir, stdio: 'inherit' });
}

const rust: Ecosystem = {
  language: 'rust',
  protect: ['tests/**'],
  setup: [],
  verify: ['cargo test --offline'],
  files: () => ({ '.gitignore': 'target/\nCargo.lock\n' }),
};

/** A local repository of Maven's with what `POM` needs. */
export const MAVEN = join(CACHE, 'maven/repository');

export const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>corpus</groupId>
  <artifactId>exercise</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.junit.jupiter</groupId>
      <artifactId>junit-jupiter</artifactId>
      <version>5.10.0</version>
      <scope>test</scope>
    </dependency>
    <dependency>
      <groupId>org.assertj</groupId>
      <artifactId>assertj-core</artifactId>
      <version>3.25.1</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-compiler-plugin</artifactId>
        <version>3.13.0</version>
      </plugin>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-surefire-plugin</artifactId>
        <version>3.2.5</version>
      </plugin>
    </plugins>
  </build>
</project>
`;

const java: Ecosystem = {
  language: 'java',
  protect: ['src/test/**'],
  setup: [],
  verify: [`mvn -o -q -Dmaven.repo.local=${MAVEN} test`],
  files: () => ({ 'pom.xml': POM, '.gitignore': 'target/\n' }),
  install: () =>
    once('maven', (dir) => {
      mkdirSync(join(dir, 'src/test/java'), { recursive: true });
      writeFileSync(join(dir, 'pom.xml'), POM);
      writeFileSync(
        join(dir, 'src/test/java/WarmTest.java'),
        'class WarmTest { @org.junit.jupiter.api.Test void warm() {} }\n',
      );
      execFileSync('mvn', ['-q', '-B', `-Dmaven.repo.local=${MAVEN}`, 'test'], {
        cwd: dir,
        stdio: 'inherit',
      });
    }),
};

export const ECOSYSTEMS: readonly Ecosystem[] = [python, go, javascript, typescript, rust, java];

const fleetYaml = ({ setup, verify }: Pick<Ecosystem, 'setup' | 'verify'>) => `${JSON.stringify({ setup, verify })}\n`;

/** The exercise as a project that can be tested. */
export function asProject(exercise: Exercise, ecosystem: Ecosystem): Exercise {
  const files = { ...exercise.files, '.fleet.yaml': fleetYaml(ecosystem), ...ecosystem.files?.(exercise) };
  return { ...exercise, files };
}
