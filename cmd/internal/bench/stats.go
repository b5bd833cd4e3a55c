package main

import (
	"fmt"
	"math"
	"slices"
)

// Estimate is a value with the interval that holds the true one.
type Estimate struct {
	Value, Low, High float64
	// How says what the value is and what the interval holds.
	How string
}

// Median estimates the median of values; in at least 95 of 100 cases the interval
// holds the true one. The interval's ends are order statistics of the values
// themselves, chosen by the binomial distribution (the sign test turned round), so
// that one wild value changes nothing. Below six values no two of them hold 95 %:
// the interval is then the whole line.
func Median(values []float64) Estimate {
	n := len(values)
	e := Estimate{Value: middle(values), Low: math.Inf(-1), High: math.Inf(1), How: fmt.Sprintf("median of %d, 95 %% interval", n)}
	if k := rank(n); k > 0 {
		sorted := slices.Sorted(slices.Values(values))
		e.Low, e.High = sorted[k-1], sorted[n-k]
	}
	return e
}

func middle(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
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

// Quantile estimates a quantile q, between 0 and 1, of values by the nearest of
// them. How many values lie below the quantile is binomial: the interval reaches
// from the value two of its deviations below to the one two above, and has no end
// where there are not as many.
func Quantile(values []float64, q float64) Estimate {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	e := Estimate{Value: math.NaN(), How: fmt.Sprintf("p%.3g of %d, 95 %% interval", q*100, n)}
	at := func(deviations float64) float64 {
		rank := int(math.Ceil(q*float64(n) + deviations*math.Sqrt(float64(n)*q*(1-q))))
		switch {
		case rank < 1:
			return math.Inf(-1)
		case rank > n:
			return math.Inf(1)
		}
		return sorted[rank-1]
	}
	if n > 0 {
		e.Value = at(0)
	}
	e.Low, e.High = at(-1.96), at(1.96)
	return e
}

// Every is the median of values that are all there are, not a sample of more: the
// interval reaches from the smallest to the largest.
func Every(values []float64) Estimate {
	return Estimate{Value: middle(values), Low: slices.Min(values), High: slices.Max(values), How: fmt.Sprintf("median of all %d, smallest to largest", len(values))}
}

// Exactly is a value that was counted.
func Exactly(value float64) Estimate {
	return Estimate{Value: value, Low: value, High: value, How: "counted"}
}

// Ratios divides the pairs' first values by their second ones.
func Ratios(first, second []float64) []float64 {
	ratios := make([]float64, min(len(first), len(second))) // the last round may have been cut short
	for i := range ratios {
		ratios[i] = first[i] / second[i]
	}
	return ratios
}
