package systemprofiler

import (
	"fmt"
	"slices"

	"fulmen/native"
)

// below is what hangs on a port: routers and computers at any depth.
type below struct {
	hubs  []native.Hub
	peers []native.Peer
	// direct counts what is plugged into the port itself, and firstMode is the
	// mode of it where there is one such device.
	direct    int
	firstMode string
	// odd is true when something was listed that could not be read; why is set
	// when the list itself could not.
	odd bool
	why native.Reason
}

// nothing is what hangs on a port where nothing hangs.
func nothing() below { return below{hubs: []native.Hub{}, peers: []native.Peer{}} }

func (b below) empty() bool { return len(b.hubs)+len(b.peers) == 0 && !b.odd && b.why == "" }

// walk collects what hangs on one port.
type walk struct {
	*parser
	below
	unnamed int // routers without a route of their own so far
}

// items reads what a bus lists.
func (p *parser) items(bus object) below {
	w := &walk{parser: p, below: nothing()}
	list, why := bus.list("_items")
	if why != "" {
		return below{why: why}
	}
	w.direct = len(list)
	w.list(bus, list, "", downstream{}, 0)
	return w.below
}

// list reads the devices below one router, whose route is "" for the host.
func (w *walk) list(o object, items []any, parent string, side downstream, depth int) {
	if depth == maxDepth && len(items) > 0 {
		o.notes.Add("%s: what is nested deeper than %d devices is ignored", o.at, maxDepth)
		return
	}
	side = side.without(o, items)
	for i, entry := range w.bounded(o.at+"'s devices", items) {
		item, ok := o.below(fmt.Sprint(i), entry)
		if !ok {
			w.odd = true
			continue
		}
		if name, ok := item.fields["_name"].(string); ok {
			item.at = fmt.Sprintf("%s > %.40q", o.at, name)
		}
		item.noteOthers(knownOfItem)
		switch {
		case len(w.hubs)+len(w.peers) >= maxList:
			o.notes.Add("%s: more than %d devices below one port; the rest is ignored", o.at, maxList)
			return
		case item.has("domain_uuid_key") || item.has("services_title"):
			w.peer(item, parent, side)
		case isRouter(item):
			w.hub(item, parent, side, depth)
		default:
			w.odd = true
			item.notes.Add("%s: neither a computer nor a router: ignored", item.at)
		}
	}
}

func knownOfItem(key string) bool {
	switch key {
	case "_items", "_name", "device_id_key", "device_name_key", "device_revision_key", "domain_uuid_key", "mode_key", upstreamAmbiguous, upstream,
		"route_string_key", "services_title", "switch_uid_key", "switch_version_key", "vendor_id_key", "vendor_name_key":
		return true
	}
	return receptacleTag().MatchString(key)
}

// isRouter: a hub, dock or disk has a place in the tree of routers; the peer's
// computer has none.
func isRouter(o object) bool {
	return slices.ContainsFunc([]string{"route_string_key", "switch_uid_key", "mode_key", upstreamAmbiguous, upstream, "_items"}, o.has) || len(tagsOf(o)) > 0
}
