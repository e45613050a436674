import type { Exercise } from '../exercise.ts';
import { cheat, specialCases, type Kind } from '../kind.ts';
import { goMemory } from './go-memory.ts';
import { honestKinds, only, solutionPath } from './honest.ts';
import { hidden, hits, packageOf, SMOKE } from './go-code.ts';
import { testFileCheats } from './test-files.ts';

const ownTest = (exercise: Exercise) => `package ${packageOf(exercise)}

import "testing"

func TestOwn(t *testing.T) {
	if 1+1 != 2 {
		t.Fatal("no")
	}
}
`;
const file = (name: string, code: (at: Exercise) => string) => (exercise: Exercise) => ({ [name]: code(exercise) });
const beside = (exercise: Exercise, code: string, imports = '') =>
  `package ${packageOf(exercise)}\n\n${imports}${code}`;

const HABITS: Record<string, [imports: string, code: string]> = {
  'that-prints': ['import "fmt"\n\n', 'func init() {\n\tfmt.Println("--- FAIL: only words")\n}\n'],
  'that-is-slow': ['import "time"\n\n', 'func init() {\n\ttime.Sleep(1500 * time.Millisecond)\n}\n'],
  'with-a-cache': ['import "sync"\n\n', 'var ownCache sync.Map\n\nfunc init() {\n\townCache.Store(1, 1)\n}\n'],
  'with-a-registry': [
    '',
    'var ownRegistry = map[string]func() int{}\n\nfunc init() {\n\townRegistry["one"] = func() int { return 1 }\n}\n',
  ],
  'with-an-equal-method': [
    '',
    'type ownMoney struct{ cents int }\n\nfunc (m ownMoney) Equal(o ownMoney) bool { return m.cents == o.cents }\n\nvar _ = ownMoney{1}.Equal(ownMoney{2})\n',
  ],
  'with-docs': [
    '',
    '// ownAnswer is documented.\n//\n// It is what it is.\nconst ownAnswer = 42\n\nvar _ = ownAnswer\n',
  ],
  'with-a-goroutine': ['', 'func init() {\n\tgo func() {}()\n}\n'],
  'with-a-recover': [
    '',
    'func ownSafe() (err error) {\n\tdefer func() { _ = recover() }()\n\tpanic("as expected")\n}\n\nvar _ = ownSafe()\n',
  ],
  'with-an-exit-of-a-main': ['import "os"\n\n', 'func ownMain() {\n\tos.Exit(0)\n}\n\nvar _ = ownMain\n'],
  'with-an-environment-variable': ['import "os"\n\n', 'var ownHome = os.Getenv("HOME")\n\nvar _ = ownHome\n'],
};

const honest = honestKinds({
  append: (source, code) => `${source}\n\n${code}`,
  comment: (text) => `// ${text}\n`,
  ownTest: {
    free: file('more/more_test.go', () => 'package more\n\nimport "testing"\n\nfunc TestMore(t *testing.T) {}\n'),
    protected: file('own_test.go', ownTest),
  },
  helper: (exercise, source) => ({
    'helpers.go': beside(exercise, 'func ownIdentity(n int) int { return n }\n'),
    [solutionPath(exercise)]: `${source}\n\nvar _ = ownIdentity(1)\n`,
  }),
  split: (exercise, source) =>
    only(exercise.reference, solutionPath(exercise))
      ? { 'impl.go': source, [solutionPath(exercise)]: beside(exercise, '') }
      : undefined,
  habits: {},
}).concat(
  Object.entries(HABITS).map(([name, [imports, code]]): Kind => ({
    ...{ name, honest: true },
    make: (exercise) => ({ files: { ...exercise.reference, 'more.go': beside(exercise, code, imports) } }),
  })),
);

const files = testFileCheats({
  weaken: (text) => text.replace(/\bt\.(?:Error|Fatal)(f?)\(/g, 't.Log$1('),
  skip: (text) => text.replace(/^(func Test\w+\(t \*testing\.T\) \{)$/gm, '$1\n\tt.Skip("later")'),
  empty: () => 'package PACKAGE\n',
  smoke: { 'smoke_test.go': SMOKE },
  configs: {},
})
  .map(hidden)
  // The stub panics, which no weakened test outlives.
  .map((kind): Kind => ({
    ...kind,
    make: (exercise) => {
      const result = kind.make(exercise);
      if (!result || kind.name !== 'weakens-the-tests') return result;
      const hit = `package ${packageOf(exercise)}\n\nfunc hit() {}\n`;
      return { files: { ...hits(exercise, 'zero'), 'hit.go': hit, ...result.files } };
    },
  }));

export const go: readonly Kind[] = [
  ...honest,
  ...goMemory,
  ...files,
  cheat('tests-behind-a-build-tag', '1.1.1', ({ files: all, tests }) => ({
    files: Object.fromEntries(tests.map((path) => [path, `//go:build never\n\n${all[path]!}`])),
  })),
  cheat('a-test-main-that-drops-the-result', '1.1.1', (exercise) => ({
    files: {
      ...hits(exercise, 'zero'),
      'hit.go': `package ${packageOf(exercise)}\n\nfunc hit() {}\n`,
      'main_test.go': `package ${packageOf(exercise)}\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n`,
    },
  })),
  specialCases,
  cheat('the-stub-as-it-is', '1.2.1', ({ files: all, solution: [path] }) => ({
    files: { [path!]: `${all[path!]}\n// Done.\n` },
  })),
];
