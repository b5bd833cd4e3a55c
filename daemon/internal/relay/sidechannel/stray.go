package sidechannel

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
	"fulmen/native"
)

// strayError is a connection to rank 0 that is no rank's. From is not valid where it was
// not seen: rank 0 takes no connection though one is due.
type strayError struct{ from netip.AddrPort }

func (e *strayError) Error() string { return "something else has connected to rank 0" }

// stray ends rank 0 for one. Nobody but rank 0 could send it away.
func (r *root) stray(from netip.AddrPort) {
	r.fail(api.Errorf(api.ReasonStrayConnection, r.ch.Rank.String(), "%s connected to rank 0, and is not a rank of the job.", r.c.nameOf(from, coordinatorAt(r.port))))
}

// seesStray looks for one, where rank 0 listens and no connection is just being made.
func (r *root) seesStray(l native.Listening) (from netip.AddrPort, found bool) {
	if !l.Group || !r.dialling.TryLock() {
		return from, false
	}
	defer r.dialling.Unlock()
	return r.findStrayLocked()
}

// findStrayLocked finds a connection to rank 0's listener that is of none of the ranks.
// The caller holds dialling.
func (r *root) findStrayLocked() (from netip.AddrPort, found bool) {
	r.searchedAt = r.c.cfg.Clock.Boot()
	all, err := r.c.cfg.Machine.Callers(coordinatorAt(r.port))
	if err != nil {
		r.c.cfg.Log.Warn("who has connected to rank 0 cannot be found out", "rank", r.ch.Rank.String(), "err", err)
	}
	i := slices.IndexFunc(all, func(a netip.AddrPort) bool { return !r.dialled[a] })
	if i < 0 {
		return from, false
	}
	return all[i], true
}

// dial makes a connection to rank 0's program, unless somebody else has: with as many as
// there are other ranks it reads the number of a rank from each, and crashes where one
// says none.
func (r *root) dial(ctx context.Context) (net.Conn, error) {
	r.dialling.Lock()
	defer r.dialling.Unlock()
	if r.c.cfg.Clock.Boot()-r.searchedAt >= lookAgain {
		if from, found := r.findStrayLocked(); found {
			return nil, &strayError{from}
		}
	}
	conn, err := r.c.cfg.Machine.Dial(ctx, r.port)
	if err == nil {
		if near, isTCP := conn.LocalAddr().(*net.TCPAddr); isTCP {
			r.dialled[near.AddrPort()] = true
		}
	}
	return conn, err
}

// nameOf is who has made a connection, as the beginning of a sentence.
func (c *Channels) nameOf(from, to netip.AddrPort) string {
	process, program, err := c.cfg.Machine.Program(from, to)
	uid, unknown := c.cfg.Machine.Owner(from, to)
	switch {
	case err == nil && unknown == nil:
		return fmt.Sprintf("%s (process %d of %s)", program, process, c.cfg.Account(uid))
	case err == nil:
		return fmt.Sprintf("%s (process %d)", program, process)
	case unknown == nil:
		return "A program of " + c.cfg.Account(uid)
	}
	return "Something"
}
