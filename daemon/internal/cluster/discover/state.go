package discover

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/native"
)

// state is all that discovery knows, and its rules. It does no I/O. Times are
// those of [native.Clock]: the wall clock's for the day and for people, Boot for
// everything that lasts.
type state struct {
	self        api.NodeID
	port        int
	table       table
	attachments map[string]attachment
	neighbours  map[string]*neighbours // by interface
	turns       map[string]int         // how often an interface ceased to be usable
	own         []string               // instances that this node announces or has just announced
	documents   map[api.NodeID]api.Network
	cables      []Cable
	paths       map[api.NodeID][]transport.Path
	observed    map[api.NodeID]map[transport.Candidate]time.Duration // when it was last a path
	ports       map[api.NodeID]uint16                                // where the node listens, as a path proved
	shared      map[sharedKey]time.Duration                          // since when, see isolation.go
	peers       []*peer
	pairing     string // id; empty while Add a Mac is closed
	remembered  Remembered
	isDirty     bool // remembered is to be saved
	changed     Change
	isolated    []Isolation // as it was told last
}

// Cable is a Thunderbolt cable between an interface of this node and one of a
// member's, as the topology knows it.
type Cable struct {
	// Interface is this node's.
	Interface string
	// Node and PeerInterface are the other end.
	Node          api.NodeID
	PeerInterface string
}

// Change says what is different since the last one.
type Change struct {
	// Nodes are the members whose candidates have changed, in order.
	Nodes []api.NodeID
	// NonMembers, Peers and Isolation say that those lists have.
	NonMembers, Peers, Isolation bool
}

func newState(self api.NodeID, port int, remembered Remembered) *state {
	return &state{
		self: self, port: port, remembered: remembered,
		attachments: map[string]attachment{}, neighbours: map[string]*neighbours{}, turns: map[string]int{},
		documents: map[api.NodeID]api.Network{}, paths: map[api.NodeID][]transport.Path{},
		observed: map[api.NodeID]map[transport.Candidate]time.Duration{}, ports: map[api.NodeID]uint16{},
		shared: map[sharedKey]time.Duration{},
	}
}

func (s *state) touch(nodes ...api.NodeID) {
	for _, node := range nodes {
		if node != "" && node != s.self && !slices.Contains(s.changed.Nodes, node) {
			s.changed.Nodes = append(s.changed.Nodes, node)
		}
	}
}

// setRoster replaces the members. Who was heard before may be one now, or none
// any more; of whom is none, nothing is kept.
func (s *state) setRoster(now time.Time, id api.ClusterID, members []api.NodeID) {
	s.touch(s.table.nodes...)
	s.table.cluster, s.table.nodes = id, slices.Sorted(slices.Values(members))
	s.touch(s.table.nodes...)
	isNone := func(node api.NodeID) bool { return !slices.Contains(s.table.nodes, node) }
	maps.DeleteFunc(s.documents, func(n api.NodeID, _ api.Network) bool { return isNone(n) })
	maps.DeleteFunc(s.paths, func(n api.NodeID, _ []transport.Path) bool { return isNone(n) })
	maps.DeleteFunc(s.observed, func(n api.NodeID, _ map[transport.Candidate]time.Duration) bool { return isNone(n) })
	maps.DeleteFunc(s.ports, func(n api.NodeID, _ uint16) bool { return isNone(n) })
	for _, p := range s.peers {
		if p.node != "" && isNone(p.node) {
			p.node, s.changed.Peers = "", true
		}
	}
	s.turn(now)
}

// turn makes the table of the day, and tells again who is who.
func (s *state) turn(now time.Time) {
	s.table.build(now)
	for _, c := range s.neighbours {
		for _, e := range c.entries {
			if node := s.table.ids[e.text.ID]; node != e.node {
				s.touch(node, e.node)
				e.node = node
				s.changed.NonMembers = true
			}
		}
	}
}

// setNetwork replaces this node's interfaces. What was heard by one that is no
// longer used is not there any more.
func (s *state) setNetwork(boot time.Duration, n api.Network) {
	old := s.attachments
	s.attachments = attachments(n)
	for name, was := range old {
		if was.isUsable && !s.attachments[name].isUsable {
			s.turns[name]++
			s.disperse(name)
		}
	}
	for _, p := range s.peers {
		p.again(boot) // another network may know another answer
	}
	s.touch(s.table.nodes...)
	s.share(boot)
}

// disperse forgets what was heard by an interface.
func (s *state) disperse(name string) {
	if c := s.neighbours[name]; c != nil {
		for _, e := range c.entries {
			s.notify(e)
		}
		delete(s.neighbours, name)
	}
}

// notify notes who is affected by an entry.
func (s *state) notify(e *entry) {
	s.touch(e.node)
	if e.node == "" && e.text.Pairing != "" {
		s.changed.NonMembers = true
	}
}

// setDocument takes a member's network document; nil = there is none.
func (s *state) setDocument(boot time.Duration, node api.NodeID, n *api.Network) {
	if n == nil || node == s.self || !slices.Contains(s.table.nodes, node) {
		delete(s.documents, node)
	} else {
		s.documents[node] = *n
	}
	s.touch(node)
	s.share(boot)
}

func (s *state) setCables(cables []Cable) {
	for _, c := range slices.Concat(s.cables, cables) {
		s.touch(c.Node)
	}
	s.cables = slices.Clone(cables)
}

// setPaths takes the transport's paths to a member. One that is up proves that
// the member is where it is: the network is remembered, the address is kept for
// a while, and a configured peer with it has an owner.
func (s *state) setPaths(boot time.Duration, now time.Time, node api.NodeID, paths []transport.Path) {
	if !slices.Contains(s.table.nodes, node) {
		return
	}
	s.keep(boot, node)
	s.paths[node] = slices.Clone(paths)
	s.keep(boot, node)
	for _, p := range paths {
		if p.State == api.PathFailed {
			continue
		}
		if a, ok := s.attachments[p.Interface]; ok && !a.isCable {
			s.isDirty = s.remembered.meet(s.remembered.fingerprint(a.kind, a.networks), now) || s.isDirty
		}
		s.ports[node] = p.Address.Port()
		for _, peer := range s.peers {
			if peer.has(p.Address) && peer.node != node {
				s.touch(peer.node)
				peer.node, s.changed.Peers = node, true
			}
		}
	}
	s.touch(node)
	s.share(boot)
}

// keep notes the addresses of paths that are up.
func (s *state) keep(boot time.Duration, node api.NodeID) {
	for _, p := range s.paths[node] {
		if p.State == api.PathFailed {
			continue
		}
		if s.observed[node] == nil {
			s.observed[node] = map[transport.Candidate]time.Duration{}
		}
		s.observed[node][transport.Candidate{Address: p.Address, Interface: p.Interface}] = boot
	}
}

// receive takes a sighting.
func (s *state) receive(now time.Time, seen native.Sighting) {
	if slices.Contains(s.own, seen.Instance) || !s.attachments[seen.Interface].isUsable {
		return
	}
	c := s.neighbours[seen.Interface]
	if c == nil {
		c = &neighbours{entries: map[string]*entry{}}
		s.neighbours[seen.Interface] = c
	}
	var e *entry
	if text, ok := ParseText(seen.TXT); ok && !seen.Gone && seen.Port > 0 && seen.Port <= 65535 {
		e = &entry{instance: seen.Instance, text: text, node: s.table.ids[text.ID], since: now}
		for _, address := range seen.Addresses[:min(len(seen.Addresses), mostAddresses)] {
			e.candidates = append(e.candidates, transport.Candidate{
				Address: netip.AddrPortFrom(address, uint16(seen.Port)), Interface: seen.Interface,
			})
		}
		if e.node == s.self {
			e = nil // this node by another name: a copy of it, or what was announced before a restart
		}
	}
	for _, affected := range c.replace(seen.Instance, e) {
		s.notify(affected)
	}
}

// takeChange gives what has changed, once.
func (s *state) takeChange(boot time.Duration) Change {
	if now := s.isolation(boot); !slices.Equal(now, s.isolated) {
		s.isolated, s.changed.Isolation = now, true
	}
	change := s.changed
	slices.Sort(change.Nodes)
	s.changed = Change{}
	return change
}

// mostNonMembers is how many are listed.
const mostNonMembers = 32

// NonMember is a node that is no member and waits for another Mac to be added.
// Nothing of it is proved.
type NonMember struct {
	// Pairing is the random id under which it waits.
	Pairing string
	// Candidates are where it can be spoken to.
	Candidates []transport.Candidate
	// Since is when it was heard first, by the wall clock.
	Since time.Time
}

// table tells whose an id of the day is.
type table struct {
	cluster api.ClusterID
	nodes   []api.NodeID
	day     string
	ids     map[string]api.NodeID
}

// day names the day of an instant.
func day(now time.Time) string { return now.UTC().Format(time.DateOnly) }

// build makes the ids of all nodes, of today, yesterday and tomorrow: clocks
// differ, and midnight comes.
func (t *table) build(now time.Time) {
	t.day, t.ids = day(now), make(map[string]api.NodeID, 3*len(t.nodes))
	for _, node := range t.nodes {
		for days := -1; days <= 1; days++ {
			t.ids[cluster.DailyID(t.cluster, node, cluster.UseAnnounce, now.UTC().AddDate(0, 0, days))] = node
		}
	}
}
