package ledger

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// put publishes a receptacle's document; each has a key of its own.
func (r *rig) put(t testing.TB, portNumber, n int) {
	t.Helper()
	if err := r.w.Put(Draft{Kind: api.KindThunderbolt, Name: strconv.Itoa(portNumber), Value: value(n)}); err != nil {
		t.Fatal(err)
	}
}

func TestWatchCoalescesAndNumbers(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	r.put(t, 1, 0)
	snapshot, w := r.Watch(WatchOptions{Name: "reader"})
	defer w.Close()
	is.Equal(names(snapshot), []string{"thunderbolt 1"})
	r.put(t, 1, 1)
	r.put(t, 2, 1)
	r.put(t, 1, 2)
	is.NoErr(r.w.Delete(api.KindThunderbolt, "2"))
	c, ok, err := w.take()
	is.NoErr(err)
	is.True(ok)
	is.Equal(c.N, uint64(1))
	is.Equal(names(c.Put), []string{"thunderbolt 1"})
	is.Equal(string(c.Put[0].doc.Value), string(value(2)))
	is.Equal(c.Del, []api.Key{r.key(api.KindThunderbolt, "2")})
	_, ok, err = w.take()
	is.NoErr(err)
	is.True(!ok) // no number is used for nothing
	r.put(t, 3, 1)
	c, _, _ = w.take()
	is.Equal(c.N, uint64(2))
}

func TestWatchGivesNotableChangesFirst(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	_, w := r.Watch(WatchOptions{BatchBytes: 1}) // one document at a time
	defer w.Close()
	is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(1)}))
	is.NoErr(r.w.Put(Draft{Kind: api.KindSystem, Value: value(1)}))
	r.put(t, 1, 1)
	is.NoErr(r.w.Put(Draft{Kind: "from-the-future", Value: value(1)}))
	var order []string
	for n := uint64(1); ; n++ {
		c, ok, err := w.take()
		is.NoErr(err)
		if !ok {
			break
		}
		is.Equal(c.N, n)
		is.Equal(len(c.Put), 1)
		order = append(order, names(c.Put)...)
	}
	is.Equal(order, []string{"thunderbolt 1", "from-the-future", "memory", "system"})
}

func TestBatchBytesBoundsAChange(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	const bound = 4096
	_, w := r.Watch(WatchOptions{BatchBytes: bound})
	defer w.Close()
	for i := range 50 {
		r.put(t, i+1, i)
	}
	seen, changes := 0, 0
	for {
		c, ok, err := w.take()
		is.NoErr(err)
		if !ok {
			break
		}
		size := 0
		for _, rec := range c.Put {
			raw, err := rec.JSON()
			is.NoErr(err)
			size += len(raw)
		}
		is.True(size <= bound)
		seen += len(c.Put)
		changes++
		if changes < 3 {
			r.put(t, 50, 1000+seen) // a key that waits is replaced in its place
		}
	}
	is.True(seen >= 50)
	is.True(changes < seen/3) // several fit
}

func TestSlowReaderLagsOnceAndEnds(t *testing.T) {
	is := is.New(t)
	r := newRig(t, func(o *Options) { o.Queue = 3 })
	_, slow := r.Watch(WatchOptions{Name: "slow"})
	defer slow.Close()
	_, fast := r.Watch(WatchOptions{Name: "fast"})
	defer fast.Close()
	for i := range 10 {
		r.put(t, 1+i%3, i) // three keys, however often, are no lag
		_, _, err := fast.take()
		is.NoErr(err)
	}
	r.put(t, 4, 0)
	ctx := t.Context()
	_, err := slow.Next(ctx)
	is.True(errors.Is(err, api.ReasonLagged))
	for range 2 {
		_, err = slow.Next(ctx)
		is.Equal(err, ErrEnded)
	}
	c, err := fast.Next(ctx)
	is.NoErr(err)
	is.Equal(names(c.Put), []string{"thunderbolt 4"}) // others do not feel it
	is.Equal(r.watchers, []*Watcher{fast})
	// A new subscription begins with everything.
	snapshot, again := r.Watch(WatchOptions{Name: "slow"})
	defer again.Close()
	is.Equal(len(snapshot), 4)
}

func TestNextWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := newRig(t, func(o *Options) { o.Now = time.Now })
		_, w := r.Watch(WatchOptions{Name: "reader", Filter: Filter{Kinds: []api.Kind{api.KindMemory}}})
		type result struct {
			c   Change
			err error
			at  time.Time
		}
		got := make(chan result)
		next := func(ctx context.Context) {
			c, err := w.Next(ctx)
			got <- result{c, err, time.Now()}
		}
		go next(t.Context())
		synctest.Wait()
		is.NoErr(r.w.Put(Draft{Kind: api.KindNetwork, Value: value(1)})) // not asked for
		time.Sleep(time.Second)
		began := time.Now()
		is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(1)}))
		res := <-got
		is.NoErr(res.err)
		is.Equal(names(res.c.Put), []string{"memory"})
		is.Equal(res.at, began) // at once, without a delay

		is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(2)}))
		time.Sleep(3 * time.Second)
		is.NoErr(r.w.Put(Draft{Kind: api.KindMemory, Value: value(3)}))
		c, _, err := w.take()
		is.NoErr(err)
		is.Equal(len(c.Put), 1) // the newest of the key alone
		is.Equal(string(c.Put[0].doc.Value), string(value(3)))

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go next(ctx)
		is.Equal((<-got).err, context.DeadlineExceeded)
		go next(t.Context())
		synctest.Wait()
		w.Close()
		w.Close()
		is.Equal((<-got).err, ErrEnded)
		is.Equal(len(r.watchers), 0)
	})
}

// Writers, readers of every speed and readers that come and go at once: who is
// not told that it lagged ends with exactly what the ledger has.
func TestConcurrentReadersEndWithTheLedgersState(t *testing.T) {
	is := is.New(t)
	r := newRig(t, func(o *Options) { o.Queue = 12 })
	_, err := r.PutForeign(signed(t, 2, api.Document{Kind: api.KindMemory, Inc: 1, Seq: 1}))
	is.NoErr(err)
	foreign := make([]api.Document, 200)
	for i := range foreign {
		foreign[i] = signed(t, 2, api.Document{Kind: api.KindMemory, Inc: 1, Seq: uint64(i + 2), Value: value(i)})
	}
	var writers, readers sync.WaitGroup
	stop, end := context.WithCancel(t.Context())
	fail := make(chan error, 64)
	for reader := range 8 {
		readers.Go(func() {
			for {
				snapshot, w := r.Watch(WatchOptions{Name: fmt.Sprint(reader), BatchBytes: 700 * (reader % 3)})
				know, n := stateOf(snapshot), uint64(0)
				for {
					c, err := w.Next(stop)
					if errors.Is(err, api.ReasonLagged) {
						break
					}
					if err != nil { // the end: what still waits must make it whole
						for ok := true; ok; {
							if c, ok, err = w.take(); err != nil {
								return // lagged at the last moment, and says so
							}
							know.apply(c)
						}
						if !know.equal(stateOf(r.List(Filter{}))) {
							fail <- fmt.Errorf("reader %d differs", reader)
						}
						return
					}
					if n++; c.N != n {
						fail <- fmt.Errorf("reader %d: change %d instead of %d", reader, c.N, n)
					}
					know.apply(c)
					if reader%4 == 3 && n%16 == 0 {
						break // leaves and comes again
					}
				}
				w.Close()
			}
		})
	}
	for writer := range 4 {
		writers.Go(func() {
			for i := range 200 {
				d := Draft{Kind: api.KindThunderbolt, Name: strconv.Itoa(1 + (writer*7+i)%20), Value: value(i), Delete: i%5 == 0}
				if err := r.w.Put(d, Draft{Kind: api.KindSystem, Value: value(writer*1000 + i)}); err != nil {
					fail <- err
				}
				if writer == 0 {
					if _, err := r.PutForeign(foreign[i]); err != nil {
						fail <- err
					}
				}
				if writer == 1 && i%50 == 0 {
					if err := r.w.Rejoin(testCluster); err != nil {
						fail <- err
					}
				}
			}
		})
	}
	writers.Wait()
	end()
	readers.Wait()
	close(fail)
	for err := range fail {
		t.Error(err)
	}
	is.True(len(interests(r.Ledger)) <= 1)
}
