package discover

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/native"
	"fulmen/native/waker"
)

// Finder finds where other nodes may be and lets them find this one. What it is
// told and asked takes no time; what takes some is done on its own goroutine.
type Finder struct {
	options Options
	ctx     context.Context
	cancel  context.CancelFunc
	more    waker.Waker
	start   sync.Once
	working sync.WaitGroup

	mu      sync.Mutex
	state   *state
	problem error
	refused map[search]native.Reason // searches that the system has ended
}

// New makes a finder that does nothing until it is started. The error is that of
// options that are incomplete, or of a store that cannot be read.
func New(o Options) (*Finder, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	remembered, err := o.Store.LoadDiscovery()
	if err != nil {
		return nil, fmt.Errorf("load the networks where members were met: %w", err)
	}
	if remembered.Salt == "" {
		salt := make([]byte, 16)
		_, _ = rand.Read(salt) // it never fails
		remembered = Remembered{Salt: hex.EncodeToString(salt)}
	}
	f := &Finder{options: o, more: waker.New(), state: newState(o.Self, o.Port, remembered), refused: map[search]native.Reason{}}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f, nil
}

// Start begins to announce and to search.
func (f *Finder) Start() {
	f.start.Do(func() {
		if f.ctx.Err() == nil {
			f.working.Go(f.run)
		}
	})
}

// Close withdraws the announcement, ends all searches and waits for that.
func (f *Finder) Close() {
	f.cancel()
	f.working.Wait()
}

// notify changes the state and lets the goroutine act on it.
func (f *Finder) notify(change func(s *state)) {
	f.mu.Lock()
	change(f.state)
	f.mu.Unlock()
	f.more.Wake()
}

// SetRoster takes the cluster and its current members, this node among them.
func (f *Finder) SetRoster(cluster api.ClusterID, members []api.NodeID) {
	f.notify(func(s *state) { s.setRoster(f.options.Clock.Now(), cluster, members) })
}

// SetNetwork takes this node's network document.
func (f *Finder) SetNetwork(n api.Network) {
	f.notify(func(s *state) { s.setNetwork(f.options.Clock.Boot(), n) })
}

// SetMemberNetwork takes a member's network document; nil = there is none.
func (f *Finder) SetMemberNetwork(node api.NodeID, n *api.Network) {
	f.notify(func(s *state) { s.setDocument(f.options.Clock.Boot(), node, n) })
}

// SetCables takes the Thunderbolt cables between this node and members, all that
// are known. By them, link-local addresses of documents are candidates too.
func (f *Finder) SetCables(cables []Cable) {
	f.notify(func(s *state) { s.setCables(cables) })
}

// SetPaths takes the transport's paths to a member after each change of them.
func (f *Finder) SetPaths(node api.NodeID, paths []transport.Path) {
	f.notify(func(s *state) { s.setPaths(f.options.Clock.Boot(), f.options.Clock.Now(), node, paths) })
}

// SetPeers takes the configured addresses, HOST or HOST:PORT each. The error is
// that of one that is neither; nothing has changed then.
func (f *Finder) SetPeers(names []string) (err error) {
	f.notify(func(s *state) { err = s.setPeers(f.options.Clock.Boot(), names) })
	return err
}

// SetPairing says whether Add a Mac is open. While it is, this node announces
// everywhere but on VPNs and costly links that it is, under the id returned,
// which is another one each time it is opened; empty where it is closed.
func (f *Finder) SetPairing(open bool) (pairing string) {
	f.notify(func(s *state) {
		switch {
		case !open:
			s.pairing = ""
		case s.pairing == "":
			s.pairing = randomID(pairingIDLength)
		}
		pairing, s.changed.NonMembers = s.pairing, true
	})
	return pairing
}

// Candidates are where a member may be, the best known first. Configured
// addresses are among them once they have proved to be its; see Unclaimed.
func (f *Finder) Candidates(node api.NodeID) []transport.Candidate {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state.candidates(f.options.Clock.Boot(), node)
}

// Unclaimed are configured addresses of which it is not known whose they are:
// to be tried for members without any path.
func (f *Finder) Unclaimed() []transport.Candidate {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []transport.Candidate
	for _, p := range f.state.peers {
		if p.node == "" {
			all = append(all, p.candidates()...)
		}
	}
	return all[:min(len(all), mostCandidates)]
}

// NonMembers are nodes that are no members and wait for another Mac to be added,
// at most 32, in the order in which they were heard first.
func (f *Finder) NonMembers() []NonMember {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state.nonMembers()
}

// Isolations are networks that do not let this node and members see each other,
// as far as there is evidence.
func (f *Finder) Isolations() []Isolation {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state.isolation(f.options.Clock.Boot())
}

// Problem is why the platform neither announces nor searches now, or nil. It is
// tried again by itself.
func (f *Finder) Problem() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.problem
}

// found takes a sighting of one of its searches.
func (f *Finder) found(at search, s native.Sighting) {
	if s.Refused != "" {
		f.mu.Lock()
		f.refused[at] = s.Refused
		f.mu.Unlock()
		f.more.Wake()
		return
	}
	f.notify(func(state *state) { state.receive(f.options.Clock.Now(), s) })
}

// resolve looks up a configured name.
func (f *Finder) resolve(p *peer) {
	f.working.Go(func() {
		ctx, cancel := context.WithTimeout(f.ctx, resolveWithin)
		defer cancel()
		addresses, err := f.options.Resolve(ctx, p.host)
		if f.ctx.Err() == nil {
			f.notify(func(s *state) { s.resolved(f.options.Clock.Boot(), p, slices.Clone(addresses), err) })
		}
	})
}

// within bounds one call of the platform.
const within = 5 * time.Second
