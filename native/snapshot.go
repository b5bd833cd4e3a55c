package native

import (
	"fmt"
	"slices"
)

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
