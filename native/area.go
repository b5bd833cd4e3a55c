package native

import (
	"fmt"
	"slices"
)

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
