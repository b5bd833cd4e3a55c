package systemprofiler

import (
	"fmt"

	"fulmen/native"
)

// portItem is a tag "receptacle_N_tag" or "receptacle_upstream..._tag": the
// side of a router that a cable goes into.
type portItem struct {
	connected *bool // nil: not told
	// statusWhy says why connected is nil.
	statusWhy native.Reason
	// speed is what is negotiated, or with UpTo the receptacle's limit.
	speed    native.LinkSpeed
	speedWhy native.Reason
	// width is the registry's width code, told on Macs with Intel processors
	// only; 0 otherwise.
	width uint32
}

func readPortItem(o object) portItem {
	var r portItem
	o.noteOthers(false, "current_speed_key", "current_link_width_key", "link_status_key", "receptacle_id_key", "receptacle_status_key",
		"micro_version_key", "lc_version_key")
	var status, speed string
	if status, r.statusWhy = o.text("receptacle_status_key"); r.statusWhy == "" {
		switch status {
		case "receptacle_connected":
			r.connected = new(true)
		case "receptacle_no_devices_connected":
			r.connected = new(false)
		default:
			r.statusWhy = o.malformed("receptacle_status_key", fmt.Sprintf("is %.40q", status))
		}
	}
	if speed, r.speedWhy = o.text("current_speed_key"); r.speedWhy == "" {
		var err error
		if r.speed, err = native.ParseLinkSpeed(speed); err != nil {
			r.speedWhy = o.malformed("current_speed_key", fmt.Sprintf("is %.40q and not a speed", speed))
		}
	}
	if o.has("current_link_width_key") {
		r.width, _ = o.number("current_link_width_key")
	}
	return r
}

// link is what the receptacle negotiated. A device of the mode at the other end
// narrows down what a speed can be made of; "" is any. The speed alone does not
// always tell generation and lanes, which are absent then: 40 Gb/s is two lanes
// of 20 or one of 40.
func (r portItem) link(mode string) (*native.Link, native.Reason) {
	switch {
	case r.speedWhy != "":
		return nil, r.speedWhy
	case r.connected != nil && !*r.connected && r.speed.UpTo:
		return &native.Link{State: native.LinkDown}, ""
	case r.connected != nil && !*r.connected:
		return nil, native.ReasonSourcesDisagree.With("nothing is connected, but it reports a speed of " + r.speed.String())
	case r.speed.UpTo:
		return nil, native.ReasonNoOS.With("only a limit is reported: " + r.speed.String())
	}
	links := r.candidates(mode)
	if len(links) == 0 {
		return nil, native.ReasonSourceMalformed.With(r.speed.String() + " is not a speed of a Thunderbolt link")
	}
	link := links[0]
	for _, other := range links[1:] {
		if other.Speed() != link.Speed() {
			return nil, native.ReasonNoOS.With(r.speed.String() + " is asymmetric, and system_profiler does not say which direction is faster")
		}
		if other.LaneBitsPerS != link.LaneBitsPerS {
			link = native.Link{State: native.LinkUp, TxBitsPerS: link.TxBitsPerS, RxBitsPerS: link.RxBitsPerS}
		}
	}
	return &link, ""
}

// candidates are the links that are told like this one. Of an asymmetric link
// the faster direction is told.
func (r portItem) candidates(mode string) []native.Link {
	var links []native.Link
	for _, rate := range []uint32{native.LaneCode10G, native.LaneCode20G, native.LaneCode40G} {
		if rate == native.LaneCode40G && (mode == modeTB3 || mode == modeUSB4) {
			continue
		}
		for _, width := range []uint32{native.WidthSingle, native.WidthDual, native.Width3Tx1Rx, native.Width1Tx3Rx} {
			link, err := native.NegotiatedLink(rate, width)
			speed := native.LinkSpeed{TxBitsPerS: link.TxBitsPerS, RxBitsPerS: link.RxBitsPerS}
			if r.speed.TxBitsPerS == r.speed.RxBitsPerS {
				speed = native.LinkSpeed{TxBitsPerS: max(speed.TxBitsPerS, speed.RxBitsPerS), RxBitsPerS: max(speed.TxBitsPerS, speed.RxBitsPerS)}
			}
			if err == nil && speed == r.speed && (r.width == 0 || r.width == width) {
				links = append(links, link)
			}
		}
	}
	return links
}

// The words of mode_key that bound a lane to 20 Gb/s; usb_four_v2 bounds nothing.
const (
	modeTB3  = "thunderbolt_three"
	modeUSB4 = "usb_four"
)

// capability is what the receptacle can do at best. A limit tells it; so does a
// negotiated speed that only Thunderbolt 5 reaches.
func (r portItem) capability(routerVersion uint32) (native.ThunderboltVersion, native.Reason) {
	const tb5, tb4, slower = 80e9, 40e9, native.LaneCode20G | native.LaneCode10G
	best := max(r.speed.TxBitsPerS, r.speed.RxBitsPerS)
	var mask uint32
	switch {
	case r.speedWhy != "":
		return "", r.speedWhy
	case best >= tb5:
		mask = slower | native.LaneCode40G
	case !r.speed.UpTo:
		return "", native.ReasonNoOS.With("a port in use reports its speed, " + r.speed.String() + ", and not its limit")
	case best == tb4:
		mask = slower
	default:
		return "", native.ReasonNoOS.With(r.speed.String() + " is slower than Thunderbolt 3")
	}
	version, err := native.PortCapability(mask, routerVersion)
	if err != nil {
		return "", native.ReasonNoOS.With(r.speed.String() + " can be Thunderbolt 3 or 4")
	}
	return version, ""
}
