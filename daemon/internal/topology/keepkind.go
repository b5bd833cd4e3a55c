package topology

import "fulmen/daemon/api"

// KeptKind is the kind of one (peer, address), and when it was last confirmed.
type KeptKind struct {
	// Kind is unknown, or empty, where it was never known.
	Kind api.LinkKind
	// At is zero where the kind was never known.
	At api.Time
}

// KeepKind is the rule for whoever writes a reach document: what is known now
// replaces what was known; a source that falls silent changes nothing, so that
// screens do not flicker and the age says since when it is silent. The rule
// ends with the address: a new one begins with the zero KeptKind.
func KeepKind(previous KeptKind, current api.LinkKind, now api.Time) KeptKind {
	if current != api.LinkUnknown && current.Valid() {
		return KeptKind{Kind: current, At: now}
	}
	if previous.Kind == api.LinkUnknown || !previous.Kind.Valid() {
		return KeptKind{Kind: api.LinkUnknown}
	}
	return previous
}
