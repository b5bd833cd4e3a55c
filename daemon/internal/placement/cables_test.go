package placement

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A mesh uses as many cables of each pair as the pair with the fewest has, and says of
// each other one why it is not used.
func TestCablesOfAMesh(t *testing.T) {
	three := func() *scenario { return newScenario(3).meshed(evenly(80)).meshed(evenly(80)) }
	for _, c := range []struct {
		name   string
		change func(*scenario)
		cables int
		unused []string
	}{
		{"two each", func(*scenario) {}, 2, nil},
		{"three of one pair", func(d *scenario) { d.plug(0, 1, 80) }, 2,
			[]string{"mac-0:5 - mac-1:5 is not used: each pair uses as many as mac-0 and mac-2 have, which is 2"}},
		{"one of one pair", func(d *scenario) { d.wires = slices.Delete(d.wires, 5, 6) }, 1, []string{
			"mac-0:3 - mac-1:3 is not used: each pair uses as many as mac-1 and mac-2 have, which is 1",
			"mac-0:4 - mac-2:3 is not used: each pair uses as many as mac-1 and mac-2 have, which is 1"}},
		{"one is too slow", func(d *scenario) { d.wires[5].gigabits = 40 }, 1, []string{
			"mac-0:3 - mac-1:3 is not used: each pair uses as many as mac-1 and mac-2 have, which is 1",
			"mac-0:4 - mac-2:3 is not used: each pair uses as many as mac-1 and mac-2 have, which is 1",
			"mac-1:4 - mac-2:4 is not used: port 4 runs at 40 Gb/s, and RDMA needs more than 40"}},
		{"one is not ready", func(d *scenario) { d.wires[5].ready = false }, 1, []string{
			"mac-0:3 - mac-1:3 is not used: each pair uses as many as mac-1 and mac-2 have, which is 1",
			"mac-0:4 - mac-2:3 is not used: each pair uses as many as mac-1 and mac-2 have, which is 1",
			"mac-1:4 - mac-2:4 is not used: RDMA is not ready over it"}},
		{"an MLX of before", func(d *scenario) {
			for i := range d.nodes {
				d.nodes[i].MLX.Version = "0.32.3"
			}
		}, 1, slices.Repeat([]string{"MLX on mac-0 is 0.32.3, which uses one cable of a pair before 0.32.4"}, 3)},
		{"the second is slow where it was measured", func(d *scenario) { d.wires[5].rdma = 3 }, 1,
			slices.Repeat([]string{"with as many cables for each pair the job would be slower, or an RDMA device too small"}, 3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			d := three()
			c.change(d)
			r := Plan(d.input(api.Placement{Backend: api.BackendJACCL, Ranks: 3}, nil))
			is.True(r.Plan != nil)
			is.Equal(r.Plan.Cables(), c.cables)
			var got []string
			for _, n := range r.Plan.Notes {
				if n.Reason == api.ReasonCableNotUsed {
					got = append(got, n.Message)
				}
			}
			is.Equal(len(got), len(c.unused))
			for i := range got {
				is.True(strings.HasSuffix(got[i], c.unused[i]))
			}
		})
	}
}

// Of several cables those that were measured are used first, and one with a warning last,
// whatever they negotiated.
func TestWhichCables(t *testing.T) {
	is := is.New(t)
	d := newScenario(2).plug(0, 1, 120).plug(0, 1, 80).plug(0, 1, 80)
	d.wires[2].rdma = 70
	ports := func() []api.PortNumber {
		in := d.input(api.Placement{Ranks: 2}, nil)
		s, _ := newState(&in, demand{least: 2})
		var all []api.PortNumber
		for _, c := range s.cables[pair{0, 1}] {
			all = append(all, c.portNumbers[0])
		}
		return all
	}
	is.Equal(ports(), []api.PortNumber{3, 1, 2})
	d.wires[1].rdma = 71
	is.Equal(ports(), []api.PortNumber{2, 3, 1})
}
