package rank

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
)

const (
	// portRest is how long a port is not handed out again: a rank that was given
	// one has bound it by then, or never will.
	portRest = 2 * time.Minute
	// portTries bounds how often a free port is looked for.
	portTries = 64
	// maxAddresses bounds what one rank can listen at.
	maxAddresses = 64
)

// ports are those that were handed out, until when, on Boot.
type ports map[netip.AddrPort]time.Duration

// listen finds a free port at each of this node's addresses for a rank that is
// to be started. MLX binds it itself, so it can only be found and let go.
func (r *Ranks) listen(ctx context.Context, home gate.Home, p api.PeerListenParams) (any, error) {
	if err := checkCall(p.Rank.Job, p.Rank.Attempt, p.Epoch); err != nil {
		return nil, err
	}
	if len(p.Addresses) == 0 || len(p.Addresses) > maxAddresses {
		return nil, api.Errorf(api.ReasonBadValue, "addresses", "Ports were asked for at %d addresses; 1 to %d are allowed.", len(p.Addresses), maxAddresses)
	}
	r.mu.Lock()
	err := r.admitLocked(p.Rank.Job, home)
	r.mu.Unlock()
	if err != nil {
		return nil, err
	}
	result := api.PeerListenResult{Addresses: make([]netip.AddrPort, len(p.Addresses))}
	open := make([]int, len(p.Addresses)) // the places that have no port yet
	for i := range open {
		open[i] = i
	}
	for range portTries {
		wanted := make([]netip.Addr, len(open))
		for i, place := range open {
			wanted[i] = p.Addresses[place]
		}
		found, err := r.cfg.Listen(ctx, wanted)
		if err != nil {
			return nil, err
		}
		if len(found) != len(wanted) {
			return nil, fmt.Errorf("asked for ports at %d addresses, and got %d", len(wanted), len(found))
		}
		open = r.take(found, open, result.Addresses)
		if len(open) == 0 {
			return result, nil
		}
	}
	return nil, api.Errorf(api.ReasonPortTaken, p.Addresses[open[0]].String(), "No port is free at %s that was not given to another rank.", p.Addresses[open[0]])
}

// take hands out the ports that rest from no earlier use, and returns the places
// that are still without.
func (r *Ranks) take(found []netip.AddrPort, places []int, out []netip.AddrPort) (open []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.cfg.Clock.Boot()
	for a, until := range r.ports {
		if until <= now {
			delete(r.ports, a)
		}
	}
	for i, place := range places {
		if _, rests := r.ports[found[i]]; rests {
			open = append(open, place)
			continue
		}
		r.ports[found[i]] = now + portRest
		out[place] = found[i]
	}
	return open
}

// FreePorts binds a port at each address, all at once so that they differ, and lets
// them go.
func FreePorts(ctx context.Context, addresses []netip.Addr) ([]netip.AddrPort, error) {
	found := make([]netip.AddrPort, len(addresses))
	var config net.ListenConfig
	config.SetMultipathTCP(false) // MLX binds plain TCP, and that is half the work
	for i, a := range addresses {
		l, err := config.Listen(ctx, "tcp", netip.AddrPortFrom(a, 0).String())
		if err != nil {
			return nil, api.Errorf(api.ReasonPortTaken, a.String(), "Nothing can listen at %s%s.", a, native.ErrnoSuffix(err))
		}
		defer l.Close()
		found[i] = netip.AddrPortFrom(a, l.Addr().(*net.TCPAddr).AddrPort().Port())
	}
	return found, nil
}

// FreeLoopbackPorts finds ports for ranks of a simulated Mac, whose addresses no program
// can bind: on loopback.
func FreeLoopbackPorts(ctx context.Context, wanted []netip.Addr) ([]netip.AddrPort, error) {
	loopback := make([]netip.Addr, len(wanted))
	for i := range loopback {
		loopback[i] = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return FreePorts(ctx, loopback)
}
