package nativetest

import (
	"fmt"
	"slices"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// Stage is a cluster on which a script is played: the machines of its cluster,
// as a backend builds them, and the hand that moves cables and settings.
type Stage interface {
	// Platform is the machine of that name. The stage owns it and closes it
	// when the test ends; the script may ask for it more than once.
	Platform(mac string) (native.Platform, error)

	// Do makes one change and returns once it is made. What follows from it may
	// come later, and is announced by hints.
	Do(op scenario.Op) error
}

// Need is something that a script asks of a backend.
type Need string

// The needs. A script names those of its changes and of its facts; a backend
// says which it cannot meet.
const (
	// NeedNetwork is interfaces whose link, addresses and presence change.
	NeedNetwork Need = "network"
	// NeedBridge is a software bridge that interfaces join and leave.
	NeedBridge Need = "bridge"
	// NeedThunderbolt is cables between receptacles.
	NeedThunderbolt Need = "thunderbolt"
	// NeedHub is hubs between receptacles.
	NeedHub Need = "hub"
	// NeedRDMA is a device of RDMA for each receptacle's interface.
	NeedRDMA Need = "rdma"
	// NeedRDMASwitch is a switch by which RDMA is off and on, as its peers see.
	NeedRDMASwitch Need = "rdma_switch"
	// NeedCableNetwork is interfaces whose link follows their cable.
	NeedCableNetwork Need = "cable_network"
	// NeedPressure is memory pressure at will.
	NeedPressure Need = "pressure"
	// NeedPower is sleep, wake and the notices of them, heat and the power source.
	NeedPower Need = "power"
	// NeedName is a machine that can be renamed.
	NeedName Need = "name"
	// NeedSilence is sources that can be made to fall silent.
	NeedSilence Need = "silence"
)

// AllNeeds returns every need.
func AllNeeds() []Need {
	return []Need{
		NeedNetwork, NeedBridge, NeedThunderbolt, NeedHub, NeedRDMA, NeedRDMASwitch, NeedCableNetwork,
		NeedPressure, NeedPower, NeedName, NeedSilence,
	}
}

// ParseNeed returns the need of that name, or an error that lists the names.
func ParseNeed(name string) (Need, error) {
	if n := Need(name); slices.Contains(AllNeeds(), n) {
		return n, nil
	}
	return "", fmt.Errorf("unknown need %.40q (one of %v)", name, AllNeeds())
}

// Unmet returns the needs of wanted that are not among met, in their order.
func Unmet(wanted []Need, met ...Need) []Need {
	return slices.DeleteFunc(slices.Clone(wanted), func(n Need) bool { return slices.Contains(met, n) })
}
