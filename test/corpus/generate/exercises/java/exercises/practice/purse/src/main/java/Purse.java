import java.util.List;

class Purse {
    Object total(List<Integer> coins) {
        throw new UnsupportedOperationException("Delete this statement and write your own implementation.");
    }

    Object change(int amount) {
        throw new UnsupportedOperationException("Delete this statement and write your own implementation.");
    }

    Object describe(int amount) {
        throw new UnsupportedOperationException("Delete this statement and write your own implementation.");
    }
}
