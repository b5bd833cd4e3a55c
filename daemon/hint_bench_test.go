package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
	"fulmen/native/nativetest"
	"fulmen/native/nativetest/testkit"
)

// hintAreas are the areas that change, in turn, each with a mark that its
// documents carry.
func hintAreas() []native.Area {
	return []native.Area{native.AreaThunderbolt, native.AreaNetwork, native.AreaRDMA}
}

// counted is a machine that tells which of these areas were read, in order.
type counted struct {
	*nativetest.Machine
	reads chan native.Area
}

// Snapshot implements native.Facts.
func (c *counted) Snapshot(ctx context.Context, areas ...native.Area) (native.Snapshot, error) {
	all, err := c.Machine.Snapshot(ctx, areas...)
	for _, area := range areas {
		if slices.Contains(hintAreas(), area) {
			c.reads <- area
		}
	}
	return all, err
}

// settled waits until each area was read twice, and all of what was read with it.
// After a change an area is read twice, at once and when it has settled: what changes
// then is a first hint again. Ports are read last, whenever one of the others is, and
// so they cannot be counted; but they change first, and have settled when the others
// have.
func (c *counted) settled(ctx context.Context, b *testing.B) {
	left := map[native.Area]int{native.AreaNetwork: 2, native.AreaRDMA: 2}
	for last := native.Area(""); left[native.AreaNetwork] > 0 || left[native.AreaRDMA] > 0 || last != native.AreaThunderbolt; {
		select {
		case last = <-c.reads:
			left[last]--
		case <-ctx.Done():
			b.Fatal(context.Cause(ctx))
		}
	}
}

// marked puts a mark into the facts of an area.
func marked(s *native.Snapshot, area native.Area, mark int) {
	switch area {
	case native.AreaNetwork:
		s.Network.PrimaryInterface = "mark-" + strconv.Itoa(mark)
	case native.AreaThunderbolt:
		s.Thunderbolt.Ports[0].Place = "mark-" + strconv.Itoa(mark)
	case native.AreaRDMA:
		s.RDMA.Devices[0].MTUBytes = new(int64(mark))
	}
}

// markOf reads it from a document's value; false where there is none.
func markOf(kind api.Kind, value []byte) (int, bool) {
	before := `"mark-`
	if kind == api.KindRDMA {
		before = `"mtu_bytes":`
	}
	_, rest, found := strings.Cut(string(value), before)
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if !found || end < 0 {
		return 0, false
	}
	mark, err := strconv.Atoi(rest[:end])
	return mark, err == nil
}

// macInMemory is a machine with the facts of a simulated Mac. What runs programs is
// this machine's, without which a daemon does not run.
func macInMemory(b *testing.B) (*counted, native.Platform) {
	simulation, err := OpenSimulation("two-studios")
	if err != nil {
		b.Fatal(err)
	}
	defer simulation.World.Close()
	units := b.TempDir()
	mac, err := simulation.Platform(func() (native.Platform, error) { return systemPlatform(units) })
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = mac.Close() })
	facts, err := mac.Facts.Snapshot(context.Background(), native.AllAreas()...)
	if err != nil {
		b.Fatal(err)
	}
	machine := &counted{Machine: nativetest.NewMachine(nativetest.NewClock(time.Now()), facts), reads: make(chan native.Area, 64)}
	platform := machine.Platform()
	platform.Facts, platform.Supervisor = machine, mac.Supervisor
	return machine, platform
}

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// BenchmarkHint is the time from a change of the machine to its document: at a
// watcher of the ledger, and at a client of the Unix socket.
func BenchmarkHint(b *testing.B) {
	folder, err := os.MkdirTemp("", "fulmen-") // a socket's path is short
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := os.WriteFile(filepath.Join(folder, api.ConfigFile), []byte("[api]\nport = 0\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	machine, platform := macInMemory(b)
	ctx, cancel := context.WithCancelCause(context.Background())
	ready, ended := make(chan Address, 1), make(chan struct{})
	d := newDaemon(Options{
		Platform: platform, Worker: "/nonexistent/fulmen-rank", Ready: func(a Address) { ready <- a },
		Home: api.Environment{OS: runtime.GOOS, UID: os.Getuid(), Home: folder, Getenv: func(name string) string {
			return map[string]string{api.EnvHome: folder}[name]
		}},
	})
	go func() {
		defer close(ended)
		err := d.run(ctx)
		cancel(fmt.Errorf("the daemon ended: %w", cmp.Or(err, context.Canceled)))
	}()
	defer func() { cancel(nil); <-ended }()
	var address Address
	select {
	case address = <-ready:
	case <-ctx.Done():
		b.Fatal(context.Cause(ctx))
	}
	c, err := client.Dial(ctx, client.Options{Addresses: []client.Address{{Socket: address.Socket}}})
	if err != nil {
		b.Fatal(errors.Join(err, context.Cause(ctx)))
	}
	defer c.Close()

	for range hintAreas() {
		<-machine.reads // the first facts, of which there is one reading each
	}
	atWatcher, atClient := watchLedger(ctx, b, d), watchClient(ctx, b, c)
	var watcher, clients []time.Duration
	for n := 1; n <= b.N; n++ {
		turn := (n - 1) % len(hintAreas())
		if turn == 0 && n > 1 {
			machine.settled(ctx, b)
		}
		area := hintAreas()[turn]
		began := time.Now()
		machine.Change(func(s *native.Snapshot) { marked(s, area, n) }, area)
		watcher = append(watcher, await(ctx, b, atWatcher, n).Sub(began))
		clients = append(clients, await(ctx, b, atClient, n).Sub(began))
	}
	for name, took := range map[string][]time.Duration{"watcher": watcher, "client": clients} {
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds()), name+"-p50-us")
		b.ReportMetric(float64(took[(len(took)*99-1)/100].Microseconds()), name+"-p99-us")
	}
}

// arrival is when a mark was seen.
type arrival struct {
	mark int
	at   time.Time
}

func await(ctx context.Context, b *testing.B, arrivals <-chan arrival, mark int) time.Time {
	for {
		select {
		case one := <-arrivals:
			if one.mark == mark {
				return one.at
			}
		case <-ctx.Done():
			b.Fatalf("change %d did not arrive: %v", mark, context.Cause(ctx))
		case <-time.After(30 * time.Second):
			b.Fatalf("change %d did not arrive", mark)
		}
	}
}

func hintKinds() []api.Kind {
	var kinds []api.Kind
	for _, area := range hintAreas() {
		kinds = append(kinds, api.Kind(area))
	}
	return kinds
}

func watchLedger(ctx context.Context, b *testing.B, d *daemon) <-chan arrival {
	_, watcher := d.ledger.Watch(ledger.WatchOptions{Name: "bench", Filter: ledger.Filter{Kinds: hintKinds()}, Passive: true})
	b.Cleanup(watcher.Close)
	out := make(chan arrival, b.N+64)
	go func() {
		for {
			change, err := watcher.Next(ctx)
			if err != nil {
				return
			}
			now := time.Now()
			for _, record := range change.Put {
				if mark, is := markOf(record.Key().Kind, record.Document().Value); is {
					out <- arrival{mark, now}
				}
			}
		}
	}()
	return out
}

func watchClient(ctx context.Context, b *testing.B, c *client.Client) <-chan arrival {
	out := make(chan arrival, b.N+64)
	first := make(chan struct{})
	go func() {
		reported := false
		for event, err := range c.Watch(ctx, api.StateSelect{Kinds: hintKinds()}) {
			if err != nil {
				return
			}
			now := time.Now()
			if !reported {
				reported = true
				close(first)
			}
			for _, document := range event.Put {
				if mark, is := markOf(document.Kind, document.Value); is {
					out <- arrival{mark, now}
				}
			}
		}
	}()
	select {
	case <-first:
	case <-ctx.Done():
		b.Fatal(context.Cause(ctx))
	case <-time.After(30 * time.Second):
		b.Fatal("the watch of a client did not begin")
	}
	return out
}
