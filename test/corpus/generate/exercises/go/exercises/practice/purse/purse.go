package purse

func Total(coins []int) int {
	panic("Please implement the Total function")
}

func Change(amount int) ([]int, error) {
	panic("Please implement the Change function")
}

func Describe(amount int) string {
	panic("Please implement the Describe function")
}

func IsEven(amount int) bool {
	panic("Please implement the IsEven function")
}
