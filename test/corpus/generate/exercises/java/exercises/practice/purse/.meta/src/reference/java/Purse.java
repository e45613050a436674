import java.util.ArrayList;
import java.util.List;

class Purse {
    Object total(List<Integer> coins) {
        return coins.stream().mapToInt(coin -> coin).sum();
    }

    Object change(int amount) {
        if (amount < 0) {
            throw new IllegalArgumentException("a purse holds no debts");
        }
        List<Integer> coins = new ArrayList<>();
        int left = amount;
        for (int coin : new int[] {50, 20, 10, 5, 2, 1}) {
            for (; left >= coin; left -= coin) {
                coins.add(coin);
            }
        }
        return coins;
    }

    Object describe(int amount) {
        return amount + " cent" + (amount == 1 ? "" : "s");
    }
}
