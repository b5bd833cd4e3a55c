package scenario

import (
	"time"

	"fulmen/native"
)

// Event is a change at a time of the time line.
type Event struct {
	After time.Duration // since the simulation began
	Op    Op
}

// Verb is what a change does.
type Verb string

// The verbs. Each line of a time line, of a live change and of a conformance
// script is one of them with its words:
//
//	plug A.tb2 B.tb1 [80G | 120/40G]
//	unplug A.tb2
//	retrain A.tb2 40G
//	sleep A | wake A | restart A
//	set A.KEY VALUE
//
// A KEY is one of: rdma (off, on, on_after_restart), memory.used (a size),
// memory.pressure, thermal, power (ac, battery, ups), battery (0 to 1),
// gpu_use (0 to 1), watts, celsius,
// low_power (yes, no), lid (open, closed), name (text), os (VERSION/BUILD),
// INTERFACE.link (up, down), INTERFACE.address (PREFIX [ORIGIN], or none),
// INTERFACE.bridge (a bridge's name, or none), INTERFACE.present (yes, no),
// AREA.told (yes, no: a source that falls silent). A network takes NETWORK.link
// and NETWORK.isolated (yes, no).
const (
	VerbPlug    Verb = "plug"
	VerbUnplug  Verb = "unplug"
	VerbRetrain Verb = "retrain"
	VerbSleep   Verb = "sleep"
	VerbWake    Verb = "wake"
	VerbRestart Verb = "restart"
	VerbSet     Verb = "set"
)

// Op is one change, parsed and, by itself, sane; whether the cluster has what it
// names is known when it is applied.
type Op struct {
	Verb Verb
	// Ends are the receptacles: two of plug, one of unplug and retrain.
	Ends []End
	// Speed is that of plug and retrain; zero: the best that both ends can.
	Speed native.LinkSpeed
	// Owner is the Mac or network of the other verbs.
	Owner string
	// Key and Value are those of set, the value as it was written.
	Key, Value string
}
