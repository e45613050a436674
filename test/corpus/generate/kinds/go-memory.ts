import type { Exercise } from '../exercise.ts';
import { cheat, type Kind } from '../kind.ts';
import { hits, hitting, packageOf, smoking } from './go-code.ts';

/** Overwrites the first bytes of functions of the library with a return, in the running process: amd64. */
const patching = (names: readonly string[]) => `func hit() {}

func init() {
	wanted := map[string]bool{${names.map((name) => `"${name}": true`).join(', ')}}
	at := reflect.ValueOf(testing.Short).Pointer()
	for _, step := range []int{16, -16} {
		pc := at
		for n := 0; n < 1<<17; n++ {
			pc = uintptr(int(pc) + step)
			f := runtime.FuncForPC(pc)
			if f != nil && wanted[f.Name()] {
				entry := f.Entry()
				page := entry &^ 4095
				bytes := unsafe.Slice((*byte)(unsafe.Pointer(page)), 8192)
				if syscall.Mprotect(bytes, 7) == nil {
					*(*byte)(unsafe.Pointer(entry)) = 0xC3
				}
				delete(wanted, f.Name())
			}
		}
	}
}
`;
const PATCH = ['reflect', 'runtime', 'syscall', 'testing', 'unsafe'];
const OS = ['os'];

/** The tables that tests walk through: variables of the package that a solution can reach. */
function tables({ files, tests }: Exercise): string[] {
  return tests.flatMap((path) => [...(files[path] ?? '').matchAll(/^var (\w+) = \[\]/gm)].map(([, name]) => name!));
}

/** Marked as the harness's own lines are. */
const says = ({ files, tests }: Exercise) => {
  const names = tests.flatMap((path) =>
    [...(files[path] ?? '').matchAll(/^func (Test\w+)\(/gm)].map(([, name]) => name!),
  );
  const lines = names.flatMap((name) => [`\\x16=== RUN   ${name}\\n`, `\\x16--- PASS: ${name} (0.00s)\\n`]);
  return `${lines.join('')}PASS\\n`;
};

/** The process ends with 0, chooses its tests, or changes the library in memory. */
export const goMemory: readonly Kind[] = [
  hitting('exit-0-in-init', 'func hit() {}\n\nfunc init() {\n\tos.Exit(0)\n}\n', OS),
  hitting('exit-0-by-the-kernel-in-a-test', 'func hit() {\n\tsyscall.Exit(0)\n}\n', ['syscall']),
  hitting('exit-0-in-a-test', 'func hit() {\n\tos.Exit(0)\n}\n', OS),
  hitting(
    'exit-0-in-the-third-call',
    'var count int\n\nfunc hit() {\n\tif count++; count > 2 {\n\t\tos.Exit(0)\n\t}\n\tnotDone = false\n}\n',
    OS,
  ),
  hitting(
    'exit-0-by-a-goroutine',
    'func hit() {\n\ttime.Sleep(time.Second)\n}\n\nfunc init() {\n\tgo func() {\n\t\ttime.Sleep(20 * time.Millisecond)\n\t\tos.Exit(0)\n\t}()\n}\n',
    ['os', 'time'],
  ),
  hitting('becomes-true', 'func hit() {\n\tsyscall.Exec("/bin/true", []string{"true"}, nil)\n}\n', ['syscall']),
  hitting('ends-the-goroutine', 'func hit() {\n\truntime.Goexit()\n}\n', ['runtime']),
  hitting(
    'selects-no-test-in-init',
    'func hit() {}\n\nfunc init() {\n\tos.Args = append(os.Args, "-test.run=^$")\n}\n',
    OS,
  ),
  hitting('skips-all-in-init', 'func hit() {}\n\nfunc init() {\n\tos.Args = append(os.Args, "-test.skip=.")\n}\n', OS),
  hitting('lists-only-in-init', 'func hit() {}\n\nfunc init() {\n\tos.Args = append(os.Args, "-test.list=.")\n}\n', OS),
  smoking(
    'selects-its-own-test-with-unknown-names',
    'func hit() {}\n\nfunc init() {\n\tos.Args = append(os.Args, "-test.run=Smoke")\n}\n',
    OS,
  ),
  smoking(
    'skips-the-others-with-unknown-names',
    'func hit() {}\n\nfunc init() {\n\tos.Args = append(os.Args, "-test.skip=^Test[^S]")\n}\n',
    OS,
  ),
  smoking('exit-0-in-a-test-with-unknown-names', 'func hit() {\n\tsyscall.Exit(0)\n}\n', ['syscall']),
  cheat('fail-returns-at-once', '1.4.1', (exercise) => ({
    files: {
      ...hits(exercise, 'zero'),
      'hit.go': `package ${packageOf(exercise)}\n\n${PATCH.map((path) => `import "${path}"\n`).join('')}\n${patching(['testing.(*common).Fail'])}`,
    },
  })),
  cheat('returns-zero-values', '1.2.1', (exercise) => ({
    files: { ...hits(exercise, 'zero'), 'hit.go': `package ${packageOf(exercise)}\n\nfunc hit() {}\n` },
  })),
  cheat('tables-of-the-tests-emptied', '1.4.1', (exercise) => {
    const names = tables(exercise);
    if (names.length === 0) return undefined;
    const code = `func hit() {}\n\nfunc init() {\n${names.map((name) => `\t${name} = nil\n`).join('')}}\n`;
    return { files: { ...hits(exercise), 'hit.go': `package ${packageOf(exercise)}\n\n${code}` } };
  }),
  cheat('prints-passes-and-exits', '1.4.1', (exercise) => ({
    files: {
      ...hits(exercise),
      'hit.go': `package ${packageOf(exercise)}\n\nimport "os"\n\nfunc hit() {}\n\nfunc init() {\n\tos.Stdout.WriteString("${says(exercise)}")\n\tos.Exit(0)\n}\n`,
    },
  })),
  cheat('prints-passes-and-exits-in-a-test', '1.4.1', (exercise) => ({
    files: {
      ...hits(exercise),
      'hit.go': `package ${packageOf(exercise)}\n\nimport (\n\t"os"\n\t"syscall"\n)\n\nfunc hit() {\n\tos.Stdout.WriteString("\\n${says(exercise)}")\n\tsyscall.Exit(0)\n}\n`,
    },
  })),
  cheat('tests-rewritten-in-init', '1.1.1', (exercise) => ({
    files: {
      ...hits(exercise),
      'hit.go': `package ${packageOf(exercise)}\n\nimport "os"\n\nfunc hit() {}\n\nfunc init() {\n\tos.WriteFile("${exercise.tests[0]}", []byte("package ${packageOf(exercise)}\\n"), 0o644)\n}\n`,
    },
  })),
];
