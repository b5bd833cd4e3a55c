package native

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Facts is how a platform tells what it knows.
type Facts interface {
	// Snapshot reads the given areas now and nothing else: reading memory must
	// not walk the Thunderbolt registry. It answers partly rather than not at
	// all; the error is for a platform that cannot be asked any more
	// ([ErrClosed], an ended context).
	Snapshot(ctx context.Context, areas ...Area) (Snapshot, error)

	// Watch arms every source of hints and returns once they are armed, so that
	// a snapshot taken after it misses nothing. The callback may come from any
	// thread, one at a time, and must return at once without calling back into
	// the platform. After stop has returned it is not called again. A platform
	// with no hints at all returns an error that matches [ErrUnsupported]; one
	// with some says in its capabilities which areas lack them.
	Watch(hint func(Hint)) (stop func() error, err error)

	// Capabilities answers every feature of [AllFeatures].
	Capabilities(ctx context.Context) (Capabilities, error)
}

// Comparer is implemented by facts that a second source of the same system can be held
// against. Comparing may start programs and take seconds: only a person asks for it.
type Comparer interface {
	// Compare tells each fact by both sources.
	Compare(ctx context.Context) []Comparison
}

// Comparison is one fact as two sources tell it.
type Comparison struct {
	// Fact names it for people: "receptacle 4, negotiated".
	Fact string
	// Sources are the two, such as the registry and system_profiler, and Told what each
	// says; empty where it does not say.
	Sources, Told [2]string
	// Same says that both mean the same, also where they use other words for it.
	Same bool
	// Why is why a source does not say; empty where that is not known.
	Why Reason
}

// Known reports whether both sources say something.
func (c Comparison) Known() bool { return c.Told[0] != "" && c.Told[1] != "" }

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

// UseTeller is implemented by facts that tell for how long nobody has used the machine's
// keyboard or pointer. No system announces that: it is read when somebody asks.
type UseTeller interface {
	// Unused is for how long nobody has, or the reason why that is not known.
	Unused(ctx context.Context) (time.Duration, Reason)
}

// Snapshot is what a machine says about itself at one moment. Only the areas
// that were asked for are filled; one that was asked for and could not be read
// at all is nil, with its reason in Unknown under the area's name.
type Snapshot struct {
	// At is when the reading began.
	At Timestamp `json:"at"`
	// Platform is the [Platform.Name] that read it.
	Platform string `json:"platform"`
	// Simulated is true when the machine is not a real one.
	Simulated bool `json:"simulated"`

	Identity    *Identity    `json:"identity,omitzero" native:"optional"`
	Memory      *Memory      `json:"memory,omitzero" native:"optional"`
	System      *System      `json:"system,omitzero" native:"optional"`
	Network     *Network     `json:"network,omitzero" native:"optional"`
	Thunderbolt *Thunderbolt `json:"thunderbolt,omitzero" native:"optional"`
	RDMA        *RDMA        `json:"rdma,omitzero" native:"optional"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// Has reports whether the area is filled.
func (s Snapshot) Has(area Area) bool {
	switch area {
	case AreaIdentity:
		return s.Identity != nil
	case AreaMemory:
		return s.Memory != nil
	case AreaSystem:
		return s.System != nil
	case AreaNetwork:
		return s.Network != nil
	case AreaThunderbolt:
		return s.Thunderbolt != nil
	case AreaRDMA:
		return s.RDMA != nil
	}
	return false
}

// Check returns one line for each area that was asked for and is neither filled
// nor explained, and for whatever [CheckUnknown] finds in the rest.
func (s Snapshot) Check(asked []Area) []string {
	problems := CheckUnknown(s)
	for _, area := range asked {
		if !s.Has(area) && s.Unknown[string(area)] == "" {
			problems = append(problems, string(area)+": asked for, absent without a reason")
		}
	}
	return problems
}

// Area is a group of facts that is read together and moves at one pace. The
// names are those of the documents that a daemon publishes from them.
type Area string

// The areas.
const (
	AreaIdentity    Area = "identity"
	AreaMemory      Area = "memory"
	AreaSystem      Area = "system"
	AreaNetwork     Area = "network"
	AreaThunderbolt Area = "thunderbolt"
	AreaRDMA        Area = "rdma"
)

// AllAreas returns every area, quickest to read first, so that a caller who
// reads them one by one can show a name and memory before the rest.
func AllAreas() []Area {
	return []Area{AreaIdentity, AreaMemory, AreaSystem, AreaNetwork, AreaThunderbolt, AreaRDMA}
}

// ParseArea returns the area of that name, or an error that lists the names.
func ParseArea(name string) (Area, error) {
	if a := Area(name); slices.Contains(AllAreas(), a) {
		return a, nil
	}
	return "", fmt.Errorf("unknown area %q (one of %v)", name, AllAreas())
}
