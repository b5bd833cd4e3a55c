//go:build cgo && linux && darwinsim

package facts

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/darwin/simfw"
	"fulmen/native/darwin/simmac"
	"fulmen/native/nativetest"
	"fulmen/native/nativetest/testkit"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// retrained has the speeds with which the document of receptacle 2 was published.
type retrained chan int64

func (r retrained) Put(kind api.Kind, name string, value any, _ map[string]api.Reason) error {
	port, ok := value.(api.Thunderbolt)
	if ok && kind == api.KindThunderbolt && port.PortNumber == 2 && port.Negotiated != nil {
		r <- port.Negotiated.TxBitsPerS
	}
	return nil
}

func (r retrained) Delete(api.Kind, string) error { return nil }

// quiet waits until nothing was published for a while, and gives the last speed, which
// was speed before. After something that was not expected the while is long enough for
// another reading: a change before that would be read late, and once.
func (r retrained) quiet(speed int64, while time.Duration) int64 {
	for {
		select {
		case speed = <-r:
			while = 2 * Settle
		case <-time.After(while):
			return speed
		}
	}
}

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// BenchmarkOverDarwin is the time from a change in the registry of a Mac to its
// document, all of the way through the C of native/darwin over the simulated
// frameworks: IOKit's callback, the hint, the walk through the registry, the
// conversion. A cable trains anew, and each change is read twice: at once, which is
// timed, and when it has settled, which is waited for.
func BenchmarkOverDarwin(b *testing.B) {
	check := func(err error) {
		if err != nil {
			b.Helper()
			b.Fatal(err)
		}
	}
	s, err := scenario.Parse("pair.toml", []byte(`title = "Two Macs"
mac = [
  {name = "A", model = "Mac15,14", chip = "Apple M3 Ultra", rdma = "on", os = "26.2/25C56", memory = "512 GB", used = "24 GB",
   port = [{receptacle = 1, capability = "tb5", interface = "en2"}, {receptacle = 2, capability = "tb5", interface = "en3"}]},
  {name = "B", model = "Mac15,14", chip = "Apple M3 Ultra", rdma = "on", os = "26.2/25C56", memory = "512 GB", used = "24 GB",
   port = [{receptacle = 1, capability = "tb5", interface = "en2"}, {receptacle = 2, capability = "tb5", interface = "en3"}]},
]
cable = [{ends = ["A.tb2", "B.tb2"]}]
`))
	check(err)
	clock, err := native.SystemClock()
	check(err)
	world, err := sim.New(s, nativetest.NewClock(clock.Now()))
	check(err)
	defer world.Close()
	source, err := world.Platform("A")
	check(err)
	mac, err := simmac.New(source)
	check(err)
	defer mac.Close()
	platform, err := mac.Platform(clock)
	check(err)
	defer platform.Close()

	published := make(retrained, 64)
	owner := New(platform.Facts, published, Static{ShortName: func(string) string { return "a" }}, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- owner.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	speed := published.quiet(<-published, Settle/2) // the first facts

	nodes := mac.Nodes()
	lane := slices.IndexFunc(nodes, func(n *simmac.Node) bool { return n.Properties["Socket ID"] == "2" && n.Properties["Lane"] == 1 })
	id, known := mac.ID(nodes[lane].Key)
	if !known {
		b.Fatal("no lane of receptacle 2")
	}
	var took []time.Duration
	for n := range b.N {
		nodes[lane].Properties["Current Link Speed"] = []int{4, 2}[n%2]
		began := time.Now()
		check(mac.Machine.SetProperties(false, id, nodes[lane].Properties, simfw.PropertyChange))
		for before := speed; speed == before; {
			speed = <-published
		}
		took = append(took, time.Since(began))
		while := Settle / 2
		select {
		case speed = <-published: // the second reading
		case <-time.After(2 * Settle):
			while = 2 * Settle // there was one for both
		}
		speed = published.quiet(speed, while)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "document-p50-us")
	b.ReportMetric(float64(took[(len(took)*99-1)/100].Microseconds()), "document-p99-us")
}
