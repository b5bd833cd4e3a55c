package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/native/waker"
)

// settle is how long changes are collected before the cluster is looked at
// again: a change on one Mac is news on all.
const settle = 100 * time.Millisecond

// lookEvery is how often the cluster is looked at where no document changes.
const lookEvery = time.Second

// sharedKinds are the documents that every Mac must have of every other one.
func sharedKinds() []api.Kind { return []api.Kind{api.KindIdentity, api.KindMemory, api.KindNetwork} }

// watchedKinds are those and what is measured while somebody watches.
func watchedKinds() []api.Kind {
	return append(sharedKinds(), api.KindGPUProfile, api.KindLinkProfile)
}

// sight is what one Mac sees.
type sight struct {
	mu    sync.Mutex
	view  client.View
	nodes []api.NodeView
	err   error
}

// State is the cluster at one moment.
type State struct {
	// Nodes are what each Mac is, in the scenario's order.
	Nodes []NodeState
	// Missing says what is not yet as it will be, one sentence each; none: all
	// are paired, and all see the state of all.
	Missing []string
}

// NodeState is one Mac at one moment.
type NodeState struct {
	// Mac is its name in the scenario.
	Mac string
	// ID is its id.
	ID api.NodeID
	// Ended says how its daemon ended; empty while it runs.
	Ended string
	// Liveness is what the first other Mac says of it whose daemon runs.
	Liveness api.Liveness
	// SeenBy counts the others that reach it.
	SeenBy int
	// Memory is what it says of its memory; nil where that is not known.
	Memory *api.Memory
	// GPU is what was measured of its GPU; nil where that is not known.
	GPU *api.GPUProfile
	// Paths counts its active paths to others, by kind.
	Paths map[api.LinkKind]int
}

// Follow looks at the cluster from every Mac until the context ends or show says
// that it is enough, and gives show every state. It ends early where the world
// does.
func (c *Cluster) Follow(ctx context.Context, show func(State) (enough bool, err error)) error {
	watched, stop := context.WithCancel(ctx)
	changed := waker.New()
	var watchers sync.WaitGroup
	defer watchers.Wait()
	defer stop()
	for _, n := range c.Nodes {
		watchers.Go(func() { n.watch(watched, changed) })
	}
	// Whether one Mac reaches another has no document; a person looks at the table.
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		state := c.look(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if enough, err := show(state); enough || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.world.ended:
			return c.world.failure()
		case <-look.C:
		case <-changed:
			client.Pause(ctx, settle)
		}
	}
}

// watch keeps what a Mac knows of all.
func (n *Node) watch(ctx context.Context, changed waker.Waker) {
	for event, err := range n.client.Watch(ctx, api.StateSelect{Kinds: watchedKinds()}) {
		if err != nil {
			continue // the next look says what is wrong
		}
		n.seen.mu.Lock()
		n.seen.view.Apply(event)
		n.seen.mu.Unlock()
		changed.Wake()
	}
}

// look asks every Mac whom it reaches, and puts together what all see.
func (c *Cluster) look(ctx context.Context) State {
	var all sync.WaitGroup
	for _, n := range c.Nodes {
		all.Go(func() {
			list, err := client.Call[api.NodeListResult](ctx, n.client, "node.list", nil)
			n.seen.mu.Lock()
			defer n.seen.mu.Unlock()
			n.seen.nodes, n.seen.err = list.Nodes, err
		})
	}
	all.Wait()
	var s State
	for _, n := range c.Nodes {
		s.Nodes = append(s.Nodes, c.stateOf(n))
	}
	for _, n := range c.Nodes {
		s.Missing = append(s.Missing, n.missing(c.Nodes)...)
	}
	return s
}

// stateOf is one Mac as it and the others see it.
func (c *Cluster) stateOf(n *Node) NodeState {
	s := NodeState{Mac: n.Mac, ID: n.ID, Paths: map[api.LinkKind]int{}}
	if !n.process.isRunning() {
		s.Ended = n.process.how()
	}
	for _, other := range c.Nodes {
		for _, v := range other.known() {
			switch {
			case other == n:
				for _, p := range v.Paths {
					if p.State == api.PathActive {
						s.Paths[p.Kind]++
					}
				}
			case v.Node == n.ID:
				if s.Liveness == "" {
					s.Liveness = v.Liveness
				}
				if v.Liveness == api.LivenessAlive {
					s.SeenBy++
				}
			}
		}
		var m api.Memory
		if other.document(n.ID, api.KindMemory, &m) && s.Memory == nil {
			s.Memory = &m
		}
		var gpu api.GPUProfile
		if other.document(n.ID, api.KindGPUProfile, &gpu) && s.GPU == nil {
			s.GPU = &gpu
		}
	}
	if s.Liveness == "" && len(c.Nodes) == 1 && s.Ended == "" {
		s.Liveness = api.LivenessAlive
	}
	return s
}

// known are the nodes that a Mac lists now.
func (n *Node) known() []api.NodeView {
	n.seen.mu.Lock()
	defer n.seen.mu.Unlock()
	if n.seen.err != nil {
		return nil
	}
	return n.seen.nodes
}

// document reads what a Mac has of another; false where it has none.
func (n *Node) document(of api.NodeID, kind api.Kind, into any) bool {
	n.seen.mu.Lock()
	defer n.seen.mu.Unlock()
	d, found := n.seen.view.Get(api.Key{Node: of, Kind: kind})
	return found && !d.Deleted && d.Decode(into) == nil
}

// missing says what a Mac does not see yet of the others.
func (n *Node) missing(all []*Node) []string {
	if !n.process.isRunning() {
		return []string{fmt.Sprintf("the daemon of %s ended (%s)", n.Mac, n.process.how())}
	}
	n.seen.mu.Lock()
	err := n.seen.err
	n.seen.mu.Unlock()
	if err != nil {
		return []string{fmt.Sprintf("the daemon of %s does not answer: %s", n.Mac, api.AsError(err).Message)}
	}
	reached := map[api.NodeID]api.Liveness{}
	for _, v := range n.known() {
		reached[v.Node] = v.Liveness
	}
	var out []string
	for _, other := range all {
		switch l, known := reached[other.ID]; {
		case !known:
			out = append(out, fmt.Sprintf("%s does not know %s", n.Mac, other.Mac))
			continue
		case l != api.LivenessAlive:
			out = append(out, fmt.Sprintf("%s sees %s as %s", n.Mac, other.Mac, l))
			continue
		}
		for _, kind := range sharedKinds() {
			if !n.document(other.ID, kind, new(struct{})) {
				out = append(out, fmt.Sprintf("%s has no %s document of %s", n.Mac, kind, other.Mac))
			}
		}
	}
	return out
}

// Complete waits until all are paired and all see the state of all, and gives
// show every state on the way. Where the context ends before, the error names
// what is missing.
func (c *Cluster) Complete(ctx context.Context, show func(State) error) error {
	var last State
	err := c.Follow(ctx, func(s State) (bool, error) {
		last = s
		return len(s.Missing) == 0, show(s)
	})
	if err == nil || ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	e := *api.AsError(late(ctx, "every Mac to see the state of all the others"))
	for _, m := range last.Missing {
		e.Data.Causes = append(e.Data.Causes, api.Cause{Reason: api.ReasonDeadline, Message: m})
	}
	return &e
}
