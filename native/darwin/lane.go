package darwin

import (
	"encoding/binary"
	"strconv"
)

// isLane reports whether a router's port is one end of a cable's lane. Intel's
// routers number their adapters otherwise, hence the words.
func isLane(port *entry) bool {
	kind, ok := port.number("Adapter Type")
	words, _ := port.text("Description")
	return ok && kind == adapterLane || words == "Thunderbolt Port"
}

// socket is the number of the receptacle that a host's lane belongs to.
func socket(lane *entry) (int, bool) { return receptacle(lane.properties["Socket ID"]) }

// receptacle reads the number of a receptacle, which the registry has as a text.
func receptacle(value any) (int, bool) {
	switch v := value.(type) {
	case string:
		n, err := strconv.Atoi(v)
		return n, err == nil && n > 0 && n < 100
	case int64:
		return int(v), v > 0 && v < 100
	}
	return 0, false
}

// laneNumber orders the lanes of a receptacle: the first holds what is attached.
func laneNumber(lane *entry) uint32 {
	if n, ok := lane.number("Lane"); ok {
		return n
	}
	n, _ := lane.number("Port Number")
	return n
}

// placeOf is where on the case a controller's receptacle is. The controller's
// node of the device tree has a handle, by which the node that knows the place
// names it.
func placeOf(controller *entry, places map[string]string) (string, bool) {
	handle, ok := handleOf(controller.properties["^AAPL,phandle"])
	if !ok {
		return "", false
	}
	place, ok := places[handle]
	return place, ok
}

// handleOf reads a handle of the device tree: four bytes, little-endian.
func handleOf(value any) (string, bool) {
	b, ok := value.([]byte)
	if !ok || len(b) != 4 {
		return "", false
	}
	return strconv.FormatUint(uint64(binary.LittleEndian.Uint32(b)), 16), true
}

// placesOf reads the nodes that know places: each names the controller that it
// serves.
func placesOf(nodes []entry) map[string]string {
	places := map[string]string{}
	for i := range nodes {
		handle, ok := handleOf(nodes[i].properties["acio-parent"])
		place := dataText(nodes[i].properties["port-location"])
		if ok && place != "" {
			places[handle] = place
		}
	}
	return places
}

// dataText is a text of the device tree, which is data with a closing zero.
func dataText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []byte:
		for i, c := range v {
			if c == 0 {
				return string(v[:i])
			}
		}
		return string(v)
	}
	return ""
}
