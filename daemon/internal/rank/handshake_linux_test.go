package rank

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// channel is what one was opened with.
type channel struct {
	epoch  uint64
	nodes  []api.NodeID
	within time.Duration
}

// channels are side channels that are opened and closed, and carry nothing.
type channels struct {
	mu     sync.Mutex
	open   map[api.RankRef]channel
	refuse error
	last   api.Handshake // what Settle gives
}

func (c *channels) Open(rank api.RankRef, epoch uint64, nodes []api.NodeID, within time.Duration) (netip.AddrPort, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refuse != nil {
		return netip.AddrPort{}, c.refuse
	}
	c.open[rank] = channel{epoch, nodes, within}
	return netip.MustParseAddrPort("127.0.0.1:20001"), nil
}

func (c *channels) Settle(ref api.RankRef) (api.Handshake, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, open := c.open[ref]
	return c.last, open && c.last.State != ""
}

func (c *channels) Close(ref api.RankRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, ref)
}

func (c *channels) of(ref api.RankRef) (channel, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch, ok := c.open[ref]
	return ch, ok
}

// jaccl is a node that can start ranks of JACCL.
func jaccl(t *testing.T) (*mac, *channels) {
	m, c := newMac(t), &channels{open: map[api.RankRef]channel{}}
	m.config = func(cfg *Config) { cfg.Channels = c }
	return m, c
}

// group is the request to start rank 1 of two by a script.
func (m *mac) group(script string) api.PeerStartParams { return m.groupOf(m.spec(script)) }

func (m *mac) groupOf(spec api.JobSpec) api.PeerStartParams {
	p := m.params(spec)
	p.Rank.Rank = 1
	p.Plan.Backend, p.Plan.Shape = api.BackendJACCL, api.ShapeMesh
	p.Plan.Ranks = []api.PlanRank{{Rank: 0, Node: m.homeID}, {Rank: 1, Node: m.id, GPU: api.GPUShared, MemoryBytes: 1 << 20}}
	p.Plan.Devices = [][][]string{{nil, {"rdma_en3"}}, {{"rdma_en4"}, nil}}
	return p
}

// What a launcher has set is gone, JACCL's own names too, and MLX's are this rank's.
func TestTheSurroundingsOfARankOfJACCL(t *testing.T) {
	t.Parallel()
	for shape, more := range map[api.PlanShape]string{api.ShapeMesh: "", api.ShapeRing: "MLX_JACCL_RING=1\n"} {
		t.Run(string(shape), func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m, c := jaccl(t)
			m.preparer.env = []string{
				"HOME=/srv/x", "JACCL_RING=1", "JACCL_COORDINATOR=1.2.3.4:5", "JACCL_X=", "MLX_JACCL_RING=0", "MLX_JACCL_COORDINATOR=1.2.3.4:5",
				"MLX_IBV_DEVICES=/x", "MLX_RANK=9", "MLX_HOSTFILE=/y", "FULMEN_SHARE=1", "FULMEN_SHARES_FILE=/z",
			}
			m.boot()
			p := m.group(`env | grep -E '^(MLX|JACCL|FULMEN_SHARE)' | grep -v DEVICES | sort; cat "$MLX_IBV_DEVICES"; exec sleep 60`)
			p.Plan.Shape = shape
			m.mustStart(p)
			doc := m.until(p.Rank, api.RankHandshake)
			is.Equal(*doc.Handshake, api.Handshake{State: api.HandshakeNone})
			ch, open := c.of(p.Rank)
			is.True(open)
			is.Equal(ch, channel{1, []api.NodeID{m.homeID, m.id}, api.DefaultStarting + api.DefaultHandshake})
			m.ranks.SetHandshake(p.Rank, api.Handshake{State: api.HandshakeHeld})
			eventually(t, "a held rank", func() bool { return m.until(p.Rank, api.RankHandshake).Handshake.State == api.HandshakeHeld })
			eventually(t, "all that it prints", func() bool { return strings.HasSuffix(m.output(p.Rank), "null]]\n") })
			m.ranks.SetHandshake(p.Rank, api.Handshake{State: api.HandshakeJoined, CarriedBytes: 7})
			doc = m.until(p.Rank, api.RankRunning)
			is.Equal(*doc.Handshake, api.Handshake{State: api.HandshakeJoined, CarriedBytes: 7})
			// It has joined for good.
			m.ranks.SetHandshake(p.Rank, api.Handshake{State: api.HandshakeNone})
			m.mustEnd(api.PeerEndParams{Job: m.job, Attempt: 1, Epoch: 1, Reason: api.ReasonStopped})
			doc = m.until(p.Rank, api.RankExited)
			is.Equal(doc.Handshake.State, api.HandshakeJoined)
			_, open = c.of(p.Rank)
			is.True(!open)
			is.Equal(m.output(p.Rank), "MLX_JACCL_COORDINATOR=127.0.0.1:20001\n"+more+"MLX_RANK=1\n"+`[[null,"rdma_en3"],["rdma_en4",null]]`+"\n")
		})
	}
}

// A rank that need not join runs as soon as its program does, with all that it could
// join by, and whatever is said of that.
func TestARankThatNeedNotJoin(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m, c := jaccl(t)
	m.boot()
	spec := m.spec(`echo "$MLX_JACCL_COORDINATOR"; exec sleep 60`)
	spec.AllowSolo = true
	p := m.groupOf(spec)
	m.mustStart(p)
	doc := m.until(p.Rank, api.RankRunning)
	is.Equal(doc.Handshake, nil)
	_, open := c.of(p.Rank)
	is.True(open)
	m.ranks.SetHandshake(p.Rank, api.Handshake{State: api.HandshakeHeld})
	eventually(t, "all that it prints", func() bool { return m.output(p.Rank) == "127.0.0.1:20001\n" })
	m.mustEnd(api.PeerEndParams{Job: m.job, Attempt: 1, Epoch: 1, Reason: api.ReasonStopped})
	doc = m.until(p.Rank, api.RankExited)
	is.Equal(doc.Handshake, nil)
	_, open = c.of(p.Rank)
	is.True(!open)
}

// A rank that joins before its shim was asked runs, and one that never does has
// ended without.
func TestARankThatNeverJoins(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m, _ := jaccl(t)
	m.boot()
	p := m.group("exit 0")
	m.mustStart(p)
	doc := m.until(p.Rank, api.RankExited)
	is.Equal(doc.Exit.Status(), 0)
	is.Equal(doc.Handshake.State, api.HandshakeNone)
}

// What a rank had come to when it ended counts, told before or not.
func TestARankThatEndsAsSoonAsItHasJoined(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m, c := jaccl(t)
	c.last = api.Handshake{State: api.HandshakeJoined, CarriedBytes: 7}
	m.boot()
	p := m.group("exit 3")
	m.mustStart(p)
	doc := m.until(p.Rank, api.RankExited)
	is.Equal(doc.Exit.Status(), 3)
	is.Equal(*doc.Handshake, c.last)
}

// What the side channel finds ends the rank, with that reason and no other.
func TestAFailureOfTheSideChannelEndsTheRank(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m, _ := jaccl(t)
	m.config = func(cfg *Config) {
		cfg.Channels = &channels{open: map[api.RankRef]channel{}}
		cfg.Times = func(spec api.JobSpec) Times {
			t := times(spec)
			t.FailedGrace = 100 * time.Millisecond
			return t
		}
	}
	m.boot()
	p := m.group("trap '' TERM; sleep 60")
	m.mustStart(p)
	m.until(p.Rank, api.RankHandshake)
	m.ranks.Fail(p.Rank, api.Errorf(api.ReasonStrayConnection, "", "Something was there."))
	m.ranks.Fail(p.Rank, api.Errorf(api.ReasonSideChannelLost, "", "Something else broke."))
	doc := m.until(p.Rank, api.RankExited)
	is.Equal(doc.Reason, api.ReasonStrayConnection)
	is.Equal(doc.Message, "Something was there.")
}

// A port that cannot be had is why a rank does not start.
func TestARankWithoutASideChannelIsNotStarted(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m, c := jaccl(t)
	c.refuse = api.NewError(api.ReasonPortTaken, "127.0.0.1")
	m.boot()
	p := m.group("exit 0")
	m.mustStart(p)
	doc := m.until(p.Rank, api.RankExited)
	is.Equal(doc.Reason, api.ReasonPortTaken)
	is.True(doc.Exit == nil)
}

// A daemon's end takes its side channels with it: the next one ends what had not
// joined, and leaves what had.
func TestSideChannelsDoNotOutliveTheDaemon(t *testing.T) {
	t.Parallel()
	for name, joined := range map[string]bool{"joining": false, "joined": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m, _ := jaccl(t)
			m.boot()
			p := m.group("sleep 60")
			m.mustStart(p)
			m.until(p.Rank, api.RankHandshake)
			if joined {
				m.ranks.SetHandshake(p.Rank, api.Handshake{State: api.HandshakeJoined})
				m.until(p.Rank, api.RankRunning)
				eventually(t, "a record that says so", func() bool {
					rec, err := readRecord(m.ranks.rankFolder(p.Rank))
					return err == nil && !joining(&rec.Doc)
				})
			}
			m.boot()
			if joined {
				m.until(p.Rank, api.RankRunning)
				return
			}
			doc := m.until(p.Rank, api.RankExited)
			is.Equal(doc.Reason, api.ReasonDaemonRestarted)
		})
	}
}

// A program that loses its side channel with the daemon ends by itself before the next one
// is there: that is not its own failure. One that ends well had joined, which the daemon may
// not have saved.
func TestAnEndForWantOfTheDaemonIsTold(t *testing.T) {
	t.Parallel()
	for _, code := range []int{1, 0} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m, _ := jaccl(t)
			m.boot()
			p := m.group(fmt.Sprintf("trap 'exit %d' USR1; echo 1; sleep 60 & wait", code))
			m.mustStart(p)
			pid := m.until(p.Rank, api.RankHandshake).PID
			m.printed(p.Rank, 1)
			folder := m.ranks.rankFolder(p.Rank)
			m.kill()
			is.NoErr(syscall.Kill(pid, syscall.SIGUSR1))
			eventually(t, "a record of its end", func() bool {
				_, err := readEnd(folder)
				return err == nil
			})
			m.boot()
			doc := m.until(p.Rank, api.RankExited)
			is.Equal(doc.Exit.Status(), code)
			if code == 0 {
				is.Equal(doc.Reason, api.Reason(""))
				is.Equal(doc.Handshake.State, api.HandshakeJoined)
				return
			}
			is.Equal(doc.Reason, api.ReasonDaemonRestarted)
			is.Equal(doc.Message, "The daemon that carried the side channel of rank "+strconv.Itoa(p.Rank.Rank)+" was restarted before the rank had joined its group.")
		})
	}
}

// No matrix that JACCL would refuse, or read as something else, reaches a program, and
// what is wrong is said of its cable.
func TestMatricesThatJACCLRefuses(t *testing.T) {
	t.Parallel()
	a, b, twice := []string{"rdma_en3"}, []string{"rdma_en3", "rdma_en4"}, []string{"rdma_en3", "rdma_en3"}
	ids := []api.NodeID{"71532pmrr5f6wz0c", "82sdwn5dvfab1j3d", "fs53cah65sy95vhb"}
	name := func(id api.NodeID) string { return "mac-" + strconv.Itoa(1+slices.Index(ids, id)) }
	plan := api.Plan{Ranks: []api.PlanRank{{Rank: 0, Node: ids[0]}, {Rank: 1, Node: ids[1]}, {Rank: 2, Node: ids[2]}}}
	for i := range ids {
		for j := range i {
			for port := range api.PortNumber(2) { // two cables for each two, at ports of their own
				link, err := api.NewLinkID(api.LinkEnd{Node: ids[j], PortNumber: 1 + 2*api.PortNumber(i-1) + port}, api.LinkEnd{Node: ids[i], PortNumber: 1 + 2*api.PortNumber(j) + port})
				is.New(t).NoErr(err)
				plan.Links = append(plan.Links, api.PlanLink{From: j, To: i, Kind: api.LinkRDMA, Link: link})
			}
		}
	}
	for what, c := range map[string]struct {
		shape   api.PlanShape
		devices [][][]string
		report  string
	}{
		"none":                     {api.ShapeMesh, nil, "devices of 0 ranks, and not of 3"},
		"too few rows":             {api.ShapeMesh, [][][]string{{nil, a, a}, {a, nil, a}}, "devices of 2 ranks, and not of 3"},
		"a short row":              {api.ShapeMesh, [][][]string{{nil, a, a}, {a, nil}, {a, a, nil}}, "devices of rank 1 (mac-2) for 2 ranks, and not for 3: it has none for mac-2:3 - mac-3:3, mac-2:4 - mac-3:4."},
		"an empty row of a ring":   {api.ShapeRing, [][][]string{{}, {a, nil, a}, {a, a, nil}}, "for 0 ranks, and not for 3: it has none for mac-1:1 - mac-2:1, mac-1:2 - mac-2:2, mac-1:3 - mac-3:1, mac-1:4 - mac-3:2."},
		"a long row":               {api.ShapeMesh, [][][]string{{nil, a, a, a}, {a, nil, a}, {a, a, nil}}, "for 4 ranks, and not for 3."},
		"a loop":                   {api.ShapeMesh, [][][]string{{a, a, a}, {a, nil, a}, {a, a, nil}}, "joins rank 0 (mac-1) to itself"},
		"an empty list of oneself": {api.ShapeMesh, [][][]string{{{}, a, a}, {a, nil, a}, {a, a, nil}}, "joins rank 0 (mac-1) to itself"},
		"a line as a mesh": {api.ShapeMesh, [][][]string{{nil, a, nil}, {a, nil, a}, {nil, a, nil}},
			"does not join rank 0 to rank 2: it has no device for mac-1:3 - mac-3:1, mac-1:4 - mac-3:2"},
		"a line as a ring": {api.ShapeRing, [][][]string{{nil, a, nil}, {a, nil, a}, {nil, a, nil}}, "does not join rank 0 to rank 2: it has no device for mac-1:3 - mac-3:1"},
		"a ring of two widths": {api.ShapeRing, [][][]string{{nil, a, a}, {a, nil, b}, {a, b, nil}},
			"joins rank 1 to rank 2 by 2 cables (mac-2:3 - mac-3:3, mac-2:4 - mac-3:4), and rank 0 to rank 1 by 1"},
		"a mesh of two widths": {api.ShapeMesh, [][][]string{{nil, a, b}, {a, nil, a}, {b, a, nil}}, "joins rank 0 to rank 2 by 2 cables (mac-1:3 - mac-3:1, "},
		"the same device twice": {api.ShapeMesh, [][][]string{{nil, twice, b}, {b, nil, b}, {b, b, nil}},
			"by two cables at the same device, rdma_en3; the second is mac-1:2 - mac-2:2."},
		"a device without name": {api.ShapeMesh, [][][]string{{nil, {""}, a}, {a, nil, a}, {a, a, nil}}, "device of rank 0 without a name, for mac-1:1 - mac-2:1"},
	} {
		plan.Shape, plan.Devices = c.shape, c.devices
		if err := checkDevices(plan, name); !errors.Is(err, api.ReasonBadValue) || !strings.Contains(err.Error(), c.report) {
			t.Errorf("%s: %v, and not %s", what, err, c.report)
		}
	}
	is := is.New(t)
	plan.Links = nil // of an older daemon's plan, say
	plan.Shape, plan.Devices = api.ShapeMesh, [][][]string{{nil, twice, b}, {b, nil, b}, {b, b, nil}}
	is.True(strings.Contains(checkDevices(plan, name).Error(), "the second is a cable of mac-1 and mac-2."))
	for _, good := range []struct {
		shape   api.PlanShape
		devices [][][]string
	}{
		{api.ShapeMesh, [][][]string{{nil, b, b}, {b, nil, b}, {b, b, nil}}},
		{api.ShapeRing, [][][]string{{nil, b}, {b, nil}}},
		{api.ShapeRing, [][][]string{{nil, a, nil, a}, {a, nil, a, nil}, {nil, a, nil, a}, {a, nil, a, nil}}},
	} {
		is.NoErr(checkDevices(api.Plan{Shape: good.shape, Ranks: make([]api.PlanRank, len(good.devices)), Devices: good.devices}, func(api.NodeID) string { return "" }))
	}
}

// A rank is not started for a device that its node does not have: JACCL would find out when
// the others wait. Where the node cannot tell, the rank is started.
func TestADeviceThatTheNodeDoesNotHave(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ports   []api.RDMA
		unknown []api.Reason // of each port's device
		refused bool
	}{
		"another":           {[]api.RDMA{{PortNumber: 1}, {PortNumber: 2, Device: &api.RDMADevice{Name: "rdma_en5"}}}, []api.Reason{api.ReasonSourceGone, ""}, true},
		"none":              {[]api.RDMA{{PortNumber: 1}}, []api.Reason{""}, true},
		"after a restart":   {[]api.RDMA{{PortNumber: 1}}, []api.Reason{api.ReasonRDMANoDevice}, true},
		"it":                {[]api.RDMA{{PortNumber: 1, Device: &api.RDMADevice{Name: "rdma_en4"}}}, []api.Reason{""}, false},
		"nobody says":       {nil, nil, false},
		"could not be read": {[]api.RDMA{{PortNumber: 1}}, []api.Reason{api.ReasonSourceGone}, false},
		"which is whose": {[]api.RDMA{{PortNumber: 1}, {PortNumber: 2, Device: &api.RDMADevice{Name: "rdma_en5"}}},
			[]api.Reason{api.ReasonNotInScenario, ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m, _ := jaccl(t)
			m.boot()
			for i, port := range c.ports {
				var unknown map[string]api.Reason
				if c.unknown[i] != "" {
					unknown = map[string]api.Reason{"device": c.unknown[i]}
				}
				is.NoErr(m.documents.Put(api.KindRDMA, port.PortNumber.String(), port, unknown))
			}
			p := m.group("exec sleep 60")
			link, err := api.NewLinkID(api.LinkEnd{Node: m.homeID, PortNumber: 3}, api.LinkEnd{Node: m.id, PortNumber: 1})
			is.NoErr(err)
			p.Plan.Links = []api.PlanLink{{From: 0, To: 1, Kind: api.LinkRDMA, Link: link}}
			err = m.start(p)
			if !c.refused {
				is.NoErr(err)
				return
			}
			is.True(isReason(err, api.ReasonRDMANoDevice))
			text := api.AsError(err).Message
			is.True(text == "mac has no RDMA device rdma_en4, which the plan has for home:3 - mac:1." ||
				text == "mac has no RDMA device rdma_en4, which the plan has for mac:1 - home:3.") // by the ids of the two
			is.Equal(m.supervisor.starts(), 0)
			is.True(!m.grants.occupied(p.Rank))
		})
	}
}

// A port that was taken is given to nobody else, and rests when it comes back.
func TestPortsAreHandedOutFromOneTable(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	at := netip.MustParseAddrPort("127.0.0.1:20000")
	m.config = func(cfg *Config) {
		cfg.Listen = func(_ context.Context, _ []netip.Addr) ([]netip.AddrPort, error) { return []netip.AddrPort{at}, nil }
	}
	m.boot()
	listen := api.PeerListenParams{Rank: api.RankRef{Job: m.job, Attempt: 1}, Epoch: 1, Addresses: []netip.Addr{at.Addr()}}
	is.True(m.ranks.TakePort(at))
	is.True(!m.ranks.TakePort(at))
	is.True(m.call("peer.listen", listen, &api.PeerListenResult{}) != nil)
	m.ranks.ReturnPort(at)
	is.True(!m.ranks.TakePort(at)) // it rests
}
