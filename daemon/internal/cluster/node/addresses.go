package node

import (
	"maps"
	"net/netip"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/transport"
)

// Met is where members answered last, by their ids.
type Met map[api.NodeID][]MetAddress

// MetAddress is one address of a member.
type MetAddress struct {
	// Address is where it listens; a link-local one has this node's zone.
	Address netip.AddrPort `json:"address"`
	// Interface is this node's.
	Interface string `json:"interface,omitempty"`
}

// AddressStore keeps where members answered over a restart: where no discovery
// helps, two nodes that both start anew would not find each other.
type AddressStore interface {
	// LoadMet gives what was saved last; nil if nothing was.
	LoadMet() (Met, error)
	// SaveMet keeps it.
	SaveMet(Met) error
}

// loadMet takes up where members were met before.
func (n *Node) loadMet() {
	if n.options.Addresses == nil {
		return
	}
	met, err := n.options.Addresses.LoadMet()
	if err != nil {
		n.log.Error("where members were met could not be read", "error", err)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.saved = met
	for node, all := range met {
		for _, a := range all {
			n.met[node] = append(n.met[node], transport.Candidate(a))
		}
	}
}

// saveMet keeps where members answer now. One that does not answer keeps what
// was known of it, and one that is no member any more is forgotten.
func (n *Node) saveMet() {
	if n.options.Addresses == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	next := Met{}
	for _, node := range n.options.Roster.Members() {
		var now []MetAddress
		for _, path := range n.transport.Paths(node) {
			if path.State == api.PathActive {
				now = append(now, MetAddress{path.Address, path.Interface})
			}
		}
		if len(now) == 0 {
			now = n.saved[node]
		}
		slices.SortFunc(now, func(a, b MetAddress) int { return a.Address.Compare(b.Address) })
		if len(now) > 0 {
			next[node] = now
		}
	}
	if maps.EqualFunc(next, n.saved, slices.Equal) {
		return
	}
	if err := n.options.Addresses.SaveMet(next); err != nil {
		n.log.Error("where members were met could not be saved", "error", err)
		return
	}
	n.saved = next
}

// denials are the parts of this node that the system keeps from the local network. Each
// finds out by itself: macOS refuses searches and connections in different words.
type denials struct {
	tell func(detail string)

	mu     sync.Mutex
	search string
	dial   string
	told   string
}

// searched is what the last search found out, dialled what the last connection did.
func (d *denials) searched(detail string) {
	d.say(&d.search, "a search was refused, "+detail, detail != "")
}
func (d *denials) dialled(at string) { d.say(&d.dial, "no route to "+at, at != "") }

func (d *denials) say(of *string, text string, isDenied bool) {
	if !isDenied {
		text = ""
	}
	d.mu.Lock()
	defer d.mu.Unlock() // over the telling, so that the last word is the last told
	*of = text
	if now := d.search + d.dial; (now == "") == (d.told == "") {
		return
	}
	d.told = d.search + d.dial
	d.tell(d.told)
}
