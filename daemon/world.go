package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"fulmen/native"
	"fulmen/native/sim"
	"fulmen/native/sim/remote"
	"fulmen/native/sim/scenario"
)

// World is a simulated cluster: one of this process, or one that another process
// hosts for several.
type World interface {
	// Name is that of the scenario.
	Name() string
	// Platform is one of its Macs.
	Platform(mac string) (native.Platform, error)
	// Apply makes one change.
	Apply(op scenario.Op) error
	// Play lets the scenario's time line run until ctx ends.
	Play(ctx context.Context) error
	// Recorded is what its scenario records of one of its Macs.
	Recorded(mac string) (sim.Recorded, error)
	// Close leaves it; one of this process ends.
	Close() error
}

var (
	_ World = (*sim.World)(nil)
	_ World = (*remote.World)(nil)
)

// JoinSimulation takes a Mac, written SCENARIO:MAC, of the world that another
// process hosts at a Unix socket, with whom the time line is. SCENARIO is what
// that world was made of. The caller closes the world after the daemon has
// ended.
func JoinSimulation(ctx context.Context, text, socket string) (*Simulation, error) {
	name, mac, err := splitSimulation(text)
	if err != nil {
		return nil, err
	}
	world, err := remote.Dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.TrimSuffix(filepath.Base(name), ".toml") != world.Name():
		err = badValue("simulate", "the world at %s is of the scenario %s, not %s", socket, world.Name(), name)
	case mac == "":
		err = badValue("simulate", "which Mac of %s? Write %s:MAC; it has %s", name, name, strings.Join(world.Macs(), ", "))
	case !slices.Contains(world.Macs(), mac):
		err = badValue("simulate", "the scenario %s has no Mac %q; it has %s", world.Name(), mac, strings.Join(world.Macs(), ", "))
	default:
		return &Simulation{World: world, Mac: mac}, nil
	}
	return nil, errors.Join(err, world.Close())
}
