package probe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/netns"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/profile"
	"fulmen/native"
	"fulmen/native/bound"
	"fulmen/native/nativetest/testkit"
)

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// BenchmarkAccuracy compares measurements with what iperf3 and ping say of the
// same path, in network namespaces: in pairs whose order is drawn, so that what
// the machine does meanwhile falls on both. A ratio is ours to theirs. In its
// shortest form it measures one path, and compares it with nothing.
func BenchmarkAccuracy(b *testing.B) {
	if testing.Short() {
		l := newLab(b, 0)
		l.measure(AmountRTT)
		l.measure(AmountRefresh)
		return
	}
	order := testkit.Drawn(b).Source(0)
	for _, tool := range []string{"iperf3", "ping"} {
		if _, err := exec.LookPath(tool); err != nil {
			b.Skipf("%s is not installed (on Debian: apt install iperf3 iputils-ping)", tool)
		}
	}
	for _, path := range []struct {
		name string
		rate uint64 // bits a second; 0 = as fast as it goes
	}{{"plain", 0}, {"tbf-1g", 1e9}, {"tbf-100m", 1e8}} {
		b.Run(path.name, func(b *testing.B) {
			l := newLab(b, path.rate)
			l.serve()
			var up, down, rtt, processor []float64
			var more float64
			for range b.N {
				u, d := l.bandwidth(order.IntN(2) == 0)
				r, m := l.roundTrip(order.IntN(2) == 0)
				up, down, rtt = append(up, u), append(down, d), append(rtt, r)
				more += m / float64(b.N)
				processor = append(processor, l.refresh())
			}
			b.ReportMetric(mean(up), path.name+"-up-ratio")
			b.ReportMetric(mean(down), path.name+"-down-ratio")
			b.ReportMetric(mean(rtt), path.name+"-rtt-ratio")
			b.ReportMetric(more, path.name+"-rtt-more-us")
			b.ReportMetric(mean(processor), path.name+"-refresh-ms")
		})
	}
}

// mean is the geometric one: of a ratio and its reciprocal it is 1.
func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}

// lab is two nodes in spaces of their own, with a network between them.
type lab struct {
	b      *testing.B
	near   *netns.Space
	far    *netns.Space
	prober *Prober
	path   profile.Path
	last   Result // of a full measurement
	rounds Result // of any
}

func newLab(b *testing.B, rate uint64) *lab {
	l := &lab{b: b}
	spaces := map[string]*netns.Space{}
	for _, name := range []string{"switch", "near", "far"} {
		s, err := netns.New(name)
		if errors.Is(err, netns.ErrNotRoot) {
			b.Skip(err)
		}
		l.must(err)
		b.Cleanup(s.Close)
		spaces[name] = s
	}
	lan, err := netns.NewNetwork(spaces["switch"], "lan")
	l.must(err)
	address := map[api.NodeID]netip.Addr{laptop: netip.MustParseAddr("10.77.1.1"), studio: netip.MustParseAddr("10.77.1.2")}
	scenario := peertest.NewNetwork()
	clock, err := native.SystemClock()
	l.must(err)
	for node, name := range map[api.NodeID]string{laptop: "near", studio: "far"} {
		l.must(lan.Plug(spaces[name], "lan0", address[node].String()+"/24"))
		if rate > 0 {
			l.must(spaces[name].Do(func() error { return shape("lan0", rate) }))
		}
		p := New(Config{
			Peers: peer.New(node, scenario.Add(node), peertest.GateFor(node, clock, nil)), Sockets: spaceSockets{spaces[name]}, Clock: clock, Key: key(node), Members: members,
			Leave:     func(context.Context, api.NodeID, api.PeerMeasureParams) (func(), error) { return func() {}, nil },
			Interface: func(a netip.Addr) (string, bool) { return "lan0", a == address[node] },
			Budget:    time.Hour, Log: slog.New(slog.NewTextHandler(b.Output(), nil)),
		})
		b.Cleanup(p.Close)
		if node == laptop {
			l.prober = p
		}
	}
	l.near, l.far = spaces["near"], spaces["far"]
	l.path = profile.Path{Peer: studio, Interface: "lan0", Source: address[laptop], Sink: address[studio]}
	return l
}

func (l *lab) must(err error) {
	l.b.Helper()
	if err != nil {
		l.b.Fatal(err)
	}
}

// serve starts iperf3's server and waits until it listens.
func (l *lab) serve() {
	server := exec.Command("iperf3", "-s", "--forceflush")
	out, err := server.StdoutPipe()
	l.must(err)
	l.must(l.far.Start(server))
	l.b.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		l.must(err)
		if strings.Contains(line, "listening") {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
}

// shape lets an interface of the calling thread's namespace send no faster.
func shape(iface string, rate uint64) error {
	link, err := netlink.LinkByName(iface)
	if err != nil {
		return err
	}
	const burst = 256 << 10 // whole segments of 64 KiB pass uncut
	return netlink.QdiscReplace(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       rate / 8,
		Buffer:     netlink.Xmittime(rate/8, burst),
		Limit:      uint32(rate/8/50) + burst, // 20 ms
	})
}

// spaceSockets are the system's sockets in a space.
type spaceSockets struct{ space *netns.Space }

func (s spaceSockets) Listen(ctx context.Context, iface string, at netip.AddrPort) (l net.Listener, err error) {
	err = s.space.Do(func() error {
		l, err = bound.Sockets{}.Listen(ctx, iface, at)
		return err
	})
	return l, err
}

func (s spaceSockets) Dial(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort) (conn net.Conn, err error) {
	err = s.space.Do(func() error {
		conn, err = bound.Sockets{}.Dial(ctx, iface, source, to)
		return err
	})
	return conn, err
}

// inTurn does two things, in either order.
func inTurn(isFirst bool, first, second func()) {
	if !isFirst {
		first, second = second, first
	}
	first()
	second()
}

// measure is ours.
func (l *lab) measure(amount Amount) {
	result, err := l.prober.Measure(l.b.Context(), m1, l.path, amount, quiet)
	for range 5 {
		if err == nil || !api.AsError(err).Is(api.ReasonResultUnstable) {
			break
		}
		l.b.Log(err) // a busy machine
		result, err = l.prober.Measure(l.b.Context(), m1, l.path, amount, quiet)
	}
	l.must(err)
	if l.rounds = result; amount == AmountFull {
		l.last = result
	}
}

// bandwidth is the ratios of ours to iperf3's, which uses as many connections.
func (l *lab) bandwidth(first bool) (up, down float64) {
	type pair struct{ up, down float64 }
	theirs := map[[2]int]pair{} // by the numbers of connections
	same := func() [2]int { return [2]int{l.last.UpStreams, l.last.DownStreams} }
	ask := func() {
		if theirs[same()].up == 0 {
			theirs[same()] = pair{l.client(l.last.UpStreams), l.client(l.last.DownStreams, "-R")}
		}
	}
	if !first && l.last.UpStreams == 0 {
		l.measure(AmountFull)
	}
	inTurn(first, func() { l.measure(AmountFull) }, ask)
	ask() // where ours took another number this time
	ours, their := l.last, theirs[same()]
	l.b.Logf("up %.4g against %.4g with %d, down %.4g against %.4g with %d",
		float64(*ours.UpBitsPerS), their.up, ours.UpStreams, float64(*ours.DownBitsPerS), their.down, ours.DownStreams)
	return float64(*ours.UpBitsPerS) / their.up, float64(*ours.DownBitsPerS) / their.down
}

// client runs iperf3 for a second after one that does not count.
func (l *lab) client(streams int, more ...string) float64 {
	arguments := append([]string{"-c", l.path.Sink.String(), "-J", "-t", "1", "-O", "1", "-P", strconv.Itoa(streams)}, more...)
	out := l.output(exec.CommandContext(l.b.Context(), "iperf3", arguments...))
	var report struct {
		End struct {
			Received struct {
				BitsPerS float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	l.must(json.Unmarshal(out, &report))
	if report.End.Received.BitsPerS == 0 {
		return l.client(streams, more...) // on a busy machine it sometimes ends without a number
	}
	return report.End.Received.BitsPerS
}

// output runs a command near the measuring node.
func (l *lab) output(c *exec.Cmd) []byte {
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	l.must(l.near.Start(c))
	if err := c.Wait(); err != nil {
		l.b.Fatalf("%v: %v\n%s", c.Args, err, out.Bytes())
	}
	return out.Bytes()
}

var pingTime = regexp.MustCompile(`time=([0-9.]+) ms`)

// roundTrip is the ratio of our median to ping's, which sends the next as soon
// as the last one is back, as we do, and by how many microseconds ours is longer.
func (l *lab) roundTrip(first bool) (ratio, more float64) {
	var ours, theirs float64
	inTurn(first, func() {
		l.measure(AmountRTT)
		ours = *l.rounds.RTTUS
	}, func() {
		var rounds roundTrips
		for _, m := range pingTime.FindAllSubmatch(l.output(exec.CommandContext(l.b.Context(), "ping", "-A", "-c", "100", l.path.Sink.String())), -1) {
			ms, err := strconv.ParseFloat(string(m[1]), 64)
			l.must(err)
			rounds.times = append(rounds.times, time.Duration(ms*1e6))
		}
		theirs = *rounds.median()
	})
	l.b.Logf("round trip %.1f us against %.1f", ours, theirs)
	return ours / theirs, ours - theirs
}

// refresh is the processor time that a refresh takes, at both ends, in milliseconds.
func (l *lab) refresh() float64 {
	const times = 10
	l.path.Streams = l.last.Streams
	before := l.used()
	for range times {
		l.measure(AmountRefresh)
	}
	return float64(l.used()-before) / times / 1e6
}

// used is this process's processor time.
func (l *lab) used() time.Duration {
	var u syscall.Rusage
	l.must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
