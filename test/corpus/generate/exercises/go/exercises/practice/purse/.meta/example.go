package purse

import (
	"errors"
	"fmt"
)

func Total(coins []int) int {
	sum := 0
	for _, coin := range coins {
		sum += coin
	}
	return sum
}

func Change(amount int) ([]int, error) {
	if amount < 0 {
		return nil, errors.New("a purse holds no debts")
	}
	coins := []int{}
	for _, coin := range []int{50, 20, 10, 5, 2, 1} {
		for ; amount >= coin; amount -= coin {
			coins = append(coins, coin)
		}
	}
	return coins, nil
}

func Describe(amount int) string {
	if amount == 1 {
		return "1 cent"
	}
	return fmt.Sprintf("%d cents", amount)
}

func IsEven(amount int) bool {
	return amount%2 == 0
}
