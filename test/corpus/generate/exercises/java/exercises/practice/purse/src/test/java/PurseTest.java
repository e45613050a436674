import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class PurseTest {
    private final Purse purse = new Purse();

    @Test
    void aFewCoins() {
        assertThat(purse.total(List.of(1, 2, 5))).isEqualTo(8);
    }

    @Test
    void changeForEight() {
        assertThat(purse.change(8)).isEqualTo(List.of(5, 2, 1));
    }

    @Test
    void noChangeForADebt() {
        assertThatThrownBy(() -> purse.change(-1)).hasMessage("a purse holds no debts");
    }

    @Test
    void manyCents() {
        assertThat(purse.describe(3)).isEqualTo("3 cents");
    }
}
