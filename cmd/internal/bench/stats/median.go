package stats

import (
	"math"
	"slices"
)

// Estimate is a median with the interval that holds the true one in at least
// 95 of 100 cases.
type Estimate struct {
	Median, Low, High float64
	// Samples is how many values it was made of.
	Samples int
}

// Median estimates the median of values. The interval's ends are order
// statistics of the values themselves, chosen by the binomial distribution
// (the sign test turned round), so that one wild value changes nothing. Below
// six values no two of them hold 95 %: the interval is then the whole line.
func Median(values []float64) Estimate {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	e := Estimate{Median: math.NaN(), Low: math.Inf(-1), High: math.Inf(1), Samples: n}
	if n == 0 {
		return e
	}
	e.Median = (sorted[(n-1)/2] + sorted[n/2]) / 2
	if k := rank(n); k > 0 {
		e.Low, e.High = sorted[k-1], sorted[n-k]
	}
	return e
}

// rank is the largest k for which at most 2.5 % of all cases have fewer than k
// of n values below the true median: the k-th smallest and k-th largest values
// then bound it. 0 where there is none.
func rank(n int) int {
	probability := math.Pow(0.5, float64(n)) // of exactly i values below
	sum, k := 0.0, 0
	for i := range n {
		if sum += probability; sum > 0.025 {
			break
		}
		k = i + 1
		probability *= float64(n-i) / float64(i+1)
	}
	return k
}

// Quantile estimates a quantile q, 0 to 1, of values by the nearest of them.
// How many values lie below the quantile is binomial: the interval reaches from
// the value two of its deviations below to the one two above, or to the smallest
// and the largest where there are not as many.
func Quantile(values []float64, q float64) Estimate {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return Estimate{Median: math.NaN(), Low: math.Inf(-1), High: math.Inf(1)}
	}
	rank := func(deviations float64) float64 {
		at := math.Ceil(q*float64(n) + deviations*math.Sqrt(float64(n)*q*(1-q)))
		return sorted[min(max(int(at)-1, 0), n-1)]
	}
	return Estimate{Median: rank(0), Low: rank(-1.96), High: rank(1.96), Samples: n}
}

// Exactly is a value that was counted, not sampled.
func Exactly(value float64) Estimate {
	return Estimate{Median: value, Low: value, High: value, Samples: 1}
}

// Ratios divides the pairs' first values by their second ones.
func Ratios(first, second []float64) []float64 {
	ratios := make([]float64, len(first))
	for i := range first {
		ratios[i] = first[i] / second[i]
	}
	return ratios
}
