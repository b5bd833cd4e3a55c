package discover

import (
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/transport"
)

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

// crowd is who is heard on an interface.
type crowd struct {
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
func (c *crowd) replace(instance string, e *entry) (affected []*entry) {
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
func (c *crowd) oldest(node api.NodeID) (oldest *entry, count int) {
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
