package purse

import (
	"reflect"
	"testing"
)

var totals = []struct {
	name  string
	coins []int
	want  int
}{
	{"an empty purse", nil, 0},
	{"a few coins", []int{1, 2, 5}, 8},
}

func TestTotal(t *testing.T) {
	for _, tc := range totals {
		t.Run(tc.name, func(t *testing.T) {
			if got := Total(tc.coins); got != tc.want {
				t.Errorf("Total(%v) = %d, want %d", tc.coins, got, tc.want)
			}
		})
	}
}

func TestChange(t *testing.T) {
	got, err := Change(8)
	if err != nil {
		t.Fatalf("Change(8) returned an error: %v", err)
	}
	if want := []int{5, 2, 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("Change(8) = %v, want %v", got, want)
	}
}

func TestNoChangeForADebt(t *testing.T) {
	if _, err := Change(-1); err == nil {
		t.Error("Change(-1) returned no error")
	}
}

func TestDescribe(t *testing.T) {
	if got := Describe(3); got != "3 cents" {
		t.Errorf("Describe(3) = %q, want %q", got, "3 cents")
	}
}

func TestIsEven(t *testing.T) {
	if got := IsEven(4); got != true {
		t.Errorf("IsEven(4) = %v, want %v", got, true)
	}
}
