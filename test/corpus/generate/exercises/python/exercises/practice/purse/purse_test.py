import unittest

from purse import (
    change,
    describe,
    is_even,
    total,
)


class PurseTest(unittest.TestCase):
    def test_an_empty_purse(self):
        self.assertEqual(total([]), 0)

    def test_a_few_coins(self):
        self.assertEqual(total([1, 2, 5]), 8)

    def test_change_for_eight(self):
        self.assertEqual(change(8), [5, 2, 1])

    def test_change_for_a_hundred(self):
        self.assertEqual(change(100), [50, 50])

    def test_no_change_for_a_debt(self):
        with self.assertRaises(ValueError) as err:
            change(-1)
        self.assertEqual(err.exception.args[0], "a purse holds no debts")

    def test_one_cent(self):
        self.assertEqual(describe(1), "1 cent")

    def test_many_cents(self):
        self.assertEqual(describe(3), "3 cents")

    def test_even(self):
        self.assertEqual(is_even(4), True)

    def test_odd(self):
        self.assertEqual(is_even(5), False)
