package linux

import (
	"cmp"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// thunderboltRoute is the way to a router or a peer: one byte a hop, the lowest
// nearest the host, each the number of the adapter through which the hop
// leaves. 0 is the host's own router.
type thunderboltRoute uint64

// String is in the form of [native.Hub.Route]; the host's is "".
func (r thunderboltRoute) String() string {
	if r == 0 {
		return ""
	}
	return fmt.Sprintf("%#x", uint64(r))
}

// hops is the number of cables between the host and there.
func (r thunderboltRoute) hops() int { return (bits.Len64(uint64(r)) + 7) / 8 }

// parent is the route without its last hop.
func (r thunderboltRoute) parent() thunderboltRoute {
	if r == 0 {
		return 0
	}
	return r &^ (0xff << (8 * (r.hops() - 1)))
}

// adapter is the number of the host's adapter through which it leaves.
func (r thunderboltRoute) adapter() int { return int(r & 0xff) }

// compare orders what is nearer first, so that each comes after what it hangs on.
func (r thunderboltRoute) compare(other thunderboltRoute) int {
	return cmp.Or(cmp.Compare(r.hops(), other.hops()), cmp.Compare(r, other))
}

// maxHops is how many hops a route can hold: the kernel keeps the highest byte
// for itself.
const maxHops = 7

// parseDeviceName reads the name of a router or a peer, "DOMAIN-ROUTE": decimal
// and hexadecimal, without leading zeros.
func parseDeviceName(name string) (domain int, route thunderboltRoute, ok bool) {
	first, second, _ := strings.Cut(name, "-")
	number, err := strconv.ParseUint(first, 10, 16)
	if err != nil {
		return 0, 0, false
	}
	way, err := strconv.ParseUint(second, 16, 64)
	if err != nil || fmt.Sprintf("%d-%x", number, way) != name {
		return 0, 0, false
	}
	route = thunderboltRoute(way)
	if route.hops() > maxHops {
		return 0, 0, false
	}
	for hop := range route.hops() {
		// An adapter's number has 6 bits, and 0 is no adapter.
		if adapter := route >> (8 * hop) & 0xff; adapter == 0 || adapter > 0x3f {
			return 0, 0, false
		}
	}
	return int(number), route, true
}

// parseServiceName reads the name of one of a peer's services, "PEER.NUMBER".
func parseServiceName(name string) (peer string, number int, ok bool) {
	peer, rest, _ := strings.Cut(name, ".")
	_, route, ok := parseDeviceName(peer)
	n, err := strconv.ParseUint(rest, 10, 16)
	if !ok || route == 0 || err != nil || strconv.FormatUint(n, 10) != rest {
		return "", 0, false
	}
	return peer, int(n), true
}
