package scenario

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
)

// marked is the line of a shipped scenario that says what its Macs have beyond those whose
// owner has set nothing up.
var marked = regexp.MustCompile(`(?m)^# Beyond as-delivered: (.+)\.$`)

// TestWhatGoesBeyondAMacAsDelivered: what a scenario states kindlier than any Mac tells by
// itself stands in its marked line, all of it and no more, so that nobody takes a job
// that works there for one that works on a Mac.
func TestWhatGoesBeyondAMacAsDelivered(t *testing.T) {
	for _, name := range Shipped() {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s, err := Load(name)
			is.NoErr(err)
			text, err := shippedFiles.ReadFile("shipped/" + name + ".toml")
			is.NoErr(err)
			reported := []string{}
			if found := marked.FindSubmatch(text); found != nil {
				reported = strings.Split(string(found[1]), ", ")
			}
			is.Equal(reported, beyond(s))
		})
	}
}

// beyond lists what the Macs of a scenario have that none has as delivered.
func beyond(s Scenario) []string {
	found := map[string]bool{}
	for _, m := range s.Macs {
		named := func(name string) bool {
			return slices.ContainsFunc(m.Interfaces, func(i Interface) bool { return i.Name == name })
		}
		bridged := map[string]bool{}
		for _, b := range m.Bridges {
			for _, member := range b.Members {
				bridged[member] = true
			}
		}
		for what, is := range map[string]bool{
			"a working set":      m.GPUWorkingSetBytes != 0,
			"a job map":          m.Jobs != "nobody",
			"RDMA":               m.RDMA != native.RDMAOff,
			"an idle GPU":        m.GPUUseRatio == nil || *m.GPUUseRatio < 0.09, // the least that was recorded of an idle Mac
			"no awdl0 and llw0":  !named("awdl0") || !named("llw0"),
			"no utun":            !slices.ContainsFunc(m.Interfaces, func(i Interface) bool { return strings.HasPrefix(i.Name, "utun") }),
			"ports of no bridge": slices.ContainsFunc(m.Ports, func(p Port) bool { return p.Interface != "" && !bridged[p.Interface] }),
			"services of ports": slices.ContainsFunc(m.Interfaces, func(i Interface) bool {
				return i.Service != "" && slices.ContainsFunc(m.Ports, func(p Port) bool { return p.Interface == i.Name })
			}),
		} {
			if is {
				found[what] = true
			}
		}
	}
	if len(s.Measurements.GPUs)+len(s.Measurements.Links) > 0 {
		found["measurements"] = true
	}
	all := []string{}
	for what := range found {
		all = append(all, what)
	}
	slices.Sort(all)
	return all
}
