pub fn total(coins: &[u32]) -> u32 {
    coins.iter().sum()
}

pub fn change(amount: i32) -> Result<Vec<i32>, String> {
    if amount < 0 {
        return Err("a purse holds no debts".to_string());
    }
    let mut left = amount;
    let mut coins = Vec::new();
    for coin in [50, 20, 10, 5, 2, 1] {
        while left >= coin {
            coins.push(coin);
            left -= coin;
        }
    }
    Ok(coins)
}

pub fn describe(amount: u32) -> String {
    format!("{amount} cent{}", if amount == 1 { "" } else { "s" })
}
