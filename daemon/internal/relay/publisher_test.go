package relay

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/native"
)

// elsewhere is an address that no machine has: a port there is published and opens nothing.
var elsewhere = netip.MustParseAddr("192.0.2.1")

// peopleOf is a node whose people publish ports, with its ledger and what is known of jobs.
type peopleOf struct {
	*Relay
	alone
	node  api.NodeID
	owner *ledger.Writer
	jobs  map[api.JobID]gate.Known
	ranks *ranksHere
	lan   int // how often the addresses of the network were asked for
}

func (p *peopleOf) Self() api.NodeID { return p.node }

// ranksHere are the ranks of such a node.
type ranksHere struct {
	here bool
	pid  int
	open [][]int
	// ready takes what probes come to.
	ready chan string
	// owed counts what is owed now.
	owed atomic.Int32
}

func (r *ranksHere) IsHere(api.RankRef) bool       { return r.here }
func (r *ranksHere) PID(api.RankRef) int           { return r.pid }
func (r *ranksHere) SetIdle(api.RankRef, api.Time) {}

func (r *ranksHere) SetReady(_ api.RankRef, isReady bool, why string) {
	r.ready <- fmt.Sprintf("%v %s", isReady, why)
}

func (r *ranksHere) Probe(context.Context, api.RankRef, []string, time.Duration) error { return nil }
func (r *ranksHere) EndUnanswered(_ api.RankRef, message string) error {
	r.ready <- "end: " + message
	return nil
}

func (r *ranksHere) Owe(api.RankRef, api.RankDebt) (paid func()) {
	r.owed.Add(1)
	return func() { r.owed.Add(-1) }
}

func (r *ranksHere) SetPorts(_ api.RankRef, open []int) { r.open = append(r.open, open) }

const theirJob = api.JobID("j00000001")

// far is another node.
var far = api.NodeIDFromKey(make(ed25519.PublicKey, ed25519.PublicKeySize))

func newPeopleOf(t *testing.T, change ...func(*Config)) *peopleOf {
	t.Helper()
	disk := &peertest.Disk{}
	held, writer, err := ledger.Open(ledger.Options{Key: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), Cluster: "a7937b64b8caa58f03721bb6bacf5c78", Counter: disk, Store: disk})
	if err != nil {
		t.Fatal(err)
	}
	p := &peopleOf{node: held.Node(), owner: writer.Owner("test", api.KindJob, api.KindNetwork), jobs: map[api.JobID]gate.Known{}, ranks: &ranksHere{}}
	p.Relay = lonely(append([]func(*Config){func(c *Config) {
		c.Peers, c.Loopback, c.Processes = p, []netip.Addr{elsewhere}, &listeners{}
		c.LAN = func() []netip.Addr { p.lan++; return []netip.Addr{elsewhere} }
		c.Ledger, c.Ranks, c.Seed = held, p.ranks, []byte("seed")
		c.Job = func(id api.JobID) (gate.Known, bool) { known, found := p.jobs[id]; return known, found }
	}}, change...)...)
	t.Cleanup(p.Shut)
	return p
}

// job is one of this node's people that publishes a port, with rank 0 on the other node.
func (p *peopleOf) job(phase api.JobPhase, attempt int) gate.Known {
	who := api.Principal{User: "ada", Node: p.node}
	return gate.Known{
		Spec: api.JobSpec{Job: theirJob, Principal: who, Publish: []api.Publish{{Port: 80}}},
		Job: api.Job{Principal: who, Home: far, Phase: phase, Attempt: attempt, Attempts: []api.Attempt{
			{Attempt: attempt, Plan: &api.Plan{Ranks: []api.PlanRank{{Rank: 0, Node: far}, {Rank: 1, Node: p.node}}}},
		}},
	}
}

// knows has it known of a job, or nothing, and settles its ports.
func (p *peopleOf) knows(known *gate.Known) {
	delete(p.jobs, theirJob)
	if known != nil {
		p.jobs[theirJob] = *known
	}
	p.settle(theirJob)
}

// The ports of a job are open while an attempt has a rank 0 that may listen, of jobs of
// this node's people alone.
func TestPortsAreOpenWhileAJobRuns(t *testing.T) {
	for _, phase := range []api.JobPhase{api.JobQueued, api.JobPlacing, api.JobStarting, api.JobHandshake, api.JobRunning, api.JobEnding, api.JobBackoff, api.JobHomeLost, api.JobSucceeded, api.JobFailed, api.JobStopped} {
		p := newPeopleOf(t)
		p.knows(new(p.job(phase, 1)))
		isOn := slices.Contains([]api.JobPhase{api.JobStarting, api.JobHandshake, api.JobRunning}, phase)
		if open := p.Of(theirJob); (len(open) == 1) != isOn {
			t.Errorf("%s: %v", phase, open)
		}
	}
	for name, change := range map[string]func(*gate.Known){
		"of another node's people":             func(k *gate.Known) { k.Spec.Principal.Node, k.Job.Principal.Node = far, far },
		"whose spec is of another node's":      func(k *gate.Known) { k.Spec.Principal.Node = far },
		"whose home says that it is another's": func(k *gate.Known) { k.Job.Principal.Node = far },
		"that publishes nothing":               func(k *gate.Known) { k.Spec.Publish = nil },
		"without a plan":                       func(k *gate.Known) { k.Job.Attempts[0].Plan = nil },
		"with a plan of nobody":                func(k *gate.Known) { k.Job.Attempts[0].Plan.Ranks = nil },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p := newPeopleOf(t)
			known := p.job(api.JobRunning, 1)
			change(&known)
			p.knows(&known)
			is.Equal(len(p.Of(theirJob)), 0)
			is.Equal(len(p.open), 0)
		})
	}
}

// Ports follow a job from attempt to attempt, and close with it, whatever its home then
// says of whose it is.
func TestPortsFollowAJob(t *testing.T) {
	for name, end := range map[string]func(p *peopleOf) *gate.Known{
		"ended":                          func(p *peopleOf) *gate.Known { return new(p.job(api.JobSucceeded, 2)) },
		"deleted":                        func(*peopleOf) *gate.Known { return nil },
		"ended and said to be another's": func(p *peopleOf) *gate.Known { k := p.job(api.JobFailed, 2); k.Job.Principal.Node = far; return &k },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p := newPeopleOf(t)
			for attempt := 1; attempt <= 2; attempt++ {
				for range 2 { // the second changes nothing
					p.knows(new(p.job(api.JobRunning, attempt)))
					rank, node := p.open[theirJob].target()
					is.Equal(rank, api.RankRef{Job: theirJob, Attempt: attempt})
					is.Equal(node, far)
				}
			}
			p.knows(end(p))
			is.Equal(len(p.Of(theirJob)), 0)
			is.Equal(len(p.open), 0)
			is.Equal(len(p.problems), 0)
		})
	}
}

// Ports that cannot be opened are listed with the reason, until they can or the job ends;
// an attempt whose ports were closed is led to anew, also one that was before.
func TestPortsThatCannotBeOpened(t *testing.T) {
	is := is.New(t)
	p := newPeopleOf(t)
	refuse := func(yes bool) { p.mu.Lock(); p.closed = yes; p.mu.Unlock() }
	p.knows(new(p.job(api.JobRunning, 1)))
	is.Equal(p.Of(theirJob), []api.PublishedPort{{Port: 80}})
	p.Close(theirJob)
	refuse(true)
	p.knows(new(p.job(api.JobRunning, 2)))
	reported := p.Of(theirJob)
	is.Equal(len(reported), 1)
	is.Equal(reported[0].Port, 80)
	is.Equal(reported[0].Problem.Reason, api.ReasonCancelled)
	is.Equal(len(p.Of("j00000002")), 0)

	refuse(false)
	p.knows(new(p.job(api.JobRunning, 1))) // as a home says that knows no more
	is.Equal(p.Of(theirJob), []api.PublishedPort{{Port: 80}})
	rank, _ := p.open[theirJob].target()
	is.Equal(rank.Attempt, 1)

	p.Close(theirJob)
	refuse(true)
	p.knows(new(p.job(api.JobRunning, 2)))
	is.Equal(len(p.Of(theirJob)), 1)
	other := p.job(api.JobStopped, 2)
	other.Job.Principal.Node = far
	p.knows(&other)
	is.Equal(len(p.Of(theirJob)), 0)
	is.Equal(len(p.problems), 0)
}

// A port on the network is listed with the key, which follows from the node's secret and
// the job: one that was told before an update opens the port after it.
func TestPublishedPortsAreListed(t *testing.T) {
	is := is.New(t)
	p := newPeopleOf(t)
	known := p.job(api.JobRunning, 1)
	known.Spec.Publish = []api.Publish{{Port: 80}, {Port: 81, LAN: true}}
	p.knows(&known)
	other := p.job(api.JobRunning, 1)
	other.Spec.Job = "j00000002"
	p.jobs["j00000002"] = other
	p.settle("j00000002")
	is.Equal(p.Of(theirJob), []api.PublishedPort{{Port: 80}, {Port: 81, LAN: true, Key: "sn2htu3ny6kswtefwidjy4n5pa"}})
	is.Equal(len(p.Of("j00000002")), 1)
}

// A port that another program has cannot be published; one that another job of this
// node's people has can.
func TestWhichPortsAreAllowed(t *testing.T) {
	is := is.New(t)
	held, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	defer held.Close()
	port := held.Addr().(*net.TCPAddr).Port
	p := newPeopleOf(t, func(c *Config) { c.Loopback = []netip.Addr{netip.MustParseAddr("127.0.0.1")} })
	is.NoErr(p.owner.Put(ledger.Draft{Kind: api.KindJob, Name: string(theirJob), Value: p.job(api.JobRunning, 1).Job}))
	wanted := []api.Publish{{Port: port}}
	is.NoErr(p.Allows(nil))
	is.True(errors.Is(p.Allows(wanted), api.ReasonPortTaken)) // of the job nothing counts
	for _, c := range []struct {
		phase api.JobPhase
		node  api.NodeID
		port  int
		want  bool
	}{
		{api.JobRunning, p.node, port, true}, {api.JobQueued, p.node, port, true}, {api.JobSucceeded, p.node, port, false},
		{api.JobRunning, far, port, false}, {api.JobRunning, p.node, port - 1, false},
	} {
		known := p.job(c.phase, 1)
		known.Spec.Principal.Node, known.Spec.Publish[0].Port = c.node, c.port
		p.jobs[theirJob] = known
		is.Equal(p.Allows(wanted) == nil, c.want)
	}
}

// Another node reaches the published ports of rank 0 of the attempt that goes on, where
// that lives here.
func TestWhichPortsAreReached(t *testing.T) {
	is := is.New(t)
	p := newPeopleOf(t)
	known := p.job(api.JobRunning, 2)
	for _, c := range []struct {
		here bool
		rank api.RankRef
		port int
		want bool
	}{
		{true, api.RankRef{Job: theirJob, Attempt: 2}, 80, true},
		{false, api.RankRef{Job: theirJob, Attempt: 2}, 80, false},
		{true, api.RankRef{Job: theirJob, Attempt: 2, Rank: 1}, 80, false},
		{true, api.RankRef{Job: theirJob, Attempt: 1}, 80, false},
		{true, api.RankRef{Job: theirJob, Attempt: 2}, 81, false},
	} {
		p.ranks.here = c.here
		is.Equal(p.target(known, c.rank, c.port), c.want)
	}
}

// The ports of rank 0 are followed from when its program runs until it has ended.
func TestPortsOfARankAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		who := &listeners{}
		p := newPeopleOf(t, func(c *Config) { c.Processes = who })
		who.set(80)
		rank := api.RankRef{Job: theirJob, Attempt: 1}
		known := p.job(api.JobRunning, 1)
		known.Spec.Publish = append(known.Spec.Publish, api.Publish{Port: 81})
		p.Spawned(rank) // nothing is known of it
		p.jobs[theirJob] = known
		p.Spawned(rank) // it does not run any more
		p.ranks.pid = 7
		p.Spawned(api.RankRef{Job: theirJob, Attempt: 1, Rank: 1})
		silent := known
		silent.Spec.Publish = nil
		p.jobs[theirJob] = silent
		p.Spawned(rank)
		is.Equal(len(p.served), 0)

		p.jobs[theirJob] = known
		p.Spawned(rank)
		synctest.Wait()
		is.Equal(p.ranks.open, [][]int{{80}})
		first := p.served[rank]
		is.Equal(first.group, 7)
		is.Equal(first.ports, []int{80, 81})
		p.Spawned(rank)
		synctest.Wait()
		is.True(p.served[rank] != first)
		is.True(first.over)
		second := p.served[rank]
		p.Ended(api.Rank{Job: theirJob, Attempt: 1, Rank: 1})
		is.Equal(p.served[rank], second)
		p.Ended(api.Rank{Job: theirJob, Attempt: 1})
		is.Equal(len(p.served), 0)
		is.True(second.over)
		p.Ended(api.Rank{Job: theirJob, Attempt: 1})
	})
}

// Jobs and this node's networks are followed by what is written of them, which has nobody
// measure anything.
func TestJobsAndNetworksAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		p := newPeopleOf(t)
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- p.Run(ctx) }()
		synctest.Wait()
		known := p.job(api.JobRunning, 1)
		known.Spec.Publish[0].LAN = true
		p.jobs[theirJob] = known
		is.NoErr(p.owner.Put(ledger.Draft{Kind: api.KindJob, Name: string(theirJob), Value: p.job(api.JobRunning, 1).Job}))
		synctest.Wait()
		is.Equal(len(p.Of(theirJob)), 1)
		asked := p.lan
		is.NoErr(p.owner.Put(ledger.Draft{Kind: api.KindNetwork, Value: api.Network{}}))
		synctest.Wait()
		is.Equal(p.lan, asked+1)
		delete(p.jobs, theirJob)
		is.NoErr(p.owner.Delete(api.KindJob, string(theirJob)))
		synctest.Wait()
		is.Equal(len(p.Of(theirJob)), 0)
		watchers, _ := p.cfg.Ledger.Watchers()
		is.Equal(watchers, 1)
		is.True(!p.cfg.Ledger.Watched(api.Key{Node: p.cfg.Ledger.Node(), Kind: api.KindJob, Name: string(theirJob)})) // it is passive
		cancel()
		is.True(errors.Is(<-over, context.Canceled))
	})
}

// A machine's networks are those of its interfaces that are up, but for its loopback.
func TestNetworksOfThisNode(t *testing.T) {
	is := is.New(t)
	p := newPeopleOf(t, func(c *Config) { c.LAN = nil })
	is.Equal(len(p.cfg.LAN()), 0)
	at := func(kind api.InterfaceType, up bool, addresses ...string) api.Interface {
		i := api.Interface{Name: "en0", Type: kind, Up: up}
		for _, a := range addresses {
			i.Addresses = append(i.Addresses, api.InterfaceAddress{Address: netip.MustParsePrefix(a)})
		}
		return i
	}
	is.NoErr(p.owner.Put(ledger.Draft{Kind: api.KindNetwork, Value: api.Network{Interfaces: []api.Interface{
		at(api.InterfaceLoopback, true, "127.0.0.1/8"), at(api.InterfaceEthernet, true, "10.0.0.1/8", "fd00::1/64"), at(api.InterfaceEthernet, false, "10.0.0.2/8"),
	}}}))
	is.Equal(p.cfg.LAN(), []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1")})
	is.NoErr(p.owner.Put(ledger.Draft{Kind: api.KindNetwork, Value: map[string]any{"interfaces": []any{map[string]any{"up": true, "addresses": []any{map[string]any{"address": "10.0.0.3/8"}}}, 7}}}))
	is.Equal(len(p.cfg.LAN()), 0) // of what cannot be read nothing counts
}

var _ native.Processes = (*listeners)(nil)
