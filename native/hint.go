package native

// HintSafetyReread is the source of a hint that no event brought: a slow re-read
// found the change. Each says that an event is missing.
const HintSafetyReread = "safety.reread"

// Hint says that facts of an area may have changed. It carries no facts: read a
// snapshot of the area. Hints may be doubled, early or for nothing.
type Hint struct {
	Area Area `json:"area"`
	// Source is the system interface that spoke, as "system.event":
	// "iokit.matched", "rtnetlink.link", "sim.timeline", or
	// [HintSafetyReread].
	Source string `json:"source"`
	// Subject is what it spoke about, where it said: "en5", "receptacle 2".
	Subject string `json:"subject,omitzero"`
	// At is the wall-clock time of the callback, BootUS the same moment on
	// [Clock.Boot] in microseconds, from which delays are measured.
	At     Timestamp `json:"at"`
	BootUS int64     `json:"boot_us"`
}
