package grant

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// TestNothingIsEverLentTwice lets many ask, hold, renew, forget and leave at
// random, and looks after each step: nothing is over-committed, every waiter is
// answered by its deadline, and no measurement holds while a rank could.
func TestNothingIsEverLentTwice(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for seed := range testkit.Upto(t, rounds) {
		synctest.Test(t, func(t *testing.T) {
			rng := seed.Source(3)
			d := newScenario(t)
			open := 0
			done := make(chan bool)
			held := 0
			for range 120 {
				switch rng.IntN(7) {
				case 0, 1, 2:
					r := anyRequest(rng)
					open++
					go func() {
						began := time.Now()
						g, err := d.Ask(context.Background(), r)
						if time.Since(began) > r.Wait {
							t.Errorf("%s waited %s of %s", r.Holder, time.Since(began), r.Wait)
						}
						if err == nil && g.State == api.GrantWaiting && (g.Reason == "" || g.WaitingFor == "") {
							t.Errorf("%s is not told for what it waits: %+v", r.Holder, g)
						}
						done <- err == nil && g.State == api.GrantHeld
					}()
				case 3:
					_ = d.Release(rank(rng.IntN(8)), 1)
				case 4:
					_, _ = d.Renew(job(rng.IntN(8)), 1, 1, 0)
				case 5:
					_ = d.Release(measure(rng.IntN(3)), 0)
				case 6:
					i := rng.IntN(8)
					if d.Occupy(rank(i).Rank, 1) {
						time.AfterFunc(time.Duration(rng.IntN(90))*time.Second, func() { d.Vacate(rank(i).Rank) })
					}
				}
				synctest.Wait()
				for drained := false; !drained; {
					select {
					case got := <-done:
						open--
						if got {
							held++
						}
					default:
						drained = true
					}
				}
				d.mustFit(t)
				time.Sleep(time.Duration(rng.IntN(8000)) * time.Millisecond)
			}
			for ; open > 0; open-- {
				<-done
			}
			if held == 0 {
				t.Error("nothing was ever lent")
			}
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			left := names(d)
			d.Close()
			d.mu.Lock()
			defer d.mu.Unlock()
			if len(left) > 0 || len(d.docs) > 0 {
				t.Errorf("stuck: %v, documents %v", left, d.docs)
			}
		})
	}
}

func anyRequest(rng *rand.Rand) Request {
	r := wants(rng.IntN(8), time.Duration(rng.IntN(60))*time.Second)
	if rng.IntN(5) == 0 {
		return measures(rng.IntN(3), r.Wait)
	}
	r.GPU = []api.GPUShare{api.GPUExclusive, api.GPUShared, api.GPUShared, api.GPUNone}[rng.IntN(4)]
	r.MemoryBytes = rng.Int64N(70) * gb
	for p := range api.PortNumber(3) {
		if rng.IntN(4) == 0 {
			r.PortNumbers = append(r.PortNumbers, p+1)
		}
	}
	return r
}

// mustFit checks what is lent against what there is, and the documents against both.
func (d *scenario) mustFit(t *testing.T) {
	t.Helper()
	gpus, exclusive, measurements, ranks, waiting, memory := 0, 0, 0, 0, 0, int64(0)
	ports := map[api.PortNumber]int{}
	all := d.Holders()
	for name, g := range all {
		h, err := ParseHolder(name)
		if err != nil {
			t.Fatal(err)
		}
		if doc := d.doc(h); doc.State != g.State {
			t.Fatalf("%s is %s and its document says %s", name, g.State, doc.State)
		}
		if g.State != api.GrantHeld {
			if !h.IsMeasure() {
				waiting++
			}
			continue
		}
		memory += g.MemoryBytes
		for _, p := range g.PortNumbers {
			if ports[p]++; ports[p] > 1 {
				t.Fatalf("device %d is lent twice", p)
			}
		}
		if g.GPU != api.GPUNone {
			gpus++
		}
		if g.GPU == api.GPUExclusive {
			exclusive++
		}
		if h.IsMeasure() {
			measurements++
		} else {
			ranks++
		}
	}
	if exclusive > 0 && gpus > 1 || memory > *d.set || measurements > 1 || measurements > 0 && ranks > 0 {
		t.Fatalf("over-committed: %v", all)
	}
	if waiting > 0 && ranks+measurements == 0 {
		t.Fatalf("ranks wait for nothing: %v", all)
	}
}

// TestMeasurementsNeverStarveRanks measures all the time; a rank gets its turn
// as soon as the measurement that runs has ended.
func TestMeasurementsNeverStarveRanks(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		d.now(measures(0, 0))
		for i := range 3 {
			d.ask(measures(i+1, time.Hour))
		}
		r := d.ask(wants(1, time.Hour))
		d.ask(measures(4, time.Hour))
		if got := <-r; got.State != api.GrantHeld || got.at != lease {
			t.Errorf("the rank got %s after %s", got.State, got.at)
		}
	})
}

// FuzzParseHolder holds names of holders to one form.
func FuzzParseHolder(f *testing.F) {
	for _, s := range []string{"j4k2m9xq7/2/0", "m4k2m9xq7", "", "/", "j/1/1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := ParseHolder(s)
		if err != nil {
			return
		}
		again, err := ParseHolder(h.String())
		if err != nil || again != h || !h.Valid() {
			t.Fatalf("%q became %+v, then %+v, %v", s, h, again, err)
		}
	})
}
