package native

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Feature is something a platform may or may not be able to do.
type Feature string

// The features. "facts.<area>" and "hints.<area>" exist for every [Area]; make
// them with [FactsFeature] and [HintsFeature].
const (
	FeatureClock            Feature = "clock"
	FeatureDiscovery        Feature = "discovery"
	FeatureSupervisor       Feature = "supervisor"
	FeaturePowerNotices     Feature = "power_notices"
	FeatureKeepAwake        Feature = "keep_awake"
	FeatureNetworkService   Feature = "network_service"
	FeatureBridgeMembership Feature = "bridge_membership"
)

// featureWords are what people read in place of a feature's id.
var featureWords = strings.NewReplacer("facts.", "reading ", "hints.", "events of ", "_", " ")

func (f Feature) words() string { return featureWords.Replace(string(f)) }

// FactsFeature is the ability to read an area.
func FactsFeature(area Area) Feature { return Feature("facts." + string(area)) }

// HintsFeature is the ability to announce changes of an area. Without it the
// area moves only when it is read.
func HintsFeature(area Area) Feature { return Feature("hints." + string(area)) }

// AllFeatures returns every feature, sorted.
func AllFeatures() []Feature {
	all := []Feature{
		FeatureClock, FeatureDiscovery, FeatureSupervisor, FeaturePowerNotices, FeatureKeepAwake,
		FeatureNetworkService, FeatureBridgeMembership,
	}
	for _, area := range AllAreas() {
		all = append(all, FactsFeature(area), HintsFeature(area))
	}
	slices.Sort(all)
	return all
}

// Capability is a yes, or a no with its reason.
type Capability struct {
	Supported bool   `json:"supported"`
	Reason    Reason `json:"reason,omitzero"`
}

// Capabilities says for every feature whether this platform has it here and
// now. It was probed, not assumed from a version.
type Capabilities map[Feature]Capability

// Yes notes that features work.
func (c Capabilities) Yes(features ...Feature) {
	for _, f := range features {
		c[f] = Capability{Supported: true}
	}
}

// No notes that features do not work, and why.
func (c Capabilities) No(why Reason, features ...Feature) {
	for _, f := range features {
		c[f] = Capability{Reason: why}
	}
}

// Need returns nil when the feature works, else an error that matches
// [ErrUnsupported] with the reason.
func (c Capabilities) Need(feature Feature) error {
	capability := c[feature]
	if capability.Supported {
		return nil
	}
	return Unsupported(feature, capability.Reason)
}

// Check returns one line for each feature that is not answered, each no
// without a reason, each yes with one, and each feature nobody knows.
func (c Capabilities) Check() []string {
	var problems []string
	all := AllFeatures()
	for _, f := range all {
		capability, answered := c[f]
		switch {
		case !answered:
			problems = append(problems, fmt.Sprintf("%s: not answered", f))
		case capability.Supported && capability.Reason != "":
			problems = append(problems, fmt.Sprintf("%s: supported, but with a reason why not", f))
		case !capability.Supported && capability.Reason == "":
			problems = append(problems, fmt.Sprintf("%s: not supported, but without a reason", f))
		}
	}
	for _, f := range slices.Sorted(maps.Keys(c)) {
		if !slices.Contains(all, f) {
			problems = append(problems, fmt.Sprintf("%s: no such feature", f))
		}
	}
	return problems
}
