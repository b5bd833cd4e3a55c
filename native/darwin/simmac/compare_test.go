//go:build cgo && linux && darwinsim

package simmac_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/darwin/simmac"
)

// TestSecondSources: on a Mac as it is both sources of every fact agree; where one of them
// tells otherwise, or falls silent, that fact alone differs or is unknown.
func TestSecondSources(t *testing.T) {
	is := is.New(t)
	clean(t)
	d := newMachines(t, pair(t))
	do(t, d, "plug A.tb2 B.tb1 80G")
	source := sourceOf(t, d)
	right := *variantFacts(t, source, variant{change: func(*simmac.Node) {}}, []native.Area{native.AreaThunderbolt}).Thunderbolt
	verbs := func() []any { return simmac.Verbs(*source.RDMA) }
	for _, c := range []struct {
		name            string
		variant         variant
		profiler        func(*native.Thunderbolt)
		err             error
		differ, unknown []string
	}{
		{name: "as it is"},
		{name: "another domain", profiler: func(p *native.Thunderbolt) { p.Ports[1].DomainUUID = "0000AAAA-0000-4000-8000-000000000000" }, differ: []string{"port 2, domain_uuid"}},
		{name: "a peer that is gone", profiler: func(p *native.Thunderbolt) { p.Ports[1].Peers = []native.Peer{} }, differ: []string{"port 2, peers"}},
		{name: "half the speed", profiler: func(p *native.Thunderbolt) {
			link := *p.Ports[1].Negotiated
			link.TxBitsPerS, link.RxBitsPerS = 40e9, 40e9
			p.Ports[1].Negotiated = &link
		}, differ: []string{"port 2, negotiated"}},
		{name: "no system_profiler", err: context.DeadlineExceeded, unknown: []string{"ports"}},
		{name: "an offer that the driver does not find", variant: variant{change: func(a *simmac.Node) { rename(a, "AppleThunderboltRDMAPeerInterface") }}, differ: []string{"port 2, computers that offer RDMA"}},
		{name: "a device that the library lacks", variant: variant{verbs: verbs()[1:]}, differ: []string{"RDMA devices"}, unknown: []string{"rdma_en2, state of its port"}},
		{name: "a port that is down for the library", variant: variant{verbs: down(verbs(), "rdma_en3")}, differ: []string{"rdma_en3, state of its port"}},
		{name: "no library", variant: variant{verbs: "missing"}, unknown: []string{"RDMA devices"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			if c.variant.change == nil {
				c.variant.change = func(*simmac.Node) {}
			}
			p, _, _ := variantOf(t, source, c.variant, func(context.Context) (native.Thunderbolt, error) {
				reported := right
				reported.Ports = slices.Clone(right.Ports)
				if c.profiler != nil {
					c.profiler(&reported)
				}
				return reported, c.err
			})
			var differ, unknown, same []string
			for _, row := range p.Facts.(native.Comparer).Compare(t.Context()) {
				switch {
				case strings.HasSuffix(row.Fact, ", link"): // a variant has no SystemConfiguration
				case !row.Known():
					is.True(row.Why != "")
					unknown = append(unknown, row.Fact)
				case row.Same:
					same = append(same, row.Fact)
				default:
					differ = append(differ, row.Fact)
				}
			}
			is.Equal(differ, c.differ)
			is.Equal(unknown, c.unknown)
			is.True(len(same) > 5)
		})
	}
}

// down has a device of the library say that its port is.
func down(all []any, name string) []any {
	for _, one := range all {
		if device := one.(map[string]any); device["name"] == name {
			device["state"] = 1
		}
	}
	return all
}

// On a whole Mac the kernel and SystemConfiguration tell the same of its network, and the
// stored members of a bridge are those that it has.
func TestSecondSourcesOfTheNetwork(t *testing.T) {
	is := is.New(t)
	clean(t)
	d := plugged(t)
	facts := map[string]native.Comparison{}
	for _, row := range d.platforms["A"].Facts.(native.Comparer).Compare(t.Context()) {
		facts[row.Fact] = row
	}
	for fact, reported := range map[string]string{"en0, IPv4 addresses": "192.168.1.11", "en3, link": "up", "en2, link": "down", "bridge0, members": "en2 en3"} {
		is.Equal(facts[fact].Reported, [2]string{reported, reported})
		is.True(facts[fact].Same)
	}
}
