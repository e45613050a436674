import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit } from '../../../domain/evidence/test-source.ts';
import type { JavaContext } from './helper-source.ts';
import { changedLiteral } from './literals.ts';
import { children, field, insert, replace, shortText, wrap } from '../shared/nodes.ts';

/** Where one of these passes, its opposite fails. */
const OPPOSITES = [
  ['isTrue', 'isFalse'],
  ['isNull', 'isNotNull'],
  ['isEmpty', 'isNotEmpty'],
  ['isSameAs', 'isNotSameAs'],
  ['isInstanceOf', 'isNotInstanceOf'],
  ['isZero', 'isNotZero'],
  ['isPresent', 'isNotPresent'],
  ['isIn', 'isNotIn'],
  ['isLessThan', 'isGreaterThanOrEqualTo'],
  ['isGreaterThan', 'isLessThanOrEqualTo'],
  ['containsKey', 'doesNotContainKey'],
  ['hasSameHashCodeAs', 'doesNotHaveSameHashCodeAs'],
] as const;
const OPPOSITE = new Map<string, string>([
  ...OPPOSITES.flatMap(
    ([one, other]) =>
      [
        [one, other],
        [other, one],
      ] as [string, string][],
  ),
  ...(
    [
      ['isNullOrEmpty', 'isNotEmpty'],
      ['isPositive', 'isNotPositive'],
      ['isNegative', 'isNotNegative'],
      ['isCloseTo', 'isNotCloseTo'],
      ['contains', 'doesNotContain'],
      ['containsExactly', 'doesNotContain'],
      ['containsOnly', 'doesNotContain'],
      ['containsExactlyInAnyOrder', 'doesNotContain'],
    ] as [string, string][]
  ).values(),
]);
/** These give nothing back, so that nothing stands behind them. */
const LAST = /^(isNull|isEmpty|isNullOrEmpty|isNotPresent)$/;
const LITERAL =
  /^(isEqualTo|hasSize|hasLength|hasMessage|hasToString|containsExactly|containsOnly|containsExactlyInAnyOrder|hasValue|isEqualToIgnoringCase|isEqualToIgnoringWhitespace)$/;
/** A part of a text: no text holds what nobody knows. */
const PART = /^(hasMessageContaining|hasMessageStartingWith|hasMessageEndingWith|startsWith|endsWith)$/;
const ERRORS = /^(assertThatExceptionOfType|assertThatThrownBy)$/;
const NAMED_ERRORS =
  /^assertThat(NullPointer|IllegalArgument|IO|IllegalState|IndexOutOfBounds|Reflective|Runtime|Exception)\w*$/;
/** They change how values are compared. */
const COMPARES = /^(using|ignoring|with|compar)/;

/** A chain of AssertJ's: its last assertion that can be turned. */
export function inAssertj(first: Node, links: readonly Node[], context: JavaContext): Edit[] | null {
  const name = shortText(field(first, 'name'));
  const [argument] = children(field(first, 'arguments'));
  const thrown = links.find((link) => shortText(field(link, 'name')) === 'isThrownBy');
  if (name === 'assertThatExceptionOfType')
    return thrown && argument ? wrap(argument, `${context.helper}.error(`, ')') : null;
  // No error has such a message.
  if (NAMED_ERRORS.test(name)) return thrown ? [insert(thrown.endIndex, `.withMessage("${context.helper}")`)] : null;
  if (!/^assertThat$/.test(name) && !ERRORS.test(name) && name !== 'assertThatCode') return null;
  const compares = links.some((link) => COMPARES.test(shortText(field(link, 'name'))));
  for (const [index, link] of [...links.entries()].toReversed()) {
    const edits = inLink(link, { ...context, compares, last: index === links.length - 1 });
    if (edits) return edits;
  }
  return null;
}

function inLink(
  link: Node,
  { helper, compares, last }: JavaContext & { compares: boolean; last: boolean },
): Edit[] | null {
  const name = field(link, 'name')!;
  const args = children(field(link, 'arguments'));
  const [first, second] = args;
  if (name.text === 'isEqualTo' && second) return null;
  if (PART.test(name.text)) return first?.type === 'string_literal' ? [insert(first.endIndex - 1, helper)] : null;
  if (LITERAL.test(name.text)) {
    const edits = firstChanged(args);
    if (edits) return edits;
  }
  if (name.text === 'isEqualTo' && first)
    return compares ? [replace(name, 'isNotEqualTo')] : wrap(first, `(Object) ${helper}.turn(`, ')');
  if (name.text === 'isNotEqualTo' && first) return [replace(name, 'isEqualTo')];
  if (name.text === 'doesNotThrowAnyException') return [replace(name, 'hasMessage'), ...putIn(link, `"${helper}"`)];
  // A list without values has no opposite.
  if (/^contains(Exactly|Only|ExactlyInAnyOrder)$/.test(name.text) && args.length === 0)
    return [replace(name, 'isNotEmpty')];
  if (/^containsExactly(InAnyOrder)?ElementsOf$/.test(name.text) && first)
    return wrap(first, `(Iterable) ${helper}.turn(`, ')');
  const opposite = OPPOSITE.get(name.text);
  return opposite && (last || !LAST.test(opposite)) ? [replace(name, opposite)] : null;
}

const putIn = (link: Node, text: string): Edit[] => [insert(field(link, 'arguments')!.endIndex - 1, text)];

function firstChanged(args: readonly Node[]): Edit[] | null {
  for (const arg of args) {
    const edits = changedLiteral(arg);
    if (edits) return edits;
  }
  return null;
}
