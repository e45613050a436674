import { expect, test } from '@jest/globals';
import { isDeclared, turnTests } from '../../../../src/adapters/test-sources/index.ts';
import { parseFile } from '../../../../src/adapters/test-sources/parse.ts';
import { watchedRun } from '../../../receipts/watched-run.ts';
import { readText } from '../read.ts';

const HEAD = 'package a\n\nimport (\n\t"errors"\n\t"reflect"\n\t"testing"\n)\n\n';
const HONEST = `${HEAD}var tests = []struct{ in, want int }{
	{1, 2},
	{2, 3},
}

var _ = reflect.DeepEqual

func add(a, b int) int { return a + b }
func fail(wrong bool) error {
	if wrong {
		return errors.New("no")
	}
	return nil
}

func TestPlain(t *testing.T) {
	err := fail(false)
	if err != nil {
		t.Errorf("ä𝒳 %s", err.Error())
	}
}
func TestInit(t *testing.T) {
	if got, want := add(1, 2), 3; got != want { t.Fatal(got) } else if got == 0 { t.Log(got) }
}
func TestDeep(t *testing.T) {
	if !reflect.DeepEqual([]int{add(1, 1)}, []int{2}) {
		t.Fail()
	}
}
func TestTable(t *testing.T) {
	for _, tc := range tests {
		t.Run("sub", func(t *testing.T) {
			t.Parallel()
			if got := add(tc.in, 1); got != tc.want {
				t.Errorf("%d", got)
			}
		})
	}
}
func TestLocal(t *testing.T) {
	cases := map[string]bool{"a": true, "b": false}
	for name, wrong := range cases {
		err := fail(wrong)
		if wrong {
			if err == nil {
				t.Fatalf("%s", name)
			}
			continue
		}
		if err != nil {
			t.Fatal(err.Error())
		}
	}
}
func TestSwitch(t *testing.T) {
	for _, wrong := range []bool{true, false} {
		err := fail(wrong)
		switch {
		case wrong:
			if err == nil {
				t.Fatal("no error")
			}
		case err != nil:
			t.Fatal(err.Error())
		case add(1, 1) != 2:
			t.Fatal("sum")
		}
	}
}
func TestBranches(t *testing.T) {
	if err := fail(true); err == nil || add(1, 1) == 3 {
		t.Fatal()
	}
}
`;

test('every turned test of go test fails, and none does that was not turned', async () => {
  const { source, lines, turned } = await readText('a_test.go', HONEST);
  expect(source).toMatchObject({ framework: 'go test', tests: { length: 7 } });
  expect(lines.filter((line) => !line.endsWith('S'))).toEqual([]);
  expect(turned.split('\n')).toHaveLength(HONEST.split('\n').length);
  const module = { 'go.mod': 'module example.com/a\n\ngo 1.18\n' };
  const plain = await watchedRun('go test ./...', { ...module, 'a_test.go': HONEST });
  expect(plain.tests?.filter((line) => !line.startsWith('passed'))).toEqual([]);
  const wrong = await watchedRun('go test ./...', { ...module, 'a_test.go': turned });
  expect(wrong.tests).toHaveLength(9);
  expect(wrong.tests?.filter((line) => !line.startsWith('failed'))).toEqual([]);
  for (const declared of source.tests)
    expect(wrong.report?.tests.some((one) => isDeclared(one, source, declared))).toBe(true);
});

test('tests that are not turned pass, and look as those do that are', async () => {
  const source = await parseFile({ path: 'a_test.go', text: HONEST });
  const [wrong, right] = [source.tests, []].map((chosen) => turnTests(HONEST, source, new Set(chosen)));
  const module = { 'go.mod': 'module example.com/a\n\ngo 1.18\n' };
  const { tests } = await watchedRun('go test ./...', { ...module, 'a_test.go': right! });
  expect(tests).toHaveLength(9);
  expect(tests?.filter((line) => !line.startsWith('passed'))).toEqual([]);
  const shape = (text: string) => text.replaceAll(/, \d{5}, /g, ', N, ');
  expect(shape(right!)).toBe(shape(wrong!));
  expect(right).not.toBe(wrong);
});

test('only where each way through a test meets a check is its turn sure', async () => {
  const inTest = (name: string, body: string) => `func Test${name}(t *testing.T) {\n${body}\n}\n`;
  const check = 'if f() != 1 { t.Fatal() }';
  const { lines } = await readText(
    'a_test.go',
    HEAD +
      inTest('Return', `if x { return }\n${check}`) +
      inTest('Branch', `if x { ${check} }`) +
      inTest('Both', `if x { ${check} } else { ${check} }`) +
      inTest('Loop', `for _, x := range f() { ${check} }`) +
      inTest('Empty', `xs := []int{}\nfor range xs { ${check} }`) +
      inTest('Elsewhere', `for _, x := range elsewhere { ${check} }`) +
      inTest('Closure', `g := func() { ${check} }\ng()`) +
      inTest('Routine', `go func() { ${check} }()`) +
      inTest('Skips', `if testing.Short() { t.Skip() }\n${check}`) +
      inTest('Helper', 'check(t, f(), 1)') +
      inTest('Falls', `switch { case x: ${check}\nfallthrough\ncase y: t.Fatal() }`) +
      inTest('Value', `switch f() { case 1: t.Fatal()\ndefault: ${check} }`) +
      'func Testing(t *testing.T) {}\nfunc TestMain(m *testing.M) {}\nfunc BenchmarkA(b *testing.B) {}\n',
  );
  expect(lines).toEqual([
    'TestReturn | u',
    'TestBranch | u',
    'TestBoth | S',
    'TestLoop | u',
    'TestEmpty | u',
    'TestElsewhere | u',
    'TestClosure | ',
    'TestRoutine | ',
    'TestSkips | skipped | u',
    'TestHelper | ',
    'TestFalls | ',
    'TestValue | u',
  ]);
});

test("testify's assertions become their opposites", async () => {
  const { lines, turned } = await readText(
    'a_test.go',
    `package a
import "github.com/stretchr/testify/require"
func TestA(t *testing.T) {
	require.Equal(t, 1, f())
	require.NoErrorf(t, g(), "x")
	require.JSONEq(t, "{}", h())
}
`,
  );
  expect(lines).toEqual(['TestA | S']);
  expect(turned).toContain('require.NotEqual(t, 1, f())\n\trequire.Errorf(t, g(), "x")\n\trequire.JSONEq(');
});

test('what is built on some machines alone is skipped, and names are told apart by their package', async () => {
  const text = 'package a\nfunc TestA(t *testing.T) {}\n';
  expect((await readText('a_test.go', `//go:build linux\n\n${text}`)).lines).toEqual(['TestA | skipped | ']);
  expect((await readText('a_windows_test.go', text)).lines).toEqual(['TestA | skipped | ']);
  const { source } = await readText('deep/pkg/a_test.go', text);
  const declared = (name: string) => isDeclared({ name, status: 'passed' }, source, source.tests[0]!);
  expect(['example.com/x/deep/pkg > TestA', 'x/pkg > TestA/a > b/c'].map(declared)).toEqual([true, true]);
  expect(['example.com/x > TestA', 'x/pkg > TestAB', 'x/pkg'].map(declared)).toEqual([false, false, false]);
});
