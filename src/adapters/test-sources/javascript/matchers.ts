import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit } from '../../../domain/evidence/test-source.ts';
import type { Change } from './changes.ts';
import { children, field, insert, type Turned } from '../shared/nodes.ts';

/** `expect(x).not.toBe(1)` in its parts. */
export interface Chain {
  root: Node;
  /** The whole expression. */
  call: Node;
  links: {
    /** The member expression up to this name. */
    node: Node;
    name: string;
    /** Null where it is not called. */
    args: Node | null;
  }[];
}

const JEST_EQUAL = /^(toBe|toEqual|toStrictEqual|toHaveLength)$/;
/** Where one of these passes, its opposite fails. */
const JEST_OTHERS =
  /^(toBe(Truthy|Falsy|Null|Undefined|Defined|NaN|InstanceOf|TypeOf|CloseTo|GreaterThan|GreaterThanOrEqual|LessThan|LessThanOrEqual)|toMatch|toMatchObject|toContain|toContainEqual|toHaveProperty|toHaveBeenCalled|toHaveBeenCalledOnce|toHaveBeenCalledTimes|toHaveBeenCalledWith|toHaveBeenLastCalledWith|toHaveBeenNthCalledWith|toBeCalled|toBeCalledTimes|toBeCalledWith|toHaveReturned|toHaveReturnedTimes|toHaveReturnedWith)$/;
const THROWS = /^toThrow(Error)?$/;

/** jest and vitest: null where it cannot be turned. */
export function jestEdits({ links }: Chain, change: Change): Turned | null {
  const matcher = links.at(-1)!;
  const before = links.slice(0, -1).map(({ name }) => name);
  if (!matcher.args || links.slice(0, -1).some(({ args }) => args)) return null;
  if (!before.every((name) => /^(not|resolves|rejects)$/.test(name))) return null;
  const throws = THROWS.test(matcher.name);
  if (!throws && !JEST_EQUAL.test(matcher.name) && !JEST_OTHERS.test(matcher.name)) return null;
  if (throws && before.includes('resolves')) return null;
  const not = links.find(({ name }) => name === 'not');
  if (not) return { edits: [without(not.node)] };
  const [expected] = children(matcher.args);
  if (expected?.type === 'spread_element') return null;
  const opposite = { edits: [insert(field(matcher.node, 'object')!.endIndex, '.not')] };
  if (throws) return (expected && change.error(expected, { parts: true })) ?? opposite;
  if (JEST_EQUAL.test(matcher.name)) return expected ? change.value(expected) : null;
  return opposite;
}

const CHAI_EQUAL = /^(equal|equals|eq|eql|eqls|lengthOf)$/;
const CHAI_WORDS = /^(to|be|been|is|that|which|and|has|have|with|at|of|same|but|does|still|also|deep|an?|should)$/;
const CHAI_OTHERS =
  /^(true|false|null|undefined|ok|exist|empty|NaN|an?|instanceof|instanceOf|include|includes|contain|contains|match|matches|above|below|least|most|gt|gte|lt|lte|greaterThan|lessThan|within|closeTo|approximately|property|keys|key|members|string|oneOf|throw|throws|Throw|finite)$/;

/** chai's `expect(x).to…` and `x.should…`: one assertion in a chain of words that say nothing. */
export function chaiEdits({ root, links }: Chain, change: Change): Turned | null {
  const last = links.at(-1)!;
  const not = links.filter(({ name }) => name === 'not');
  const words = links.slice(0, -1).filter(({ name }) => name !== 'not');
  const plain = words.every(({ name, args }) => CHAI_WORDS.test(name) && !args);
  const known = CHAI_EQUAL.test(last.name) ? last.args !== null : CHAI_OTHERS.test(last.name);
  if (!plain || !known || not.length > 1) return null;
  if (not[0]) return { edits: [without(not[0].node)] };
  const [expected] = children(last.args);
  if (CHAI_EQUAL.test(last.name)) return expected ? change.value(expected) : null;
  const start = links[0]!.name === 'should' ? links[0]!.node : root;
  return { edits: [insert(start.endIndex, '.not')] };
}

/** Takes the last name of a member expression away. */
const without = (member: Node): Edit => ({ start: field(member, 'object')!.endIndex, end: member.endIndex, text: '' });
