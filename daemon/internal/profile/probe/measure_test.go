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

// one is what a connection of this network carries over far: it holds 256 KiB on
// its way.
const one = float64(256<<10) * 8 / 20e-3

var far = memnet.Quality{Delay: 20 * time.Millisecond}

func TestFull(t *testing.T) {
	within(t, func(api.NodeID, *Config) {}, func(r *rig) {
		is := is.New(r.t)
		r.network.SetQuality("cable", far)
		var steps []string
		last := -1.0
		began := time.Now()
		result, err := r.laptop.Measure(r.t.Context(), m1, there, AmountFull, func(step string, done float64) {
			is.True(done >= last && done <= 1)
			steps, last = append(steps, step), done
		})
		took := time.Since(began)
		is.NoErr(err)
		is.True(near(result.UpBitsPerS, maxStreams*one, 0.02))
		is.True(near(result.DownBitsPerS, maxStreams*one, 0.02))
		is.True(near(result.RTTUS, 40000, 0.001))
		is.Equal(*result.JitterUS, 0.0)
		is.Equal(result.LossRatio, nil) // this network does not tell
		is.True(result.RTTSamples >= 10)
		is.Equal(result.Streams, maxStreams)
		is.True(took > 2*time.Second && took < 12*time.Second)
		is.True(float64(result.MovedBytes) > 2*maxStreams*one/8)
		is.Equal(steps[0], "round trips")
		is.Equal(last, 1.0)
	})
}

func TestFewestConnectionsThatFillThePath(t *testing.T) {
	for _, c := range []struct {
		rate    float64
		streams int
	}{{1e6, 1}, {2e7, 1}, {8e7, 1}, {1.9e8, 2}, {3.8e8, 4}, {6e8, 8}} {
		if testing.Short() && c.streams > 2 {
			continue // seconds of copying
		}
		wire := &narrow{rate: c.rate}
		within(t, at(studio, wire.hand), func(r *rig) {
			is := is.New(r.t)
			r.network.SetQuality("cable", far)
			result, err := r.measure(AmountFull)
			is.True(err == nil)
			is.True(near(result.UpBitsPerS, c.rate, 0.02))
			is.True(near(result.DownBitsPerS, c.rate, 0.02))
			is.Equal(result.Streams, c.streams)
		})
	}
}

func TestRefresh(t *testing.T) {
	in(t, nil, func(r *rig) {
		is := is.New(r.t)
		path := there
		path.Streams = 3
		began := time.Now()
		result, err := r.laptop.Measure(r.t.Context(), m1, path, AmountRefresh, quiet)
		took := time.Since(began)
		is.NoErr(err)
		is.True(near(result.UpBitsPerS, usualRate, 0.05))
		is.True(near(result.DownBitsPerS, usualRate, 0.05))
		is.Equal(result.Streams, 3)
		is.True(result.RTTSamples >= 10)
		is.True(took < 500*time.Millisecond)
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
	in(t, nil, func(r *rig) {
		is := is.New(r.t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 20 {
				<-time.After(150 * time.Millisecond)
				r.wall.Store(int64(time.Duration(i%3-1) * 10 * time.Hour))
			}
		}()
		result, err := r.measure(AmountFull)
		<-done
		is.True(err == nil)
		is.True(near(result.UpBitsPerS, usualRate, 0.02))
		is.True(near(result.DownBitsPerS, usualRate, 0.02))
	})
}

func TestCancel(t *testing.T) {
	in(t, nil, func(r *rig) {
		is := is.New(r.t)
		ctx, cancel := context.WithCancel(r.t.Context())
		time.AfterFunc(700*time.Millisecond, cancel)
		began := time.Now()
		result, err := r.laptop.Measure(ctx, m1, there, AmountFull, quiet)
		is.Equal(api.AsError(err).Data.Reason, api.ReasonCancelled)
		is.True(near(result.RTTUS, 8000, 0.001)) // what was measured before stays
		is.True(time.Since(began) < time.Second)
	})
}
