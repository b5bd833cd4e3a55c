package live

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"fulmen/app"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// longest is where the pauses between attempts to follow stop to double.
const longest = 5 * time.Second

// errFound ends the search for a daemon.
var errFound = errors.New("found")

// again repeats a stream until ctx ends, with growing pauses while it fails.
func (f *Follower) again(ctx context.Context, once func(context.Context) error) {
	wait := f.opts.Pace
	for {
		began := time.Now()
		err := once(ctx)
		if ctx.Err() != nil || err == errFound {
			return
		}
		f.interrupted(err)
		if time.Since(began) > longest || errors.Is(err, api.ReasonLagged) {
			wait = f.opts.Pace
		}
		if !pause(ctx, wait) {
			return
		}
		wait = min(2*wait, longest)
	}
}

// interrupted notes that the daemon is gone, or that it was stopped.
func (f *Follower) interrupted(err error) {
	if err == nil || errors.Is(err, api.ReasonLagged) {
		return
	}
	f.change(func(s *app.State) {
		switch {
		case errors.Is(err, api.ReasonStopped):
			s.Daemon = app.DaemonStopped
		case errors.Is(err, api.ReasonStarting):
			s.Daemon = app.DaemonStarting
		case api.AsError(err).Code == api.CodeUnreachable || errors.Is(err, api.ReasonNoDaemon):
			s.Daemon = app.DaemonGone
		}
	})
}

// followNodes keeps the Macs and the totals.
func (f *Follower) followNodes(ctx context.Context) {
	f.again(ctx, func(ctx context.Context) error {
		first, changes, err := client.Stream[api.NodeWatchResult, api.NodeChanged](ctx, f.client, "node.watch", api.Empty{})
		if err != nil {
			return err
		}
		info, err := client.Call[api.DaemonInfoResult](ctx, f.client, "daemon.info", nil)
		if err != nil {
			return err
		}
		f.change(func(s *app.State) {
			s.Daemon, s.DaemonVersion, s.Simulated, s.Totals = app.DaemonRunning, info.Version, info.Scenario != "", first.Totals
			f.nodes = map[api.NodeID]api.NodeView{}
			for _, n := range first.Nodes {
				f.nodes[n.Node] = n
			}
		})
		f.attention.Wake() // which node is this one may be news
		f.Refresh()
		for c, err := range changes {
			switch {
			case err != nil:
				return err
			case c.Lagged:
				return api.NewError(api.ReasonLagged, "")
			}
			f.change(func(s *app.State) {
				for _, n := range c.Put {
					f.nodes[n.Node] = n
				}
				for _, n := range c.Del {
					delete(f.nodes, n)
				}
				if c.Totals != nil {
					s.Totals = *c.Totals
				}
			})
			f.conditions.Wake() // some are derived from who is reached
		}
		return nil
	})
}

// followCables keeps the cables.
func (f *Follower) followCables(ctx context.Context) {
	f.again(ctx, func(ctx context.Context) error {
		first, changes, err := client.Stream[api.LinkWatchResult, api.LinkChanged](ctx, f.client, "link.watch", api.Empty{})
		if err != nil {
			return err
		}
		known := cableSet{}
		known.put(first.Cables)
		f.change(func(s *app.State) { s.Cables = known.all() })
		for c, err := range changes {
			switch {
			case err != nil:
				return err
			case c.Lagged:
				return api.NewError(api.ReasonLagged, "")
			}
			known.gone(c.GoneCables)
			known.put(c.Cables)
			f.change(func(s *app.State) { s.Cables = known.all() })
			f.cables.Wake()
			f.conditions.Wake()
		}
		return nil
	})
}

// cableSet are cables by what tells them apart.
type cableSet map[string]api.Cable

func cableKey(c api.Cable) string {
	switch {
	case c.Link.Valid():
		return c.Link.String()
	case len(c.Ends) > 0:
		return c.Ends[0].End.String() + "?" + c.PeerName
	}
	return ""
}

func (s cableSet) put(cables []api.Cable) {
	for _, c := range cables {
		s[cableKey(c)] = c
	}
}

func (s cableSet) gone(ends []api.LinkEnd) {
	maps.DeleteFunc(s, func(_ string, c api.Cable) bool {
		return len(c.Ends) > 0 && slices.Contains(ends, c.Ends[0].End)
	})
}

func (s cableSet) all() []api.Cable {
	all := make([]api.Cable, 0, len(s))
	for _, key := range slices.Sorted(maps.Keys(s)) {
		all = append(all, s[key])
	}
	return all
}
