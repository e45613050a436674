import { expect, test } from '@jest/globals';
import { isDeclared } from '../../../../src/adapters/test-sources/index.ts';
import { readText } from '../read.ts';

const HEAD = `package a.b;

import static org.assertj.core.api.Assertions.*;
import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;

`;

/** Statements of one test as they are once they are turned; `h` is the class that was added. */
async function turnedBody(body: string, head = HEAD): Promise<string> {
  const { turned, source } = await readText('T.java', `${head}class T {\n@Test void t() {\n${body}\n}\n}\n`);
  expect(source.unread).toBeUndefined();
  const [, name = ''] = /final class (\w+)/.exec(turned) ?? [];
  const [, found = ''] = /void t\(\) \{\n([^]*?)\n\}\n\}/.exec(turned) ?? [];
  return name === '' ? found : found.replaceAll(name, 'h');
}

const JUNIT = [
  ['assertEquals(3, f(1));', 'assertEquals((3 ^ 1), f(1));'],
  ['assertEquals(-3L, f(1), "why");', 'assertEquals((-3L ^ 1), f(1), "why");'],
  ['assertEquals(f(1), 2.5f);', 'assertEquals(f(1), (2.5f * 2 + 1));'],
  ['assertEquals(0.3, f(1), 1e-9);', 'assertEquals(Double.NaN, f(1), 1e-9);'],
  ['assertEquals("a" + "b", f(1));', 'assertEquals("a" + "bx", f(1));'],
  ['assertEquals("""\n  a\n  """, f(1));', 'assertEquals("""\n  a\n  x""", f(1));'],
  ["assertEquals('a', f(1));", "assertEquals('x', f(1));"],
  ['assertEquals(List.of(1, 2), f(1));', 'assertEquals(List.of((1 ^ 1), 2), f(1));'],
  ['assertEquals(want, f(1));', 'assertEquals((Object) h.turn(want), (Object) (f(1)));'],
  ['assertEquals(want, f(1), eps);', 'assertEquals(Double.NaN, f(1), eps);'],
  ['assertArrayEquals(new int[] {1}, f(1));', 'assertArrayEquals(new int[] {(1 ^ 1)}, f(1));'],
  ['assertArrayEquals(new int[0], f(1));', 'assertArrayEquals(new int[1], f(1));'],
  ['assertTrue(a && b, "why");', 'assertTrue(!(a && b), "why");'],
  ['assertTrue(() -> a);', 'assertTrue(() -> a);'],
  ['assertFalse(a);', 'assertFalse(!(a));'],
  ['assertNull(a);', 'assertNull(h.turn(a));'],
  ['assertNotNull(a);', 'assertNotNull(h.nothing(a));'],
  ['assertSame(a, b);', 'assertSame(h.turn(a), b);'],
  ['assertNotEquals(1, b);', 'assertNotEquals((Object) h.keep(1), (Object) h.kept());'],
  ['assertThrows(E.class, () -> f(1));', 'assertThrows(h.error(E.class), () -> f(1));'],
  ['Assertions.assertEquals(1, a);', 'Assertions.assertEquals((1 ^ 1), a);'],
  ['assertAll("x", () -> assertEquals(1, a));', 'assertAll("x", () -> assertEquals((1 ^ 1), a));'],
] as const;
const ASSERTJ = [
  ['assertThat(a).as("a").isEqualTo(1);', 'assertThat(a).as("a").isEqualTo((1 ^ 1));'],
  ['assertThat(a).isEqualTo(want);', 'assertThat(a).isEqualTo((Object) h.turn(want));'],
  ['assertThat(a).isEqualTo(1.0, within(2.0));', 'assertThat(a).isEqualTo(1.0, within(2.0));'],
  ['assertThat(a).isTrue();', 'assertThat(a).isFalse();'],
  ['assertThat(a).isNotNull().hasSize(3);', 'assertThat(a).isNotNull().hasSize((3 ^ 1));'],
  // What gives nothing back has nothing behind it.
  ['assertThat(a).isNotNull().satisfies(f);', 'assertThat(a).isNotNull().satisfies(f);'],
  // 0 may be in it as well.
  ['assertThat(a).contains(1);', 'assertThat(a).doesNotContain(1);'],
  ['assertThat(a).containsExactly(1, 0);', 'assertThat(a).containsExactly((1 ^ 1), 0);'],
  ['assertThat(a).containsExactly(b, c);', 'assertThat(a).doesNotContain(b, c);'],
  ['assertThat(a).containsExactly();', 'assertThat(a).isNotEmpty();'],
  ['assertThat(a).startsWith("x");', 'assertThat(a).startsWith("xh");'],
  ['assertThat(a).isEmpty();', 'assertThat(a).isNotEmpty();'],
  [
    'assertThat(a).usingRecursiveComparison().isEqualTo(b);',
    'assertThat(a).usingRecursiveComparison().isNotEqualTo(b);',
  ],
  [
    'assertThatExceptionOfType(E.class).isThrownBy(() -> f()).withMessage("m");',
    'assertThatExceptionOfType(h.error(E.class)).isThrownBy(() -> f()).withMessage("m");',
  ],
  [
    'assertThatIllegalArgumentException().isThrownBy(() -> f());',
    'assertThatIllegalArgumentException().isThrownBy(() -> f()).withMessage("h");',
  ],
  [
    'assertThatThrownBy(() -> f()).isInstanceOf(E.class).hasMessageContaining("m");',
    'assertThatThrownBy(() -> f()).isInstanceOf(E.class).hasMessageContaining("mh");',
  ],
  ['assertThatCode(() -> f()).doesNotThrowAnyException();', 'assertThatCode(() -> f()).hasMessage("h");'],
] as const;

test.each([...JUNIT, ...ASSERTJ])('%s', async (body, turned) => {
  expect(await turnedBody(body)).toBe(turned);
});

const HEAD_4 = `import static org.junit.Assert.*;
import static org.hamcrest.CoreMatchers.*;
import org.junit.Test;

`;

test.each([
  // Its message comes first.
  ['assertEquals("why", 1, a);', 'assertEquals("why", (1 ^ 1), a);'],
  ['assertTrue("why", a);', 'assertTrue("why", !(a));'],
  ['assertThat(a, is(1));', 'assertThat(a, is((1 ^ 1)));'],
  ['assertThat("why", a, hasItem(1));', 'assertThat("why", a, org.hamcrest.CoreMatchers.not(hasItem(1)));'],
  ['thrown.expect(E.class);\nf(1);', 'thrown.expect(h.error(E.class));\nf(1);'],
])('JUnit 4: %s', async (body, turned) => {
  expect(await turnedBody(body, HEAD_4)).toBe(turned);
});

test('an expected error of JUnit 4 is one that nobody throws', async () => {
  const { lines, turned } = await readText(
    'T.java',
    `${HEAD_4}public class T { @Test(expected = E.class) public void t() { f(); } }`,
  );
  expect(lines).toEqual(['T > t | S']);
  expect(turned).toMatch(/@Test\(expected = h\w+\.Err\.class\)/);
});

test('which tests there are, what their source skips, and what is sure', async () => {
  const { source, lines } = await readText(
    'src/test/java/a/b/T.java',
    `${HEAD}class T {
  @Test void one() { assertEquals(1, f()); }
  @ParameterizedTest void rows(int n) { assertEquals(1, n); }
  @RepeatedTest(2) void again() { assertEquals(1, f()); }
  @Disabled @Test void off() { assertEquals(1, f()); }
  @Test void assumed() { Assumptions.assumeTrue(f()); assertEquals(1, f()); }
  @Test private void hidden() { assertEquals(1, f()); }
  @Test @DisplayName("a name of its own") void named() { assertEquals(1, f()); }
  @Test void branch() { if (f()) { assertEquals(1, f()); } }
  @Test void early() { if (f()) return; assertEquals(1, f()); }
  @Test void looped() { for (int n : new int[] {1}) { assertEquals(1, n); } }
  @Test void unknown() { for (int n : f()) { assertEquals(1, n); } }
  @Test void caught() { try { assertEquals(1, f()); } catch (AssertionError e) { } }
  @Test void own() { assertSame(1, f()); }
  void assertSame(int a, int b) { }
  @Nested class Inner { @Test void deep() { assertEquals(1, f()); } }
  static class Other { @Test void alone() { assertEquals(1, f()); } }
}
class Sub extends Base { @Test void inherits() { assertEquals(1, f()); } }
abstract class Base { @Test void lent() { assertEquals(1, f()); } }
`,
  );
  expect(source.framework).toBe('junit');
  expect(lines.toSorted()).toEqual(
    [
      'a.b.T > one | S',
      'a.b.T > rows | several | S',
      'a.b.T > again | several | S',
      'a.b.T > off | skipped | S',
      'a.b.T > assumed | skipped | S',
      'a.b.T > hidden | skipped | S',
      'a.b.T > named | S',
      'a.b.T > branch | u',
      'a.b.T > early | u',
      'a.b.T > looped | S',
      'a.b.T > unknown | u',
      'a.b.T > caught | u',
      'a.b.T > own | ',
      'a.b.T$Inner > deep | S',
      'a.b.T$Other > alone | skipped | S',
      'a.b.Sub > inherits | u',
      'a.b.Base > lent | skipped | S',
    ].toSorted(),
  );
});

test('a runner or an extension that is not known makes no test sure', async () => {
  const one = await readText(
    'T.java',
    `${HEAD}@ExtendWith(Own.class) class T { @Test void t() { assertEquals(1, f()); } }`,
  );
  expect(one.lines).toEqual(['a.b.T > t | u']);
  const other = await readText('T.java', `${HEAD_4}@RunWith(Own.class) public class T { @Test public void t() { } }`);
  expect(other.lines).toEqual(['T > t | skipped | ']);
  const rows = await readText(
    'T.java',
    `${HEAD_4}@RunWith(Parameterized.class) public class T { @Test public void t() { } }`,
  );
  expect(rows.lines).toEqual(['T > t | several | ']);
});

test('names as Maven and Gradle report them', async () => {
  const { source } = await readText(
    'T.java',
    `${HEAD}class T {
  @Test @DisplayName("a name") void one() { }
  @ParameterizedTest void rows(int n) { }
}`,
  );
  const [one, rows] = ['one', 'rows'].map((name) => source.tests.find((each) => each.name[1] === name)!);
  const declares = (name: string, at = one!) => isDeclared({ name, status: 'passed' }, source, at);
  for (const name of ['one', 'one()', 'a name', 'one (2)']) expect(declares(`a.b.T > ${name}`)).toBe(true);
  for (const name of ['a.b.T > oneMore', 'a.b.T > other', 'b.T > one', 'a.b.T$Inner > one', 'one'])
    expect(declares(name)).toBe(false);
  for (const name of ['rows(int)[1]', 'rows[2]', '[1] 1, 2']) expect(declares(`a.b.T > ${name}`, rows!)).toBe(true);
});

test('another library’s assertions are left as they are', async () => {
  const { lines } = await readText(
    'T.java',
    'import org.junit.jupiter.api.Test;\nimport static com.google.common.truth.Truth.assertThat;\nclass T { @Test void t() { assertThat(1).isEqualTo(1); } }',
  );
  expect(lines).toEqual(['T > t | ']);
  const { source } = await readText('T.java', 'import org.testng.annotations.Test;\nclass T { @Test void t() { } }');
  expect(source.framework).toBeNull();
});
