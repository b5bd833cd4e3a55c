package simulate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"fulmen/daemon/api"
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

// Simulation is the simulated Mac that a daemon runs on. Everything that the
// daemon says of it says that it is simulated; jobs run on the real machine below.
// Its measurements are those that the scenario records, but for one of the
// loopback interface of the machine below.
type Simulation struct {
	// World is the cluster that the Mac belongs to.
	World World
	// Mac is its name in the scenario.
	Mac string
	// Rehearse is the path of a program that takes the place of MLX's worker where
	// that would use RDMA; empty: tests over RDMA are made without one.
	Rehearse string
	// TimeLine says that this daemon lets the scenario's time line run, once it is
	// ready; of several daemons of one world, one does.
	TimeLine bool
}

// Open makes the world of a scenario for one of its Macs, written
// SCENARIO or SCENARIO:MAC; without a Mac it is the first. The scenario is the
// name of a shipped one, or a path that ends in .toml. The caller closes the
// world after the daemon has ended.
func Open(text string) (*Simulation, error) {
	name, mac, err := splitSimulation(text)
	if err != nil {
		return nil, err
	}
	plan, err := scenario.Load(name)
	if err != nil {
		return nil, api.BadValue("simulate", "%v", err)
	}
	clock, err := native.SystemClock()
	if err != nil {
		return nil, err
	}
	world, err := sim.New(plan, clock)
	if err != nil {
		return nil, api.BadValue("simulate", "%v", err)
	}
	if mac == "" {
		mac = world.Macs()[0]
	}
	if !slices.Contains(world.Macs(), mac) {
		err := api.BadValue("simulate", "the scenario %s has no Mac %q; it has %s", plan.Name, mac, strings.Join(world.Macs(), ", "))
		return nil, errors.Join(err, world.Close())
	}
	return &Simulation{World: world, Mac: mac, TimeLine: true}, nil
}

// Join takes a Mac, written SCENARIO:MAC, of the world that another process hosts at a
// Unix socket; that process plays the time line. SCENARIO is the one that the world was
// made of. The caller closes the world after the daemon has
// ended.
func Join(ctx context.Context, text, socket string) (*Simulation, error) {
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
		err = api.BadValue("simulate", "the world at %s is of the scenario %s, not %s", socket, world.Name(), name)
	case mac == "":
		err = api.BadValue("simulate", "which Mac of %s? Write %s:MAC; it has %s", name, name, strings.Join(world.Macs(), ", "))
	case !slices.Contains(world.Macs(), mac):
		err = api.BadValue("simulate", "the scenario %s has no Mac %q; it has %s", world.Name(), mac, strings.Join(world.Macs(), ", "))
	default:
		return &Simulation{World: world, Mac: mac}, nil
	}
	return nil, errors.Join(err, world.Close())
}

// splitSimulation takes SCENARIO or SCENARIO:MAC apart.
func splitSimulation(text string) (name, mac string, err error) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 || strings.ContainsRune(text[at:], '/') || strings.HasSuffix(text, ".toml") {
		return text, "", nil
	}
	if at == len(text)-1 {
		return "", "", api.BadValue("simulate", "%q names no Mac after the colon", text)
	}
	return text[:at], text[at+1:], nil
}

// Platform is the Mac; what runs programs is the machine's below, which host opens.
func (s *Simulation) Platform(host func() (native.Platform, error)) (native.Platform, error) {
	mac, err := s.World.Platform(s.Mac)
	if err != nil {
		return native.Platform{}, err
	}
	below, err := host()
	if err != nil {
		return native.Platform{}, errors.Join(err, mac.Close())
	}
	mac.Supervisor, mac.Processes, mac.Stacks = below.Supervisor, below.Processes, below.Stacks
	mac.Sockets = withLoopback{mac.Sockets}
	mac.Closers = append(mac.Closers, below.Close)
	return mac, nil
}

// Folder is where a simulated Mac keeps its state, below a real one's: its key
// is its own, and nothing simulated ever comes into the state of a real machine.
func (s *Simulation) Folder(state string) (string, error) {
	below := filepath.Join("simulated", s.World.Name(), s.Mac)
	if !filepath.IsLocal(below) {
		return "", fmt.Errorf("the scenario's name %q makes no folder", s.World.Name())
	}
	return filepath.Join(state, below), nil
}

// Change makes one change of the world, in the scenario's language, and gives it as it
// was understood.
func (s *Simulation) Change(line string) (change string, err error) {
	op, err := scenario.ParseOp(line)
	if err == nil {
		err = s.World.Apply(op)
	}
	if err != nil {
		return "", api.BadValue("line", "%v", err)
	}
	return op.String(), nil
}

// Play lets the scenario's time line run until ctx ends, where it is this one's task.
func (s *Simulation) Play(ctx context.Context, log *slog.Logger) {
	if s == nil || !s.TimeLine {
		return
	}
	if err := s.World.Play(ctx); err != nil && ctx.Err() == nil {
		log.Warn("the scenario's time line ended early", "error", err)
	}
}

// Scenario is the name of what is simulated; empty where nothing is.
func (s *Simulation) Scenario() string {
	if s == nil {
		return ""
	}
	return s.World.Name()
}
