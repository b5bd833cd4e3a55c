package history

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
)

// collect gives one number of all results that have it, the newest first.
func collect[T any](all []api.LinkResult, of func(api.LinkResult) *T) []*T {
	var found []*T
	for _, r := range all {
		if v := of(r); v != nil {
			found = append(found, v)
		}
	}
	return found
}

// usualRate is the median of rates. It stays what it was while they are low, so
// that what got worse is not soon called usual; until nothing better is remembered.
func usualRate(rates []*int64, before *int64) *int64 {
	if n := streak(rates, before); n > 0 && n < len(rates) {
		return before
	}
	return median(rates)
}

// median is the middle of some numbers, the lower of two; nil of none.
func median[T cmp.Ordered](values []*T) *T {
	if len(values) == 0 {
		return nil
	}
	sorted := make([]T, len(values))
	for i, v := range values {
		sorted[i] = *v
	}
	slices.Sort(sorted)
	return &sorted[(len(sorted)-1)/2]
}

// most and least are the larger and the smaller of two numbers that may be absent.
func most[T cmp.Ordered](a, b *T) *T {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

func least[T cmp.Ordered](a, b *T) *T {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}
