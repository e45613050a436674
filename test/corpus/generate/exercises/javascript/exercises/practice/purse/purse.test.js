import assert from 'node:assert/strict';
import { test } from 'node:test';
import { change, describe, isEven, total } from './purse.js';

test('an empty purse', () => assert.equal(total([]), 0));

test('a few coins', () => assert.equal(total([1, 2, 5]), 8));

test('change for eight', () => assert.deepEqual(change(8), [5, 2, 1]));

test('change for a hundred', () => assert.deepEqual(change(100), [50, 50]));

test('no change for a debt', () => assert.throws(() => change(-1), { message: 'a purse holds no debts' }));

test('one cent', () => assert.equal(describe(1), '1 cent'));

test('many cents', () => assert.equal(describe(3), '3 cents'));

test('even', () => assert.equal(isEven(4), true));

test('odd', () => assert.equal(isEven(5), false));
