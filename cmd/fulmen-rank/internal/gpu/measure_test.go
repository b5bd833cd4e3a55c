package gpu

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"
)

// bench is a clock that each run moves on by the next of its durations, the
// last of them for ever.
type bench struct {
	at    time.Time
	takes []time.Duration
	runs  int
}

func (b *bench) now() time.Time { return b.at }

func (b *bench) run() error {
	b.at = b.at.Add(b.takes[min(b.runs, len(b.takes)-1)])
	b.runs++
	return nil
}

func plan() Plan {
	return Plan{MinWarmUp: time.Second, MaxWarmUp: 4 * time.Second, Window: 3, Tolerance: 0.02, MinRuns: 3, MaxRuns: 10, Budget: 2 * time.Second}
}

func ignore(float64) {}

func TestWarmUpWaitsForTheSpeedToSettle(t *testing.T) {
	is := is.New(t)
	// The device's clock rises during the first eight runs.
	b := &bench{takes: []time.Duration{900, 800, 700, 600, 500, 400, 300, 200, 100}}
	for i := range b.takes {
		b.takes[i] *= time.Millisecond
	}
	p := plan()
	p.MaxWarmUp = time.Minute
	timing, err := p.Do(context.Background(), b.now, ignore, b.run)
	is.NoErr(err)
	is.True(timing.Settled)
	is.Equal(timing.BestS, 0.1)
	is.Equal(timing.MedianS, 0.1) // no run of the rise was counted
	is.Equal(timing.SpreadRatio, 0.0)
	is.Equal(timing.Runs, 10)
	is.True(timing.WarmUpS >= 4.79) // the rise of 4.4 s, and a window to see that it ended
}

func TestWarmUpHasALimit(t *testing.T) {
	is := is.New(t)
	var takes []time.Duration
	for i := range 100 { // never the same twice
		takes = append(takes, time.Duration(100+50*(i%7))*time.Millisecond*time.Duration(1+i/3))
	}
	b := &bench{takes: takes}
	p := plan()
	timing, err := p.Do(context.Background(), b.now, ignore, b.run)
	is.NoErr(err)
	is.True(!timing.Settled)
	is.True(timing.WarmUpS >= 4)
	is.True(timing.Runs >= 3)
}

func TestBestMedianAndSpread(t *testing.T) {
	is := is.New(t)
	p := plan()
	p.MinWarmUp, p.MaxWarmUp, p.MaxRuns = 0, time.Millisecond, 4
	second := time.Second
	p.Budget = time.Hour
	b := &bench{takes: []time.Duration{second, 4 * second, 2 * second, 3 * second, 8 * second}}
	timing, err := p.Do(context.Background(), b.now, ignore, b.run)
	is.NoErr(err)
	is.Equal(timing.Runs, 4)
	is.Equal(timing.BestS, 2.0)
	is.Equal(timing.MedianS, 3.5)
	is.Equal(timing.SpreadRatio, 0.75)
}

func TestSlowDeviceStillGetsItsRuns(t *testing.T) {
	is := is.New(t)
	b := &bench{takes: []time.Duration{10 * time.Second}}
	timing, err := plan().Do(context.Background(), b.now, ignore, b.run)
	is.NoErr(err)
	is.Equal(timing.Runs, 3)
	is.Equal(b.runs, 4) // one run of warm-up passed its limit
}

func TestProgressRisesToOne(t *testing.T) {
	is := is.New(t)
	b := &bench{takes: []time.Duration{100 * time.Millisecond}}
	last := 0.0
	p := plan()
	p.MaxRuns = 1000
	_, err := p.Do(context.Background(), b.now, func(ratio float64) {
		is.True(ratio >= last && ratio <= 1) // never falls
		last = ratio
	}, b.run)
	is.NoErr(err)
	is.True(last > 0.99)
}

func TestEndsWithTheContextAndWithAFailure(t *testing.T) {
	is := is.New(t)
	ctx, cancel := context.WithCancel(context.Background())
	b := &bench{takes: []time.Duration{time.Millisecond}}
	_, err := plan().Do(ctx, b.now, ignore, func() error {
		if b.runs == 5 {
			cancel()
		}
		return b.run()
	})
	is.True(errors.Is(err, context.Canceled))
	is.Equal(b.runs, 6) // the run that was under way, and none after it

	broken := errors.New("device lost")
	_, err = plan().Do(context.Background(), b.now, ignore, func() error { return broken })
	is.Equal(err, broken)
}
