import { expect, test } from '@jest/globals';
import { isDeclared } from '../../../../src/adapters/test-sources/index.ts';
import { watchedRun } from '../../../receipts/watched-run.ts';
import { readText } from '../read.ts';

const HONEST = `#![deny(warnings)]
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number() {
        assert_eq!(add(1, 2), 3, "ä𝒳 {}", 1);
    }
    #[test]
    fn small() {
        assert_eq!(255, add(254, 1) as u8);
    }
    #[test]
    fn negative() {
        assert_eq!(add(-3, 2), -1);
    }
    #[test]
    fn float() {
        assert_eq!(f64::from(add(1, 1)) / 4.0, 0.5);
    }
    #[test]
    fn texts() {
        assert_eq!(Some(add(1, 1).to_string()), Some("2".to_string()));
    }
    #[test]
    fn list() {
        assert_eq!(&vec![add(1, 1), 2], &[2, 2]);
    }
    #[test]
    fn holds() {
        assert!(add(1, 1) == 2, "message");
    }
    #[test]
    fn differs() {
        assert_ne!(add(1, 1), 3);
    }
    #[test]
    fn result() -> Result<(), std::num::ParseIntError> {
        assert_eq!("2".parse::<i32>()?, add(1, 1));
        Ok(())
    }
    #[test]
    #[should_panic(expected = "overflow")]
    fn panics() {
        add(i32::MAX, 1);
    }
    mod deeper {
        #[test]
        fn looped() {
            for n in [1, 2] {
                assert_eq!(super::add(n, 0), n);
            }
        }
    }
}
`;

test('every turned test of cargo test fails, and none does that was not turned', async () => {
  const { source, lines, turned } = await readText('src/lib.rs', HONEST);
  expect(source).toMatchObject({ framework: 'cargo test', tests: { length: 11 } });
  expect(lines.filter((line) => !line.endsWith('| S'))).toEqual([]);
  expect(turned.split('\n')).toHaveLength(HONEST.split('\n').length);
  // Values aside, nobody sees that it is turned.
  const shape = (text: string) => text.replaceAll(/"[^"]*"|\d+/g, '?').replaceAll(/==|!=|assert_\w+!/g, '=');
  expect(shape(turned)).toBe(shape(HONEST));
  const crate = { 'Cargo.toml': '[package]\nname = "a-b"\nversion = "0.1.0"\nedition = "2021"\n' };
  const plain = await watchedRun('cargo test --offline --lib', { ...crate, 'src/lib.rs': HONEST });
  expect(plain.tests?.filter((line) => !line.startsWith('passed'))).toEqual([]);
  const wrong = await watchedRun('cargo test --offline --lib', { ...crate, 'src/lib.rs': turned });
  expect(wrong.tests).toHaveLength(11);
  expect(wrong.tests?.filter((line) => !line.startsWith('failed'))).toEqual([]);
  for (const declared of source.tests)
    expect(wrong.report?.tests.filter((one) => isDeclared(one, source, declared))).toHaveLength(1);
});

test('what is skipped, conditional or not sure to run is told', async () => {
  const { lines } = await readText(
    'tests/a.rs',
    `#[test]
#[ignore = "slow"]
fn ignored() { assert_eq!(f(), 1); }
#[cfg(unix)]
#[test]
fn conditional() { assert_eq!(f(), 1); }
#[tokio::test]
async fn awaited() { if x { return; } assert_eq!(f().await, 1); }
#[test]
fn branch() { match x { Some(y) => assert_eq!(y, 1), None => {} } }
#[test]
fn closure() { let check = || { return assert_eq!(f(), 1); }; check(); assert!(g()); }
#[test]
fn looped() { for x in f() { assert_eq!(x, 1); } }
fn helper() { assert_eq!(f(), 1); }
struct Generic<T: Clone>(Vec<Option<T>>);
#[test]
fn generic() { let x: Generic<Vec<u8>> = f::<Vec<u8>>(); assert_eq!(x.0.len(), 1); }
`,
  );
  expect(lines).toEqual([
    'ignored | skipped | S',
    'conditional | skipped | S',
    'awaited | u',
    'branch | u',
    'closure | S',
    'looped | u',
    'generic | S',
  ]);
});

test('a test is known by its module and its target', async () => {
  const text = '#[test]\nfn a() {}\n';
  const declares = async (path: string, name: string) => {
    const { source } = await readText(path, text);
    return isDeclared({ name, status: 'passed' }, source, source.tests[0]!);
  };
  expect(await declares('src/lib.rs', 'pkg > a')).toBe(true);
  expect(await declares('src/deep/mod.rs', 'pkg > deep::a')).toBe(true);
  expect(await declares('tests/it.rs', 'pkg > it > a')).toBe(true);
  expect(await declares('crates/my-core/tests/it.rs', 'my_core > it > a')).toBe(true);
  expect(await declares('tests/a-b.rs', 'a_b > a')).toBe(true);
  expect(await declares('src/deep.rs', 'pkg > a')).toBe(false);
  expect(await declares('tests/it.rs', 'pkg > other > a')).toBe(false);
  expect(await declares('crates/core/src/lib.rs', 'other > a')).toBe(false);
});
