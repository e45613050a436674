use purse::*;

#[test]
fn an_empty_purse() {
    assert_eq!(total(&[]), 0);
}

#[test]
fn a_few_coins() {
    assert_eq!(total(&[1, 2, 5]), 8);
}

#[test]
fn change_for_eight() {
    assert_eq!(change(8).unwrap(), vec![5, 2, 1]);
}

#[test]
fn no_change_for_a_debt() {
    assert_eq!(change(-1).unwrap_err(), "a purse holds no debts");
}

#[test]
fn one_cent() {
    assert_eq!(describe(1), "1 cent");
}

#[test]
fn many_cents() {
    assert_eq!(describe(3), "3 cents");
}
