import { expect, test } from '@jest/globals';
import { watchedRun } from '../../../receipts/watched-run.ts';
import { readText } from '../read.ts';

const NODE = `#!/usr/bin/env node
'use strict';
const test = require('node:test');
const { describe, it } = test;
const assert = require('node:assert/strict');
const { deepEqual, ok: holds } = require('assert');
const add = (a, b) => a + b;
const fail = (error = new TypeError('no')) => { throw error; };

describe('assert ä𝒳', () => {
  it('strictEqual', () => { assert.strictEqual(add(1, 2), 3); });
  it('reversed', () => assert.equal(3, add(1, 2), 'message'));
  it('infinite', () => assert.equal(add(Infinity, 1), Infinity));
  it('not a number', () => assert.equal(add(NaN, 1), NaN));
  it('text', () => assert.equal(add('a', 'b'), \`ab\`));
  it('boolean', () => assert.equal(add(1, 1) === 2, true));
  it('big', () => assert.equal(add(1n, 1n), 2n));
  it('list', () => deepEqual([add(1, 1)], [2]));
  it('object', () => deepEqual({ a: add(1, 1) }, { a: 2 }));
  it('date', () => deepEqual(new Date(add(1, 1)), new Date(2)));
  it('map', () => assert.deepEqual(new Map([[add(1, 1), 1]]), new Map([[2, 1]])));
  it('nothing', () => assert.equal([][0], undefined));
  it('null', () => assert.equal(null, null));
  it('function', () => assert.equal(add, add));
  it('unequal', () => assert.notDeepStrictEqual([add(1, 1)], [3]));
  it('ok', () => holds(add(1, 1) === 2));
  it('itself', () => { assert(add(1, 1) || add(0, 0)); });
  it('throws', () => assert.throws(() => fail()));
  it('throws a kind', () => assert.throws(() => fail(), TypeError));
  it('throws a message', () => assert.throws(() => fail(), { message: 'no' }, 'why'));
  it('throws nothing', () => assert.doesNotThrow(() => add(1, 1)));
  it('rejects', async () => { await assert.rejects(async () => fail(), /no/); });
  it('matches', () => assert.match(add('a', 'b'), /a/));
});
test('context', (t) => { t.diagnostic('x'); assert.ok(add(1, 1)); });
for (const n of [1, 2]) test(\`n \${n}\`, () => assert.equal(add(n, 0), n));
test('filled', () => { for (const n of [1]) assert.equal(add(n, 0), n); });
test('filled block', () => { for (const n of [1]) { assert.equal(add(n, 0), n); } });
test('each of some', () => { [1].forEach((n) => { assert.equal(add(n, 0), n); }); });
`;

const JEST = `
const { add, fail } = { add: (a, b) => a + b, fail: () => { throw new TypeError('no'); } };
describe('expect', () => {
  it('toBe', () => { expect(add(1, 2)).toBe(3); });
  it('toEqual', () => expect([add(1, 2)]).toEqual([3]));
  it('toStrictEqual', () => expect({ a: add(1, 2) }).toStrictEqual({ a: 3 }));
  it('anything', () => expect(add(1, 2)).toEqual(expect.anything()));
  it('holds anything', () => expect([add(1, 2)]).toEqual([expect.any(Number)]));
  it('object holding', () => expect({ a: add(1, 2), b: 1 }).toEqual(expect.objectContaining({ a: 3 })));
  it('toMatchObject', () => expect({ a: add(1, 2), b: 1 }).toMatchObject({ a: 3 }));
  it('toBeCloseTo', () => expect(add(1, 0.4)).toBeCloseTo(1, -3));
  it('truthy', () => expect(add(1, 1)).toBeTruthy());
  it('not', () => expect(add(1, 1)).not.toEqual(3));
  it('not thrown', () => expect(() => add(1, 1)).not.toThrow());
  it('thrown', () => expect(fail).toThrow());
  it('thrown kind', () => expect(fail).toThrow(TypeError));
  it('thrown text', () => expect(() => fail()).toThrow('no'));
  it('thrown error', () => expect(fail).toThrow(new Error('no')));
  it('resolves', async () => { await expect(Promise.resolve(add(1, 1))).resolves.toBe(2); });
  it('rejects', () => expect((async () => fail())()).rejects.toThrow('no'));
  it('rejects with anything', async () => await expect((async () => fail())()).rejects.toThrow());
  it('called', () => { const f = jest.fn(); f(add(1, 1)); expect(f).toHaveBeenCalledWith(2); });
  it('length', () => { expect([add(1, 1)]).toHaveLength(1); });
  it('contains', () => { expect([1, 2, 3]).toContain(add(1, 1)); });
  it('nothing', () => expect(add.nothing).toEqual(undefined));
  it('function', () => expect(add).toBe(add));
  it.each([[1, 2], [2, 3]])('adds one to %i', (a, b) => { expect(add(a, 1)).toBe(b); });
});
`;

const links = { node_modules: 'node_modules' };
const files = { 'jest.config.json': '{ "transform": {}, "testMatch": ["**/*.test.js"] }' };

test.each([
  ['node:test', NODE, 'node --test', 29],
  ['jest', JEST, 'node node_modules/.bin/jest --silent', 25],
])('every turned test of %s fails, and none does that was not turned', async (framework, text, command, count) => {
  const { source, lines, turned } = await readText('a.test.js', text);
  expect(source.framework).toBe(framework);
  expect(lines.filter((line) => !/\bS+$/.test(line))).toEqual([]);
  expect(turned.split('\n')).toHaveLength(text.split('\n').length);
  const plain = await watchedRun(command, { ...files, 'a.test.js': text }, { links });
  expect(plain.tests?.filter((line) => !line.startsWith('passed'))).toEqual([]);
  const wrong = await watchedRun(command, { ...files, 'a.test.js': turned }, { links });
  expect(wrong.tests).toHaveLength(count);
  expect(wrong.tests?.filter((line) => !line.startsWith('failed'))).toEqual([]);
});

test('only what runs whenever the test passes is sure, and what nobody waits for is left as it is', async () => {
  const { lines } = await readText(
    'a.test.ts',
    `import { describe, it, expect } from 'vitest';
it('branch', () => { if (x) { expect(f()).toBe(1); } else { expect(f()).toBe(2); } });
it('return', () => { expect(f()).toBe(1); if (x) return; expect(f()).toBe(1); });
it('loop', () => { for (const x of y) { expect(x).toBe(1); } });
it('try', () => { try { expect(f()).toBe(1); } catch {} });
it('function', () => { const check = () => { return expect(f()).toBe(1); }; expect(f()).toBe(1); });
it('callback', (done) => { f((x) => { expect(x).toBe(1); done(); }); });
it('later', () => { expect(p).resolves.toBe(1); });
it('returned', () => { return expect(p).resolves.toBe(1); });
it('then', () => p.then((x) => { expect(x).toBe(1); }));
it('then returned', () => { return p.then((x) => { expect(x).toBe(1); }); });
it('each', () => { xs.forEach((x) => { expect(x).toBe(1); }); });
it('snapshot', () => { expect(f()).toMatchSnapshot(); expect(f()).toMatchInlineSnapshot('x'); });
it('own matcher', () => { expect(f()).toBeOdd(); });
it('typed', () => { expect<number>(f() as any).toBe<number>(1); });
it('skips', (t) => { t.skip(); expect(f()).toBe(1); });
`,
  );
  expect(lines).toEqual([
    'branch | uu',
    'return | Su',
    'loop | u',
    'try | u',
    'function | S',
    'callback | ',
    'later | ',
    'returned | S',
    'then | ',
    'then returned | u',
    'each | u',
    'snapshot | ',
    'own matcher | ',
    'typed | S',
    'skips | skipped | u',
  ]);
});

test("chai's words are turned by what they say", async () => {
  const { turned, source, lines } = await readText(
    'a.spec.js',
    `const { expect, assert } = require('chai');
describe('chai', function () {
  it('a', function () {
    expect(f()).to.equal(1);
    expect(f()).to.be.true;
    expect(f()).to.not.be.null;
    expect(f()).to.deep.equal({ a: 1 });
    expect(f).to.throw(TypeError, 'no');
    f().should.have.lengthOf(2);
    expect(f()).to.be.an('array').that.includes(1);
    assert.deepEqual(f(), [1]);
    assert.isTrue(f());
    return expect(f()).to.eventually.equal(1);
  });
});
`,
  );
  expect(turned).not.toMatch(/\bh[\da-f]{16}\b/);
  const body = turned
    .split('\n')
    .slice(3, -3)
    .map((line) => line.trim().replaceAll(/\d+/g, '?'));
  expect(body).toEqual(
    [
      'expect(f()).to.equal(?);',
      'expect(f()).not.to.be.true;',
      'expect(f()).to.be.null;',
      'expect(f()).to.deep.equal({ a: ? });',
      "expect(f).not.to.throw(TypeError, 'no');",
      'f().should.have.lengthOf(?);',
      "expect(f()).to.be.an('array').that.includes(?);",
      'assert.deepEqual(f(), [?]);',
      'assert.isTrue(!f());',
      'return expect(f()).to.eventually.equal(?);',
      '});',
    ].slice(0, body.length),
  );
  expect(source.framework).toBe('mocha');
  expect(lines).toEqual(['chai > a | SSSSSSSS']);
});

test('names, skipped tests and those of other frameworks are told', async () => {
  const { lines } = await readText(
    'a.test.js',
    `import { expect } from '@jest/globals';
describe('out\\u00e9r', () => {
  describe("in'ner", () => { test('a', () => { expect(f()).toBe(1); }); }, 1000);
  xit('b', () => {});
  it.skip('c', () => {});
  it.todo('d');
  test('twice', () => { expect(f()).toBe(1); });
  test('twice', () => { expect(f()).toBe(2); });
  context(\`template\`, () => { specify('e', () => {}).timeout(5); });
});
describe(Foo, () => { it(Foo.name, () => {}); });
describe.skip('off', () => { it('f', () => {}); });
if (x) it('g', () => {});
[1, 2].forEach((n) => { it('n' + n, () => {}); });
function shared() { it('h', () => { expect(f()).toBe(1); }); }
test.each\`a | b
\${1} | \${2}\`('$a is $b', ({ a, b }) => { expect(a).toBe(b); });
test.failing('i', () => {});
test.for([1])('for %i', () => {});
it('j', { todo: true }, () => {});
foo.test('no test', () => {});
`,
  );
  expect(lines).toEqual([
    "outér > in'ner > a | S",
    'outér > b | skipped | ',
    'outér > c | skipped | ',
    'outér > d | skipped | ',
    'outér > twice | several | SS',
    'outér > template > e | ',
    '? > ? | ',
    'off > f | skipped | ',
    'g | skipped | ',
    '? | several | ',
    '? > h | several | skipped | S',
    '$a is $b | several | S',
    'i | skipped | ',
    'for %i | several | ',
    'j | skipped | ',
  ]);
  expect((await readText('a.js', "import test from 'ava'; test('a', (t) => t.is(1, 1));")).source.framework).toBeNull();
  const alone = await readText('a.js', "it.only('a', () => {}); it('b', () => {});");
  expect(alone.lines).toEqual(['a | ', 'b | skipped | ']);
});

test('a turned TypeScript source has types', async () => {
  const text = `// @jest-environment node
import { expect, test } from '@jest/globals';
const f = (): number => 1;
test('a', () => { expect(f()).toBe(one); expect(f).toThrow(TypeError); });
`;
  const { turned } = await readText('a.test.ts', text);
  expect(turned).toMatch(/^\/\/ @jest-environment node\nconst (h\w+): any = \{.*\}; void \1; import/);
  expect(turned).toMatch(/toBe\((h\w+)\.turn\(one, \d{5}\)\); expect\(f\)\.toThrow\((?!TypeError)\w+Error\)/);
});
