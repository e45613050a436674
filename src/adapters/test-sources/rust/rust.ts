import type { Node } from '@vscode/tree-sitter-wasm';
import type { DeclaredTest, Turn } from '../../../domain/evidence/test-source.ts';
import { changeString, word } from '../shared/literals.ts';
import {
  children,
  field,
  findAll,
  insert,
  mergeTwins,
  replace,
  shortText,
  turn,
  type Found,
  type SourceFile,
} from '../shared/nodes.ts';
import { rustTurns } from './turns.ts';

/** `#[test]`, also of tokio and the like. */
const TEST = /^#\[\s*(\w+::)*test\b/;
const STRINGS = new Set(['string_literal']);
const SEVERAL = /^#\[\s*(rstest|test_case|parameterized|case)\b/;
const DEPTH_MAX = 50;

/** `cargo test`: the tests of a file, also of its modules. */
export function readRust(root: Node, file: SourceFile): Found {
  const tests: DeclaredTest[] = [];
  const left = [{ items: children(root), modules: [] as string[], off: /^#!\[cfg\((?!test\))/m.test(file.text) }];
  for (let next = left.pop(); next; next = left.pop()) {
    let attributes: Node[] = [];
    for (const item of next.items) {
      if (item.type === 'attribute_item') {
        attributes.push(item);
        continue;
      }
      const texts = attributes.map(shortText);
      // Built on some machines, or with some features.
      const off = next.off || texts.some((text) => /^#\[\s*(cfg\((?!test\)\])|cfg_attr|ignore)/.test(text));
      const name = shortText(field(item, 'name'));
      if (item.type === 'mod_item' && next.modules.length < DEPTH_MAX)
        left.push({ items: children(field(item, 'body')), modules: [...next.modules, name], off });
      if (item.type === 'function_item' && texts.some((text) => TEST.test(text) || SEVERAL.test(text)))
        tests.push({
          name: [...next.modules, name],
          several: texts.some((text) => SEVERAL.test(text)),
          skipped: off,
          turns: turnsOf(item, attributes),
        });
      attributes = [];
    }
  }
  return { framework: tests.length > 0 ? 'cargo test' : null, tests: mergeTwins(tests), shared: [] };
}

/** One that has to panic does, and so fails, where nothing says so any more. */
function turnsOf(test: Node, attributes: readonly Node[]): Turn[] {
  const panics = attributes.find((attribute) => /^#\[\s*should_panic\b/.test(attribute.text));
  if (!panics) return rustTurns(test);
  const [message] = findAll(panics, STRINGS);
  if (message) return [turn(changeString(message, { parts: true })!, true)];
  if (/^#\[\s*should_panic\s*\]$/.test(panics.text))
    return [turn([insert(panics.endIndex - 1, `(expected = "${word()} ${word()}")`)], true)];
  return [
    turn([replace(panics, `#[allow(unused)]${'\n'.repeat(panics.endPosition.row - panics.startPosition.row)}`)], true),
  ];
}
