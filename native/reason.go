package native

import (
	"maps"
	"strings"
)

// Reason says why something is absent or impossible: a stable snake_case key,
// and, after ": ", an optional detail for people. Programs compare [Reason.Key]
// only.
type Reason string

// Reasons that every platform shares. The keys are those of the API's table of
// reasons, where each has its text for people; a platform invents none of its
// own but explains in the detail.
const (
	// ReasonNoHardware: this machine has nothing of the kind.
	ReasonNoHardware Reason = "not_supported_by_hardware"
	// ReasonNoOS: this version of the system does not tell or cannot do it.
	ReasonNoOS Reason = "not_supported_by_os"
	// ReasonNoPlatform: Fulmen has no way to know or do it on this platform.
	ReasonNoPlatform Reason = "not_supported_by_platform"
	// ReasonNeedsRoot: only a daemon that runs as root can know or do it.
	ReasonNeedsRoot Reason = "needs_root"
	// ReasonPermission: the system refused; a person's consent may be needed.
	ReasonPermission Reason = "permission_denied"
	// ReasonNotYetRead: it has not been read yet; a rate needs two readings.
	ReasonNotYetRead Reason = "not_yet_read"
	// ReasonReadFailed: the system call failed; the detail names it and its error.
	ReasonReadFailed Reason = "read_failed"
	// ReasonSourceGone: the item went away while it was being read.
	ReasonSourceGone Reason = "source_gone"
	// ReasonSourceMalformed: a value was there and made no sense; the detail quotes it.
	ReasonSourceMalformed Reason = "source_malformed"
	// ReasonSourcesDisagree: two sources of the system contradict each other.
	ReasonSourcesDisagree Reason = "sources_disagree"
	// ReasonNotInScenario: the simulated scenario does not say.
	ReasonNotInScenario Reason = "not_in_scenario"
	// ReasonNotConnected: nothing is connected.
	ReasonNotConnected Reason = "not_connected"
)

// With returns the reason with a detail for people. An empty detail changes nothing.
func (r Reason) With(detail string) Reason {
	if detail == "" {
		return r
	}
	return Reason(r.Key() + ": " + detail)
}

// Key returns the stable part, without the detail.
func (r Reason) Key() string {
	key, _, _ := strings.Cut(string(r), ": ")
	return key
}

// Detail returns what follows the key, or "".
func (r Reason) Detail() string {
	_, detail, _ := strings.Cut(string(r), ": ")
	return detail
}

// Reasons maps the JSON name of an absent field to why it is absent. A struct
// of facts has one in a field named Unknown.
type Reasons map[string]Reason

// Add notes why a field is absent, making the map when it is nil.
func (r *Reasons) Add(field string, why Reason) {
	if *r == nil {
		*r = Reasons{}
	}
	(*r)[field] = why
}

// Clone returns an independent copy; nil stays nil.
func (r Reasons) Clone() Reasons { return maps.Clone(r) }
