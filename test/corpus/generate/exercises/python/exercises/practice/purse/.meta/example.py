COINS = (50, 20, 10, 5, 2, 1)


def total(coins):
    return sum(coins)


def change(amount):
    if amount < 0:
        raise ValueError("a purse holds no debts")
    coins = []
    for coin in COINS:
        while amount >= coin:
            coins.append(coin)
            amount -= coin
    return coins


def describe(amount):
    return f"{amount} cent" + ("" if amount == 1 else "s")


def is_even(amount):
    return amount % 2 == 0
