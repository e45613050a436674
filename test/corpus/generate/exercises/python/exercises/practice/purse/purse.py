def total(coins):
    pass


def change(amount):
    pass


def describe(amount):
    pass


def is_even(amount):
    pass
