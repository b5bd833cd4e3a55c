package grant

import (
	"context"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/nativetest/testkit"
)

type silent struct{}

func (silent) Put(api.Kind, string, any, map[string]api.Reason) error { return nil }
func (silent) Delete(api.Kind, string) error                          { return nil }
func (silent) Allows(api.Principal) (string, api.Reason)              { return "account", "" }

func benchArbiter() *Arbiter {
	began, set := time.Now(), 100*gb
	return New(Config{
		Self: me, Documents: silent{}, Policy: silent{},
		Clock:    native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) }),
		Capacity: func() Capacity { return Capacity{WorkingSetBytes: &set} },
		GPUUse:   func() (float64, bool) { return 0, true },
	})
}

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// BenchmarkAskRelease is the way of a job that finds the node free.
func BenchmarkAskRelease(b *testing.B) {
	a := benchArbiter()
	r := wants(1, 0)
	for b.Loop() {
		if g, err := a.Ask(context.Background(), r); err != nil || g.State != api.GrantHeld {
			b.Fatal(g, err)
		}
		if err := a.Release(r.Holder, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRenewInALongLine renews a lease while a hundred wait.
func BenchmarkRenewInALongLine(b *testing.B) {
	a := benchArbiter()
	if _, err := a.Ask(context.Background(), wants(1, 0)); err != nil {
		b.Fatal(err)
	}
	for i := range 100 {
		r := wants(2, time.Hour)
		r.Holder.Rank.Rank = i
		if _, err := a.enqueue(r); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if n, err := a.Renew(job(1), 1, 1, 0); n != 1 || err != nil {
			b.Fatal(n, err)
		}
	}
}
