package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/native"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
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

// OpenSimulation makes the world of a scenario for one of its Macs, written
// SCENARIO or SCENARIO:MAC; without a Mac it is the first. The scenario is the
// name of a shipped one, or a path that ends in .toml. The caller closes the
// world after the daemon has ended.
func OpenSimulation(text string) (*Simulation, error) {
	name, mac, err := splitSimulation(text)
	if err != nil {
		return nil, err
	}
	plan, err := scenario.Load(name)
	if err != nil {
		return nil, badValue("simulate", "%v", err)
	}
	clock, err := native.SystemClock()
	if err != nil {
		return nil, err
	}
	world, err := sim.New(plan, clock)
	if err != nil {
		return nil, badValue("simulate", "%v", err)
	}
	if mac == "" {
		mac = world.Macs()[0]
	}
	if !slices.Contains(world.Macs(), mac) {
		err := badValue("simulate", "the scenario %s has no Mac %q; it has %s", plan.Name, mac, strings.Join(world.Macs(), ", "))
		return nil, errors.Join(err, world.Close())
	}
	return &Simulation{World: world, Mac: mac, TimeLine: true}, nil
}

// splitSimulation takes SCENARIO or SCENARIO:MAC apart.
func splitSimulation(text string) (name, mac string, err error) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 || strings.ContainsRune(text[at:], '/') || strings.HasSuffix(text, ".toml") {
		return text, "", nil
	}
	if at == len(text)-1 {
		return "", "", badValue("simulate", "%q names no Mac after the colon", text)
	}
	return text[:at], text[at+1:], nil
}

// badValue refuses a field, with a message that says what to write.
func badValue(field, format string, args ...any) error {
	e := api.Errorf(api.ReasonBadValue, field, format, args...)
	e.Data.Remedy = ""
	return e
}

// platform is the Mac; what runs programs is this machine's, with units as the
// folder of what it supervises.
func (s *Simulation) platform(units string) (native.Platform, error) {
	mac, err := s.World.Platform(s.Mac)
	if err != nil {
		return native.Platform{}, err
	}
	host, err := systemPlatform(units)
	if err != nil {
		return native.Platform{}, errors.Join(err, mac.Close())
	}
	mac.Supervisor, mac.Processes = host.Supervisor, host.Processes
	mac.Sockets = withLoopback{mac.Sockets}
	mac.Closers = append(mac.Closers, host.Close)
	return mac, nil
}

// folder is where a simulated Mac keeps its state, below a real one's: its key
// is its own, and nothing simulated ever comes into the state of a real machine.
func (s *Simulation) folder(state string) (string, error) {
	below := filepath.Join("simulated", s.World.Name(), s.Mac)
	if !filepath.IsLocal(below) {
		return "", fmt.Errorf("the scenario's name %q makes no folder", s.World.Name())
	}
	return filepath.Join(state, below), nil
}

// scenario is the name of what is simulated; empty where nothing is.
func (d *daemon) scenario() string {
	if d.options.Simulation == nil {
		return ""
	}
	return d.options.Simulation.World.Name()
}

// family is the machine's family of systems; empty is this program's. What is
// simulated are Macs.
func (d *daemon) family() api.Platform {
	if d.options.Simulation != nil {
		return api.PlatformDarwin
	}
	return ""
}

// simulate changes the simulated cluster.
func (d *daemon) simulate(_ context.Context, c *server.Caller, p api.DaemonSimulateParams) (api.Empty, error) {
	if d.options.Simulation == nil {
		return api.Empty{}, api.NewError(api.ReasonNotSimulated, "")
	}
	op, err := scenario.ParseOp(p.Line)
	if err == nil {
		err = d.options.Simulation.World.Apply(op)
	}
	if err != nil {
		return api.Empty{}, badValue("line", "%v", err)
	}
	d.logs.part("daemon").Info("the simulated cluster was changed", "uid", c.UID, "change", op.String())
	return api.Empty{}, nil
}

// play lets the scenario's time line run until ctx ends.
func (d *daemon) play(ctx context.Context) {
	if d.options.Simulation == nil || !d.options.Simulation.TimeLine {
		return
	}
	if err := d.options.Simulation.World.Play(ctx); err != nil && ctx.Err() == nil {
		d.logs.part("daemon").Warn("the scenario's time line ended early", "error", err)
	}
}
