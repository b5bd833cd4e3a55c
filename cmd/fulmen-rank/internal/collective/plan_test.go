package collective

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

func valid() Options {
	return Options{Backend: "ring", DType: "float32", MinBytes: 1024, MaxBytes: 8192, PerSize: time.Second}
}

func TestSizes(t *testing.T) {
	is := is.New(t)
	is.Equal(valid().sizes(), []uint64{1024, 2048, 4096, 8192})
	odd := Options{DType: "float16", MinBytes: 5, MaxBytes: 17}
	is.Equal(odd.sizes(), []uint64{4, 8, 16}) // whole elements
}

func TestCheck(t *testing.T) {
	is.New(t).NoErr(valid().Check())
	for field, spoil := range map[string]func(*Options){
		"-backend":                func(o *Options) { o.Backend = "carrier pigeon" },
		"-dtype":                  func(o *Options) { o.DType = "int3" },
		"-min-bytes":              func(o *Options) { o.MinBytes = 0 },
		"-max-bytes":              func(o *Options) { o.MaxBytes = 8 },
		"give 4294967296 or less": func(o *Options) { o.MaxBytes = 1 << 40 },
		"-per-size":               func(o *Options) { o.PerSize = 0 },
	} {
		t.Run(field, func(t *testing.T) {
			is := is.New(t)
			o := valid()
			spoil(&o)
			err := o.Check()
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), field)) // the error names it
		})
	}
}

func TestRuns(t *testing.T) {
	is := is.New(t)
	is.Equal(runs(time.Millisecond, 50*time.Millisecond), 50)
	is.Equal(runs(time.Nanosecond, time.Second), maxRuns)
	is.Equal(runs(0, time.Second), maxRuns)
	is.Equal(runs(time.Minute, time.Second), minRuns)
}

// The factors are those of nccl-tests' page on performance: 2 (n - 1) / n.
func TestBusBandwidth(t *testing.T) {
	is := is.New(t)
	for size, factor := range map[int]float64{2: 1, 4: 1.5, 8: 1.75} {
		r := row(1_000_000, size, 5, time.Millisecond, 0)
		is.Equal(r.TimeUS, 1000.0)
		is.True(math.Abs(r.AlgBytesPerS-1e9) < 1)
		is.True(math.Abs(r.BusBytesPerS-factor*1e9) < 1)
	}
	is.Equal(row(1, 2, 1, 0, 0).AlgBytesPerS, 0.0) // no time, no rate
}

func TestReducedIsTheSumOfTheElements(t *testing.T) {
	is := is.New(t)
	for size := 1; size <= 16; size++ {
		for i := range 10 {
			sum := float32(0)
			for rank := range size {
				sum += element(rank, i)
			}
			is.Equal(reduced(size, i), sum)
		}
	}
}

func TestWrongCounts(t *testing.T) {
	is := is.New(t)
	one := func(int) float32 { return 1 }
	is.Equal(wrong([]float32{1, 1, 1}, one), 0)
	is.Equal(wrong([]float32{1, 2, float32(math.NaN())}, one), 2)
}

func TestSummary(t *testing.T) {
	is := is.New(t)
	us := func(all ...int) (times []time.Duration) {
		for _, one := range all {
			times = append(times, time.Duration(one)*time.Microsecond)
		}
		return times
	}
	for _, c := range []struct {
		times          []time.Duration
		median, jitter time.Duration
	}{
		{us(10, 20, 10, 20), 20 * time.Microsecond, 10 * time.Microsecond},
		{us(30, 10, 20), 20 * time.Microsecond, 15 * time.Microsecond}, // in the order in which they were taken
		{us(7, 7, 7), 7 * time.Microsecond, 0},
		{us(5), 5 * time.Microsecond, 0},
		{nil, 0, 0},
	} {
		median, jitter := summary(c.times)
		is.Equal(median, c.median)
		is.Equal(jitter, c.jitter)
	}
}
