package grant

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	me    = api.NodeID("node0")
	gb    = int64(1) << 30
	lease = 30 * time.Second
)

func job(i int) api.JobID { return api.JobID(fmt.Sprintf("j0000000%d", i)) }

func rank(i int) Holder { return ForRank(api.RankRef{Job: job(i), Attempt: 1}) }

func measure(i int) Holder { return ForMeasure(api.MeasureID(fmt.Sprintf("m0000000%d", i))) }

// scenario is a node's resources and its owner's will, to be changed at will.
type scenario struct {
	*Arbiter
	t     *testing.T
	began time.Time

	mu      sync.Mutex
	docs    map[string]api.Grant
	deny    map[api.NodeID]api.Reason
	set     *int64
	others  *int64
	use     float64
	wait    time.Duration // for other programs
	watched []bool
}

func (d *scenario) Put(kind api.Kind, name string, value any, _ map[string]api.Reason) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if kind != api.KindGrant {
		return fmt.Errorf("put a %s", kind)
	}
	d.docs[name] = value.(api.Grant)
	return nil
}

func (d *scenario) Delete(_ api.Kind, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.docs, name)
	return nil
}

func (d *scenario) Allows(p api.Principal) (string, api.Reason) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return "account", d.deny[p.Node]
}

// change changes what the readers tell, and says so.
func (d *scenario) change(do func()) {
	d.mu.Lock()
	do()
	d.mu.Unlock()
	d.Recheck()
}

// ask asks in the background; the answer comes on the channel.
func (d *scenario) ask(r Request) chan answer {
	out := make(chan answer, 1)
	go func() {
		g, err := d.Ask(context.Background(), r)
		out <- answer{g, err, time.Since(d.began)}
	}()
	synctest.Wait()
	return out
}

type answer struct {
	api.Grant
	err error
	at  time.Duration
}

// now asks for an answer at once.
func (d *scenario) now(r Request) api.Grant {
	d.t.Helper()
	r.Wait = 0
	g, err := d.Ask(context.Background(), r)
	if err != nil {
		d.t.Fatal(err)
	}
	return g
}

func (d *scenario) doc(h Holder) api.Grant {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.docs[h.String()]
}

// on runs a test with an arbiter on virtual time.
func on(t *testing.T, test func(t *testing.T, d *scenario)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := newScenario(t)
		test(t, d)
		d.Close()
	})
}

func newScenario(t *testing.T) *scenario {
	set := 100 * gb
	d := &scenario{t: t, began: time.Now(), docs: map[string]api.Grant{}, deny: map[api.NodeID]api.Reason{}, set: &set, wait: 24 * time.Hour}
	d.Arbiter = New(Config{
		Self: me, Documents: d, Policy: d, Lease: lease,
		Clock: native.ClockFrom(time.Now, func() time.Duration { return time.Since(d.began) + time.Hour }),
		Capacity: func() Capacity {
			d.mu.Lock()
			defer d.mu.Unlock()
			return Capacity{WorkingSetBytes: d.set, OthersMaxBytes: d.others}
		},
		GPUUse: func() (float64, bool) {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.use, d.use >= 0
		},
		GPUWait: func() time.Duration {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.wait
		},
		WatchGPU: func(on bool) { d.watched = append(d.watched, on) },
	})
	return d
}

// wants is a rank's request for the whole GPU.
func wants(i int, wait time.Duration) Request {
	return Request{Holder: rank(i), Epoch: 1, Principal: api.Principal{User: "u", Node: "node9"}, GPU: api.GPUExclusive, Wait: wait}
}

func measures(i int, wait time.Duration) Request {
	return Request{Holder: measure(i), GPU: api.GPUExclusive, Wait: wait}
}

func answered(c chan answer) bool { return len(c) > 0 }

func names(d *scenario) []string {
	var out []string
	for name, g := range d.Holders() {
		out = append(out, name+" "+string(g.State))
	}
	slices.Sort(out)
	return out
}

// pass lets virtual time pass, and all that is due in it happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
