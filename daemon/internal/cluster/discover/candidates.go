package discover

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/transport"
)

const (
	// mostCandidates is how many are given for a node.
	mostCandidates = 32
	// observedFor is how long the address of a path that is gone is tried.
	observedFor = time.Hour
)

// candidates are where a member may be, what is known best first: announced,
// then seen as a path, then of its network document, then configured.
func (s *state) candidates(boot time.Duration, node api.NodeID) []transport.Candidate {
	if node == s.self || !slices.Contains(s.table.nodes, node) {
		return nil
	}
	groups := [][]transport.Candidate{s.announced(node), s.seen(boot, node), s.documented(node), nil}
	for _, p := range s.peers {
		if p.node == node {
			groups[3] = append(groups[3], p.candidates()...)
		}
	}
	var all []transport.Candidate
	for _, group := range groups {
		slices.SortFunc(group, compareCandidates)
		for _, c := range group {
			if len(all) < mostCandidates && !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// compareCandidates is any order that does not change.
func compareCandidates(a, b transport.Candidate) int {
	return cmp.Or(cmp.Compare(a.Interface, b.Interface), a.Address.Compare(b.Address))
}

func (s *state) announced(node api.NodeID) (all []transport.Candidate) {
	for _, c := range s.neighbours {
		for _, e := range c.entries {
			if e.node == node {
				all = append(all, e.candidates...)
			}
		}
	}
	return all
}

func (s *state) seen(boot time.Duration, node api.NodeID) []transport.Candidate {
	s.keep(boot, node)
	maps.DeleteFunc(s.observed[node], func(_ transport.Candidate, last time.Duration) bool { return boot-last > observedFor })
	var all []transport.Candidate
	for c := range s.observed[node] {
		if _, there := s.attachments[c.Interface]; there || c.Interface == "" {
			all = append(all, c)
		}
	}
	return all
}

// documented are the member's addresses in networks that this node is in too,
// and those at the other end of a known cable, link-local ones included.
func (s *state) documented(node api.NodeID) (all []transport.Candidate) {
	port := s.ports[node]
	if port == 0 {
		port = api.PeerPort
	}
	for _, theirs := range s.documents[node].Interfaces {
		isJoined := func(name string) bool { return slices.Contains(s.cables, Cable{name, node, theirs.Name}) }
		for _, a := range theirs.Addresses {
			for name, own := range s.attachments {
				address := a.Address.Addr()
				switch {
				case a.Tentative || !address.IsValid() || address.IsLoopback() || own.kind == api.InterfaceLoopback:
					continue
				case isJoined(name):
					if address.Is6() && address.IsLinkLocalUnicast() {
						address = address.WithZone(name)
					}
				case theirs.Type == api.InterfaceVPN && own.isTailnetToo(address): // each end is a network of one address
				case own.isSelfAssignedToo(a.Address): // perhaps a cable between two Ethernet sockets
				case isSelfAssigned(a.Address) || !own.reaches(address):
					continue
				}
				all = append(all, transport.Candidate{Address: netip.AddrPortFrom(address, port), Interface: name})
			}
		}
	}
	return all
}

// nonMembers are those that wait for another Mac, each once, in the order in
// which they were heard first.
func (s *state) nonMembers() []NonMember {
	found := map[string]*NonMember{}
	for _, c := range s.neighbours {
		for _, e := range c.entries {
			if e.node != "" || e.text.Pairing == "" || e.text.Pairing == s.pairing {
				continue
			}
			at := found[e.text.Pairing]
			if at == nil {
				at = &NonMember{Pairing: e.text.Pairing, Since: e.since}
				found[e.text.Pairing] = at
			}
			if e.since.Before(at.Since) {
				at.Since = e.since
			}
			at.Candidates = append(at.Candidates, e.candidates...)
		}
	}
	var all []NonMember
	for _, at := range found {
		slices.SortFunc(at.Candidates, compareCandidates)
		at.Candidates = slices.Compact(at.Candidates)
		at.Candidates = at.Candidates[:min(len(at.Candidates), mostCandidates)]
		all = append(all, *at)
	}
	slices.SortFunc(all, func(a, b NonMember) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Pairing, b.Pairing)) })
	return all[:min(len(all), mostNonMembers)]
}

// The bounds of what is remembered.
const (
	// rememberFor is how long a network counts after a member was met there.
	rememberFor = 90 * 24 * time.Hour
	// mostNetworks is how many are remembered; those met longest ago go first.
	mostNetworks = 64
	// freshFor is how long a meeting need not be written down again.
	freshFor = 24 * time.Hour
)

// Remembered is what is kept over a restart: on which networks members were met,
// in a form that does not say which they are.
type Remembered struct {
	// Salt is random, 16 bytes in hexadecimal, and makes the fingerprints this
	// node's own.
	Salt string `json:"salt"`
	// Networks are the fingerprints, with when a member was met there last.
	Networks map[string]api.Time `json:"networks"`
}

// Store keeps what is remembered.
type Store interface {
	// LoadDiscovery gives what was saved last; the zero value if nothing was.
	LoadDiscovery() (Remembered, error)
	// SaveDiscovery keeps it.
	SaveDiscovery(Remembered) error
}

// fingerprint names the network of an interface: a keyed hash of what the
// interface is and of its private networks. The system tells neither the name
// nor the router of a network, and public IPv6 networks change, so two homes that
// both use 192.168.1.0/24 over Wi-Fi look alike; what is then announced can be
// told by members only. Empty where there is nothing to go by, as with nothing
// but link-local addresses.
func (r Remembered) fingerprint(kind api.InterfaceType, networks []string) string {
	if len(networks) == 0 || r.Salt == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte("fulmen-network-1"+r.Salt))
	mac.Write([]byte(kind))
	for _, network := range slices.Compact(slices.Sorted(slices.Values(networks))) {
		mac.Write([]byte("|" + network))
	}
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// meet notes that a member was met, and reports whether that is worth to be
// written down.
func (r *Remembered) meet(fingerprint string, now time.Time) bool {
	if fingerprint == "" {
		return false
	}
	if last, known := r.Networks[fingerprint]; known && now.Sub(last.Time) < freshFor && !now.Before(last.Time) {
		return false
	}
	r.Networks = maps.Clone(r.Networks) // who saves it has the former one
	if r.Networks == nil {
		r.Networks = map[string]api.Time{}
	}
	r.Networks[fingerprint] = api.Time{Time: now}
	for len(r.Networks) > mostNetworks {
		delete(r.Networks, slices.MinFunc(slices.Collect(maps.Keys(r.Networks)), func(a, b string) int {
			return r.Networks[a].Compare(r.Networks[b].Time)
		}))
	}
	return true
}

// knows reports whether a member was met there, and not too long ago.
func (r Remembered) knows(fingerprint string, now time.Time) bool {
	last, known := r.Networks[fingerprint]
	return known && now.Sub(last.Time) < rememberFor
}

// The bounds of what is kept of what others announce.
const (
	// mostInstances is how many instances are kept for an interface. Of too many
	// the strangers heard longest ago go first; members are kept.
	mostInstances = 128
	// mostOfNode is how many of them may be one member's: a new announcement
	// comes before the old one goes, and whoever heard a member's id of the day
	// can repeat it.
	mostOfNode = 4
	// mostAddresses is how many addresses of an instance are kept.
	mostAddresses = 16
)

// neighbours is who is heard on an interface.
type neighbours struct {
	entries map[string]*entry // by instance
	order   uint64
}

// entry is one instance.
type entry struct {
	instance   string
	text       Text
	node       api.NodeID // empty = a stranger
	candidates []transport.Candidate
	since      time.Time
	order      uint64 // of being heard last
}

// replace puts an entry, or nothing, in the place of an instance and returns all
// entries that went or came.
func (c *neighbours) replace(instance string, e *entry) (affected []*entry) {
	if old := c.entries[instance]; old != nil {
		affected = append(affected, old)
		delete(c.entries, instance)
		if e != nil {
			e.since = old.since
		}
	}
	if e == nil {
		return affected
	}
	c.order++
	e.order = c.order
	c.entries[instance] = e
	affected = append(affected, e)
	if e.node != "" {
		if old, count := c.oldest(e.node); count > mostOfNode {
			delete(c.entries, old.instance)
			affected = append(affected, old)
		}
	}
	if len(c.entries) > mostInstances {
		old, _ := c.oldest("")
		if old == nil {
			old = e // all are members: more of them than there is room for
		}
		delete(c.entries, old.instance)
		affected = append(affected, old)
	}
	return affected
}

// oldest is the entry of a node, or of no node, that was heard longest ago, and
// how many there are.
func (c *neighbours) oldest(node api.NodeID) (oldest *entry, count int) {
	for _, e := range c.entries {
		if e.node != node {
			continue
		}
		count++
		if oldest == nil || e.order < oldest.order {
			oldest = e
		}
	}
	return oldest, count
}
