import { expect, test } from 'vitest';
import { change, describe, total } from './purse';

test('an empty purse', () => expect(total([])).toBe(0));

test('a few coins', () => expect(total([1, 2, 5])).toBe(8));

test('change for eight', () => expect(change(8)).toEqual([5, 2, 1]));

test('no change for a debt', () => expect(() => change(-1)).toThrow('a purse holds no debts'));

test('one cent', () => expect(describe(1)).toBe('1 cent'));

test('many cents', () => expect(describe(3)).toBe('3 cents'));
