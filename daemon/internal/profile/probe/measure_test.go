package probe

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/memnet"
)

// near reports whether a number is within a part of what it should be.
func near[T int64 | float64](got *T, want, part float64) bool {
	return got != nil && math.Abs(float64(*got)-want) <= part*want
}

func TestFull(t *testing.T) {
	in(t, nil, func(r *rig) {
		is := is.New(r.t)
		var steps []string
		last := -1.0
		result, err := r.laptop.Measure(r.t.Context(), m1, there, AmountFull, func(step string, done float64) {
			is.True(done >= last && done <= 1)
			steps, last = append(steps, step), done
		})
		is.NoErr(err)
		// A connection of this network holds 256 KiB on its way, for 4 ms.
		one := float64(256<<10) * 8 / 4e-3
		is.True(near(result.UpBitsPerS, maxStreams*one, 0.01))
		is.True(near(result.DownBitsPerS, maxStreams*one, 0.01))
		is.True(near(result.RTTUS, 8000, 0.001))
		is.Equal(*result.JitterUS, 0.0)
		is.Equal(result.LossRatio, nil) // this network does not tell
		is.True(result.RTTSamples >= 10)
		is.Equal(result.Streams, maxStreams)
		is.True(result.Took > 2*time.Second && result.Took < 6*time.Second)
		is.True(float64(result.MovedBytes) > 2*maxStreams*one/8)
		is.Equal(steps[0], "round trips")
		is.Equal(last, 1.0)
	})
}

func TestFewestConnectionsThatFillThePath(t *testing.T) {
	for _, c := range []struct {
		rate    float64
		streams int
	}{{1e6, 1}, {1e8, 1}, {4e8, 1}, {1e9, 2}, {2e9, 4}, {3e9, 8}} {
		wire := &narrow{rate: c.rate}
		in(t, at(studio, wire.hand), func(r *rig) {
			is := is.New(r.t)
			result, err := r.measure(AmountFull)
			is.True(err == nil)
			is.True(near(result.UpBitsPerS, c.rate, 0.02))
			is.True(near(result.DownBitsPerS, c.rate, 0.02))
			is.Equal(result.Streams, c.streams)
		})
	}
}

func TestRefresh(t *testing.T) {
	wire := &narrow{rate: 1e9}
	in(t, at(studio, wire.hand), func(r *rig) {
		is := is.New(r.t)
		path := there
		path.Streams = 3
		result, err := r.laptop.Measure(r.t.Context(), m1, path, AmountRefresh, nil)
		is.NoErr(err)
		is.True(near(result.UpBitsPerS, 1e9, 0.05))
		is.True(near(result.DownBitsPerS, 1e9, 0.05))
		is.Equal(result.Streams, 3)
		is.True(result.RTTSamples >= 10)
		is.True(result.Took < 500*time.Millisecond)
		is.True(result.MovedBytes < 64<<20)
	})
}

func TestRoundTripsOnly(t *testing.T) {
	in(t, nil, func(r *rig) {
		is := is.New(r.t)
		r.network.SetQuality("cable", memnet.Quality{Delay: time.Millisecond, Jitter: time.Millisecond})
		result, err := r.measure(AmountRTT)
		is.True(err == nil)
		is.True(*result.RTTUS > 2000 && *result.RTTUS < 4000)
		is.True(*result.JitterUS > 50 && *result.JitterUS < 2000)
		is.Equal(result.UpBitsPerS, nil)
		is.Equal(result.DownBitsPerS, nil)
		is.Equal(result.MovedBytes, int64(0))
		sent, _, _ := r.network.Host(string(studio)).Traffic()
		is.True(sent < 16<<10)
	})
}

// What people and time servers do to the wall clock changes nothing.
func TestWallClockJumps(t *testing.T) {
	wire := &narrow{rate: 1e9}
	in(t, at(studio, wire.hand), func(r *rig) {
		is := is.New(r.t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 20 {
				time.Sleep(150 * time.Millisecond)
				r.wall.Store(int64(time.Duration(i%3-1) * 10 * time.Hour))
			}
		}()
		result, err := r.measure(AmountFull)
		<-done
		is.True(err == nil)
		is.True(near(result.UpBitsPerS, 1e9, 0.02))
		is.True(near(result.DownBitsPerS, 1e9, 0.02))
	})
}

func TestCancel(t *testing.T) {
	in(t, nil, func(r *rig) {
		is := is.New(r.t)
		ctx, cancel := context.WithCancel(r.t.Context())
		time.AfterFunc(700*time.Millisecond, cancel)
		began := time.Now()
		result, err := r.laptop.Measure(ctx, m1, there, AmountFull, nil)
		is.Equal(api.AsError(err).Data.Reason, api.ReasonCancelled)
		is.True(near(result.RTTUS, 8000, 0.001)) // what was measured before stays
		is.True(time.Since(began) < time.Second)
	})
}
