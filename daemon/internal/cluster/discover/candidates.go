package discover

import (
	"cmp"
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
	for _, c := range s.crowds {
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

// strangers are those that wait for another Mac, each once, in the order in
// which they were heard first.
func (s *state) strangers() []Stranger {
	found := map[string]*Stranger{}
	for _, c := range s.crowds {
		for _, e := range c.entries {
			if e.node != "" || e.text.Pairing == "" || e.text.Pairing == s.pairing {
				continue
			}
			at := found[e.text.Pairing]
			if at == nil {
				at = &Stranger{Pairing: e.text.Pairing, Protocol: e.text.Protocol, Since: e.since}
				found[e.text.Pairing] = at
			}
			if e.since.Before(at.Since) {
				at.Since = e.since
			}
			at.Candidates = append(at.Candidates, e.candidates...)
		}
	}
	var all []Stranger
	for _, at := range found {
		slices.SortFunc(at.Candidates, compareCandidates)
		at.Candidates = slices.Compact(at.Candidates)
		at.Candidates = at.Candidates[:min(len(at.Candidates), mostCandidates)]
		all = append(all, *at)
	}
	slices.SortFunc(all, func(a, b Stranger) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Pairing, b.Pairing)) })
	return all[:min(len(all), mostStrangers)]
}
