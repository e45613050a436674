const COINS = [50, 20, 10, 5, 2, 1];

export const total = (coins: readonly number[]): number => coins.reduce((sum, coin) => sum + coin, 0);

export const change = (amount: number): number[] => {
  if (amount < 0) throw new RangeError('a purse holds no debts');
  const coins: number[] = [];
  let left = amount;
  for (const coin of COINS) for (; left >= coin; left -= coin) coins.push(coin);
  return coins;
};

export const describe = (amount: number): string => `${amount} cent${amount === 1 ? '' : 's'}`;
