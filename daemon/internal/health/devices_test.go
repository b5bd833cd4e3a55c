package health

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A device whose program was killed is suspect until somebody replugs its cable or
// another program has used it.
func TestADeviceWhoseProgramWasKilledIsSuspect(t *testing.T) {
	const rank = "rank 2 of job j00000000"
	for name, c := range map[string]struct {
		then    func(c *Cables)
		suspect bool
	}{
		"as it is":         {func(*Cables) {}, true},
		"another is used":  {func(c *Cables) { c.Used(3) }, true},
		"plugged as ever":  {func(c *Cables) { c.Plugged(plugged(2, 80)) }, true},
		"nobody can tell":  {func(c *Cables) { c.Plugged(api.Thunderbolt{PortNumber: 2}, nil) }, true},
		"unplugged":        {func(c *Cables) { c.Plugged(plugged(2, 0)) }, false},
		"used":             {func(c *Cables) { c.Used(2) }, false},
		"gone":             {func(c *Cables) { c.Removed(2) }, false},
		"unplugged before": {func(c *Cables) { c.Plugged(plugged(2, 0)); c.Killed(2, rank) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			cables, b, _ := cableRig(t)
			cables.Plugged(plugged(2, 80))
			cables.Killed(2, rank)
			cables.Killed(2, rank)
			is.True(cables.IsSuspect(2) && !cables.IsSuspect(3))
			is.True(strings.HasSuffix(b.docs["rdma_port_suspect/"+string(nodeA)+":2"].Text, ": port 2, "+rank+"."))
			c.then(cables)
			is.Equal(cables.IsSuspect(2), c.suspect)
			is.Equal(strings.Contains(strings.Join(b.names(), " "), "rdma_port_suspect/"+string(nodeA)+":2"), c.suspect)
		})
	}
}

// What may be stuck is kept whenever it changes, and only then.
func TestSuspectDevicesAreKept(t *testing.T) {
	is := is.New(t)
	cables, _, _ := cableRig(t)
	var kept []map[api.PortNumber]string
	keep := func(now Suspects) error {
		is.Equal(now.BootID, "boot")
		kept = append(kept, now.Programs)
		return nil
	}
	before := Suspects{BootID: "boot", Programs: map[api.PortNumber]string{1: "rank 0 of job j00000000"}}
	cables.TakeSuspects(before, "another", func(Suspects) error { return nil })
	is.True(!cables.IsSuspect(1)) // a new start mended it
	cables.TakeSuspects(before, "boot", keep)
	is.True(cables.IsSuspect(1))
	cables.Killed(1, "rank 0 of job j00000000")
	cables.Used(3)
	is.Equal(len(kept), 0)
	cables.Killed(2, "rank 1 of job j00000000")
	cables.Plugged(plugged(1, 0))
	cables.Plugged(plugged(1, 0))
	cables.Used(2)
	is.Equal(kept, []map[api.PortNumber]string{
		{1: "rank 0 of job j00000000", 2: "rank 1 of job j00000000"}, {2: "rank 1 of job j00000000"}, {},
	})
}
