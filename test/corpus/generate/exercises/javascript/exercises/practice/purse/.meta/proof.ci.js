const COINS = [50, 20, 10, 5, 2, 1];

export const total = (coins) => coins.reduce((sum, coin) => sum + coin, 0);

export const change = (amount) => {
  if (amount < 0) throw new RangeError('a purse holds no debts');
  const coins = [];
  let left = amount;
  for (const coin of COINS) for (; left >= coin; left -= coin) coins.push(coin);
  return coins;
};

export const describe = (amount) => `${amount} cent${amount === 1 ? '' : 's'}`;

export const isEven = (amount) => amount % 2 === 0;
