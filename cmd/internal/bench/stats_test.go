package main

import (
	"math"
	"testing"

	"github.com/matryer/is"

	"fulmen/native/nativetest/testkit"
)

// The ranks are those of tables of the sign test at 5 %, two-sided.
func TestRank(t *testing.T) {
	is := is.New(t)
	for n, want := range map[int]int{0: 0, 5: 0, 6: 1, 9: 2, 15: 4, 20: 6, 31: 10, 50: 18, 100: 40} {
		if got := rank(n); got != want {
			t.Errorf("rank(%d) = %d, want %d", n, got, want)
		}
	}
	is.True(rank(1000) > 400)
}

func TestMedian(t *testing.T) {
	is := is.New(t)
	e := Median([]float64{6, 1, 5, 2, 4, 3})
	is.Equal(e, Estimate{Value: 3.5, Low: 1, High: 6, How: "median of 6, 95 % interval"})
	few := Median([]float64{2, 1, 3})
	is.Equal(few.Value, 2.0)
	is.True(math.IsInf(few.Low, -1) && math.IsInf(few.High, 1)) // three values promise nothing
	is.True(math.IsNaN(Median(nil).Value))
	wild := Median([]float64{1, 1, 1, 1, 1, 1, 1, 1, 1e9})
	is.Equal(wild.High, 1.0) // one wild value changes nothing
}

// The interval holds the true median in at least 95 % of cases, whatever the
// distribution; here a skewed one.
func TestCoverage(t *testing.T) {
	random := testkit.Fixed(t, 1).Source(2)
	const rounds, n = 4000, 31
	held := 0
	for range rounds {
		values := make([]float64, n)
		for i := range values {
			values[i] = random.ExpFloat64()
		}
		if e := Median(values); e.Low <= math.Ln2 && math.Ln2 <= e.High {
			held++
		}
	}
	if share := float64(held) / rounds; share < 0.945 {
		t.Errorf("the interval held the median in %.1f %% of cases", share*100)
	}
}

func TestQuantile(t *testing.T) {
	is := is.New(t)
	var values []float64
	for i := range 100 {
		values = append(values, float64(100-i))
	}
	is.Equal(Quantile(values, 0.99).Value, 99.0)
	is.Equal(Quantile(values, 0.5).Value, 50.0)
	is.True(math.IsInf(Quantile(values, 0.99).High, 1)) // a hundred values do not bound the hundredth part
	is.True(math.IsInf(Quantile(values[:5], 0.01).Low, -1))
	is.True(math.IsNaN(Quantile(nil, 0.5).Value))
	half := Quantile(values, 0.5)
	is.Equal(half.Low, 41.0) // 50 less two deviations of 5 values
	is.Equal(half.High, 60.0)
	is.Equal(half.How, "p50 of 100, 95 % interval")
	is.Equal(Exactly(3), Estimate{Value: 3, Low: 3, High: 3, How: "counted"})
	is.Equal(Every([]float64{4, 1, 2, 9}), Estimate{Value: 3, Low: 1, High: 9, How: "median of all 4, smallest to largest"})
}

func TestRatios(t *testing.T) {
	is.New(t).Equal(Ratios([]float64{2, 9}, []float64{4, 3}), []float64{0.5, 3})
	is.New(t).Equal(Ratios([]float64{2, 9}, []float64{4}), []float64{0.5}) // a round that was cut short
}
