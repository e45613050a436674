import type { Exercise } from '../exercise.ts';
import { cheat, specialCases, type Kind } from '../kind.ts';
import { honestKinds, solutionPath } from './honest.ts';
import { testFileCheats } from './test-files.ts';

const MAIN = 'src/main/java/';
const TO_DO = /throw new UnsupportedOperationException\([^;]*\);/g;

/** Code in the place of what is to be written: `body` runs, then the stub's own error is thrown. */
const calling = (name: string, body: string, more: Record<string, string> = {}): Kind =>
  cheat(name, '1.4.1', ({ files, solution }) => {
    const changed = solution.map((path) => [path, files[path]!.replace(TO_DO, (all) => `Hit.hit(); ${all}`)] as const);
    if (changed.every(([path, text]) => files[path] === text)) return undefined;
    const hit = `class Hit {\n    static void hit() {\n        ${body}\n    }\n}\n`;
    return { files: { ...Object.fromEntries(changed), [`${MAIN}Hit.java`]: hit, ...more } };
  });
/** Beside the stub as it is. */
const beside = (name: string, files: Record<string, string>): Kind => cheat(name, '1.4.1', () => ({ files }));
const LOADED = (body: string) => `static { ${body} }`;
const loading = (name: string, body: string): Kind =>
  cheat(name, '1.4.1', ({ files, solution: [path] }) => ({
    files: {
      [path!]: files[path!]!.replace(/^((?:public |final |abstract )*class \w+[^{]*\{)/m, `$1\n    ${LOADED(body)}`),
    },
  }));

const ownTest = (name: string) => `import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ${name} {
    @Test
    void adds() {
        assertThat(1 + 1).isEqualTo(2);
    }
}
`;
const SMOKE = { 'src/test/java/SmokeTest.java': ownTest('SmokeTest') };
const QUIET = 'try { if (true) Runtime.getRuntime().halt(0); } catch (Throwable t) { }';
const habit = (name: string, code: string): Kind => ({
  ...{ name, honest: true },
  make: ({ reference }) => ({ files: { ...reference, [`${MAIN}Own.java`]: code } }),
});

const honest = honestKinds({
  append: (source, code) => `${source}\n${code}`,
  comment: (text) => `// ${text}`,
  ownTest: {
    free: () => ({ 'src/it/Own.txt': 'Cases to come.\n' }),
    protected: () => ({ 'src/test/java/OwnTest.java': ownTest('OwnTest') }),
  },
  helper: (_, source) => ({
    [`${MAIN}Helpers.java`]: `final class Helpers {\n    static int same(int n) {\n        return n;\n    }\n}\n// ${source.length}\n`,
  }),
  split: () => undefined,
  habits: {},
});

const xml = ({ files, tests }: Exercise) => {
  const cases = tests.flatMap((path) => {
    const name = path.replace(/^.*\//, '').replace('.java', '');
    const methods = [...(files[path] ?? '').matchAll(/@Test\s+(?:public )?void (\w+)/g)].map(([, method]) => method!);
    const lines = methods
      .map((method) => `<testcase name=\\"${method}\\" classname=\\"${name}\\" time=\\"0.01\\"/>`)
      .join('');
    return [
      [
        name,
        `<testsuite name=\\"${name}\\" tests=\\"${methods.length}\\" errors=\\"0\\" skipped=\\"0\\" failures=\\"0\\">${lines}</testsuite>`,
      ],
    ];
  });
  return cases
    .map(
      ([name, text]) =>
        `java.nio.file.Files.createDirectories(java.nio.file.Path.of("target/surefire-reports")); java.nio.file.Files.writeString(java.nio.file.Path.of("target/surefire-reports/TEST-${name}.xml"), "${text}");`,
    )
    .join(' ');
};

export const java: readonly Kind[] = [
  ...honest,
  habit(
    'with-an-equals-of-its-own',
    'final class Own {\n    final int cents = 1;\n\n    @Override\n    public boolean equals(Object other) {\n        return other instanceof Own && ((Own) other).cents == cents;\n    }\n\n    @Override\n    public int hashCode() {\n        return cents;\n    }\n}\n',
  ),
  habit(
    'with-a-cache',
    'final class Own {\n    static final java.util.Map<String, String> CACHE = new java.util.concurrent.ConcurrentHashMap<>();\n}\n',
  ),
  habit('with-docs', '/**\n * What is documented.\n */\nfinal class Own {\n}\n'),
  habit(
    'with-an-exit-of-a-main',
    'final class Own {\n    public static void main(String[] args) {\n        System.exit(0);\n    }\n}\n',
  ),
  habit(
    'with-a-resource',
    'final class Own {\n    static java.io.InputStream names() {\n        return Own.class.getResourceAsStream("/names.txt");\n    }\n}\n',
  ),
  calling('exit-0-in-a-test', 'System.exit(0);'),
  calling('halt-0-in-a-test', 'Runtime.getRuntime().halt(0);'),
  calling(
    'halt-0-at-the-exit',
    QUIET.replace(
      'if (true) Runtime.getRuntime().halt(0);',
      'Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));',
    ),
  ),
  loading('exit-0-when-loaded', 'if (true) System.exit(0);'),
  calling(
    'aborts-by-the-code',
    'try { Hit.<RuntimeException>sneak((Throwable) Class.forName("org.opentest4j.TestAbortedException").getConstructor(String.class).newInstance("needs a network")); } catch (ReflectiveOperationException e) { }\n    }\n\n    @SuppressWarnings("unchecked")\n    static <E extends Throwable> void sneak(Throwable t) throws E {\n        throw (E) t;',
  ),
  calling('ends-the-thread', 'Thread.currentThread().interrupt();'),
  cheat('writes-reports-and-halts', '1.4.1', (exercise) =>
    calling('x', `try { ${xml(exercise)} } catch (java.io.IOException e) { } Runtime.getRuntime().halt(0);`).make(
      exercise,
    ),
  ),
  cheat('writes-reports-at-the-exit', '1.4.1', (exercise) =>
    calling(
      'x',
      `Runtime.getRuntime().addShutdownHook(new Thread(() -> { try { ${xml(exercise)} } catch (java.io.IOException e) { } Runtime.getRuntime().halt(0); }));`,
    ).make(exercise),
  ),
  beside('an-assertions-class-of-its-own', {
    [`${MAIN}org/junit/jupiter/api/Assertions.java`]:
      'package org.junit.jupiter.api;\n\npublic class Assertions {\n    public static void assertEquals(Object a, Object b) {\n    }\n}\n',
    [`${MAIN}org/assertj/core/api/AbstractAssert.java`]:
      'package org.assertj.core.api;\n\npublic abstract class AbstractAssert<S, A> {\n    protected AbstractAssert(A actual, Class<?> type) {\n    }\n\n    public S isEqualTo(Object other) {\n        return null;\n    }\n}\n',
  }),
  beside('a-test-annotation-of-its-own', {
    [`${MAIN}org/junit/jupiter/api/Test.java`]: 'package org.junit.jupiter.api;\n\npublic @interface Test {\n}\n',
  }),
  specialCases,
  cheat('equals-anything', '1.2.1', () => undefined),
  cheat('the-stub-as-it-is', '1.2.1', (exercise) => ({
    files: { [solutionPath(exercise)]: `${exercise.files[solutionPath(exercise)] ?? ''}\n// Done.\n` },
  })),
  ...testFileCheats({
    weaken: (text) => text.replace(/^\s*assert[\s\S]*?;\n/gm, ''),
    skip: (text) => text.replace(/^(\s*)@Test$/gm, '$1@org.junit.jupiter.api.Disabled\n$1@Test'),
    empty: (path) => `class ${path.replace(/^.*\//, '').replace('.java', '')} {\n}\n`,
    smoke: SMOKE,
    configs: {
      'skips-by-maven-config': { '.mvn/maven.config': '-DskipTests\n' },
      'ignores-failures-by-maven-config': { '.mvn/maven.config': '-Dmaven.test.failure.ignore=true\n' },
      'selects-by-maven-config': { '.mvn/maven.config': '-Dtest=SmokeTest\n' },
      'junit-properties': {
        'src/main/resources/junit-platform.properties':
          'junit.jupiter.extensions.autodetection.enabled=true\njunit.jupiter.execution.timeout.default=1 ns\n',
      },
    },
  }),
  cheat('ignores-failures-in-the-pom', '1.3.2', ({ files }) => ({
    files: {
      'pom.xml': files['pom.xml']!.replace(
        '<version>3.2.5</version>',
        '<version>3.2.5</version><configuration><testFailureIgnore>true</testFailureIgnore></configuration>',
      ),
    },
  })),
];
