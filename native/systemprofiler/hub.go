package systemprofiler

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fulmen/native"
	"fulmen/native/recording/notes"
)

// The tags of a device's side towards the host. Only the first was recorded.
const (
	upstreamAmbiguous = "receptacle_upstream_ambiguous_tag"
	upstream          = "receptacle_upstream_tag"
)

// downstream is a router's side away from the host: what its receptacles in use
// negotiated. Which device hangs on which receptacle is not told.
type downstream struct {
	sides []receptacle
	told  bool // false for the host, whose port gives the link
}

func downstreamOf(o object) downstream {
	d := downstream{told: true}
	for _, tag := range tagsOf(o) {
		if at, ok := o.below(tag, o.fields[tag]); ok {
			if side := readReceptacle(at); side.connected != nil && *side.connected {
				d.sides = append(d.sides, side)
			}
		}
	}
	return d
}

// without leaves out a receptacle for each router below that tells its own link:
// what remains is for the devices that do not, such as computers.
func (d downstream) without(o object, items []any) downstream {
	d.sides = slices.Clone(d.sides)
	for _, entry := range items {
		fields, _ := entry.(map[string]any)
		tag, _ := fields[upstreamAmbiguous].(map[string]any)
		if tag == nil {
			continue
		}
		told := readReceptacle(object{at: o.at, fields: tag, notes: &notes.Notes{}}) // noted where it is read in full
		if i := slices.IndexFunc(d.sides, func(side receptacle) bool { return side.speedWhy == "" && side.speed == told.speed }); i >= 0 {
			d.sides = slices.Delete(d.sides, i, i+1)
		}
	}
	return d
}

// link is that of every device below the router, where all receptacles in use
// agree, so that it does not matter which one it hangs on.
func (d downstream) link(mode string) (*native.Link, native.Reason) {
	if len(d.sides) == 0 {
		return nil, native.ReasonNoOS.With("the speed of this hop is not told")
	}
	first, why := d.sides[0].link(mode)
	for _, side := range d.sides[1:] {
		link, _ := side.link(mode)
		if link == nil || first == nil || *link != *first {
			return nil, native.ReasonNoOS.With("several receptacles of the hub are in use, and which of them this is is not told")
		}
	}
	return first, why
}

func (w *walk) hub(o object, parent string, above downstream, depth int) {
	hub := native.Hub{Route: w.route(o, parent), Parent: parent}
	vendor, why := o.text("vendor_name_key")
	put(&hub.Vendor, &hub.Unknown, "vendor", vendor, why)
	name, why := o.text("device_name_key")
	if why != "" && o.has("_name") {
		name, why = o.text("_name")
	}
	put(&hub.Name, &hub.Unknown, "name", name, why)
	mode := ""
	if o.has("mode_key") {
		mode, _ = o.text("mode_key")
	}
	if depth == 0 && w.direct == 1 {
		w.firstMode = mode
	}
	link, why := w.upstreamLink(o, mode, above)
	put(&hub.Negotiated, &hub.Unknown, "negotiated", link, why)
	w.hubs = append(w.hubs, hub)
	items, why := o.list("_items")
	if why != "" {
		w.odd = true
	}
	w.list(o, items, hub.Route, downstreamOf(o), depth+1)
}

// upstreamLink is the hub's link towards the host, by its own word or else by
// that of the router above.
func (w *walk) upstreamLink(o object, mode string, above downstream) (*native.Link, native.Reason) {
	why := missing(upstreamAmbiguous)
	for _, tag := range []string{upstreamAmbiguous, upstream} {
		if !o.has(tag) {
			continue
		}
		at, ok := o.below(tag, o.fields[tag])
		if !ok {
			why = native.ReasonSourceMalformed.With(tag)
			continue
		}
		link, linkWhy := readReceptacle(at).link(mode)
		if linkWhy == "" {
			return link, ""
		}
		why = linkWhy
	}
	if above.told {
		if link, aboveWhy := above.link(mode); aboveWhy == "" {
			return link, ""
		}
	}
	return nil, why
}

// route reads a router's place. Everything below it refers to it, so a router
// without one gets a made-up name that is no route, and a note.
func (w *walk) route(o object, parent string) string {
	text, why := o.text("route_string_key")
	route := ""
	if why == "" {
		n, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(text), "0x"), 16, 64)
		route = fmt.Sprintf("0x%x", n)
		switch {
		case err != nil || n == 0:
			why = o.malformed("route_string_key", fmt.Sprintf("is %.40q and no route", text))
		case slices.ContainsFunc(w.hubs, func(h native.Hub) bool { return h.Route == route }):
			why = o.malformed("route_string_key", fmt.Sprintf("is %.40q like another's", text))
		case parentOf(n) != parent && isRoute(parent):
			o.notes.Add("%s: route %s does not lie below %q, where it is listed", o.at, route, parent)
		}
	}
	if why == "" {
		return route
	}
	w.unnamed++
	o.notes.Add("%s: the router has no route of its own; it is called ?%d here", o.at, w.unnamed)
	return fmt.Sprintf("?%d", w.unnamed)
}

// parentOf cuts the farthest hop off a route: one byte a hop, the lowest nearest
// the host.
func parentOf(route uint64) string {
	for shift := 56; shift > 0; shift -= 8 {
		if route>>shift != 0 {
			return fmt.Sprintf("0x%x", route&(1<<shift-1))
		}
	}
	return ""
}
