pub fn total(coins: &[u32]) -> u32 {
    todo!("the sum of {coins:?}")
}

pub fn change(amount: i32) -> Result<Vec<i32>, String> {
    todo!("change for {amount}")
}

pub fn describe(amount: u32) -> String {
    todo!("{amount} in words")
}
