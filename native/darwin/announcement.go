package darwin

import (
	"strings"

	"fulmen/native"
)

// Who speaks, as watch.h numbers them; thermal pressure is heard by Go.
const (
	fromWatch = iota
	fromIOKit
	fromStore
	fromPreferences
	fromPower
	fromPowerSource
	fromPressure
	fromThermal
)

// sourceNames are the first halves of a hint's source.
var sourceNames = map[int]string{
	fromWatch: "watch", fromIOKit: "iokit", fromStore: "configd", fromPreferences: "preferences",
	fromPower: "power", fromPowerSource: "power_source", fromPressure: "pressure", fromThermal: "thermal",
}

// busyStateChange is the message by which a service says that it is being set up:
// what comes of it is announced by itself.
const busyStateChange = 0xE0000120

// announcement is one callback of the system.
type announcement struct {
	source int
	// event is what happened, subject what it happened to: a class of the
	// registry, a key of the dynamic store.
	event, subject string
	// id is a registry id, or the number of a power notice; detail a message.
	id, detail int64
}

// Source is the name of a hint that comes of it.
func (a announcement) Source() string { return sourceNames[a.source] + "." + a.event }

// areas are those whose facts it may have changed. RDMA follows from cables, from
// interfaces and from their addresses.
func (a announcement) areas() []native.Area {
	switch a.source {
	case fromIOKit:
		return a.iokitAreas()
	case fromStore:
		switch {
		case a.subject == "Setup:/System" || a.subject == "Setup:/Network/HostNames":
			return []native.Area{native.AreaIdentity}
		case strings.HasPrefix(a.subject, "State:/Network/Interface"):
			return []native.Area{native.AreaNetwork, native.AreaRDMA}
		}
		return []native.Area{native.AreaNetwork}
	case fromPreferences:
		return []native.Area{native.AreaNetwork}
	case fromPower:
		if a.event == string(native.PowerAwake) {
			return []native.Area{native.AreaNetwork, native.AreaThunderbolt, native.AreaRDMA, native.AreaSystem}
		}
	case fromPowerSource, fromThermal:
		return []native.Area{native.AreaSystem}
	case fromPressure:
		return []native.Area{native.AreaMemory}
	}
	return nil
}

func (a announcement) iokitAreas() []native.Area {
	switch {
	case a.event == "interest" && uint32(a.detail) == busyStateChange:
		return nil
	case a.subject == kindIPPort || a.subject == kindInterface:
		return []native.Area{native.AreaThunderbolt, native.AreaNetwork, native.AreaRDMA}
	case a.subject == kindRDMA || a.subject == "IODTNVRAM":
		return []native.Area{native.AreaRDMA}
	}
	return []native.Area{native.AreaThunderbolt, native.AreaRDMA}
}
