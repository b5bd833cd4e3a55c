package live

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"fulmen/app"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/native/waker"
)

// Options say how to follow.
type Options struct {
	// Dial finds the daemon. It is called until it succeeds; after that the client
	// connects again by itself.
	Dial func(ctx context.Context) (*client.Client, error)
	// Version is the app's own version.
	Version string
	// Changed is told that State gives something new, from any goroutine and as often as
	// it does. It returns at once and does not call the follower.
	Changed func()
}

// pace is the shortest time between two questions of one kind, and the first between attempts.
const pace = 500 * time.Millisecond

// Follower follows one daemon.
type Follower struct {
	opts Options
	// Each wakes a part that is to be asked for again.
	jobs, conditions, cables waker.Waker
	// attention is woken when who watches what changed.
	attention waker.Waker

	mu      sync.Mutex
	client  *client.Client
	state   app.State
	view    client.View
	live    client.View // memory and system, while they are watched
	nodes   map[api.NodeID]api.NodeView
	looking bool
	title   app.TitleChoice
}

// New makes a follower, which follows nothing before Run.
func New(o Options) *Follower {
	return &Follower{opts: o, jobs: waker.New(), conditions: waker.New(), cables: waker.New(), attention: waker.New(),
		nodes: map[api.NodeID]api.NodeView{}, state: app.State{Version: o.Version}}
}

// State is what is known now. The caller fills in what the daemon does not know:
// setup and preferences.
func (f *Follower) State(now time.Time) app.State {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.state
	s.Now = now
	if s.Code != nil && !s.Code.ExpiresAt.IsZero() && now.After(s.Code.ExpiresAt.Time) {
		s.Code = nil
	}
	s.Nodes = f.macs()
	s.Pending, s.Sharing, s.Changes = f.asking(), f.sharing(), f.changes()
	return s
}

// Look says whether somebody reads the menu, and what stands beside the icon.
func (f *Follower) Look(reading bool, title app.TitleChoice) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.looking != reading || f.title != title {
		f.looking, f.title = reading, title
		f.attention.Wake()
	}
}

// ShowCode is the code that Add a Mac has drawn, or nil where it was closed.
func (f *Follower) ShowCode(code *api.ClusterPairResult) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if code != nil && code.Code == "" {
		code = nil
	}
	f.state.Code = code
	f.opts.Changed()
}

// Measuring is how far a measurement has come that a click began.
func (f *Follower) Measuring(m api.Measurement) {
	f.change(func(s *app.State) {
		s.Measuring = slices.DeleteFunc(slices.Clone(s.Measuring), func(o api.Measurement) bool { return o.ID == m.ID })
		if m.State == api.MeasureWaiting || m.State == api.MeasureRunning {
			s.Measuring = append(s.Measuring, m)
		}
	})
}

// Refresh asks again for what a click may have changed.
func (f *Follower) Refresh() {
	f.jobs.Wake()
	f.conditions.Wake()
	f.cables.Wake()
}

// Client is the client of the daemon, once there is one.
func (f *Follower) Client() (*client.Client, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.client == nil {
		return nil, api.NewError(api.ReasonNoDaemon, "")
	}
	return f.client, nil
}

// dial finds the daemon; false when ctx ended before.
func (f *Follower) dial(ctx context.Context) bool {
	f.again(ctx, func(ctx context.Context) error {
		c, err := f.opts.Dial(ctx)
		if err != nil {
			return err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.client = c
		return errFound
	})
	return ctx.Err() == nil
}

// Run follows until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	if !f.dial(ctx) {
		return
	}
	defer f.client.Close()
	for _, part := range []func(context.Context){f.followNodes, f.followCables, f.followCopies, f.followDocuments, f.followLive,
		f.asks(f.jobs, f.askJobs),
		f.asks(f.conditions, asked(f, "node.conditions", func(s *app.State, r api.NodeConditionsResult) { s.Conditions, s.Headline = r.Conditions, r.Headline })),
		f.asks(f.cables, asked(f, "rdma.list", func(s *app.State, r api.RDMAListResult) { s.RDMA, s.UserActions = r.Links, r.UserActions }))} {
		all.Go(func() { part(ctx) })
	}
	<-ctx.Done()
}

// asks gives a part that asks for something whenever it is woken. After a
// failure that may mend it asks again, with growing pauses.
func (f *Follower) asks(wake waker.Waker, ask func(context.Context) error) func(context.Context) {
	return func(ctx context.Context) {
		wait := pace
		for take(ctx, wake) {
			err := ask(ctx)
			switch {
			case err == nil || ctx.Err() != nil || !client.IsRetryable(err):
				wait = pace
			default:
				wake.Wake()
				wait = min(2*wait, longest)
			}
			if !client.Pause(ctx, wait) {
				return
			}
		}
	}
}

// change changes the state and says so.
func (f *Follower) change(by func(*app.State)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	by(&f.state)
	f.opts.Changed()
}

// take waits to be woken; false when ctx ended.
func take(ctx context.Context, c waker.Waker) bool {
	select {
	case <-c:
		return true
	case <-ctx.Done():
		return false
	}
}

// longest is where the pauses between attempts to follow stop to double.
const longest = 5 * time.Second

// errFound ends the search for a daemon.
var errFound = errors.New("found")

// again repeats a stream until ctx ends, with growing pauses while it fails.
func (f *Follower) again(ctx context.Context, once func(context.Context) error) {
	wait := pace
	for {
		began := time.Now()
		err := once(ctx)
		if ctx.Err() != nil || err == errFound {
			return
		}
		f.interrupted(err)
		if time.Since(began) > longest || errors.Is(err, api.ReasonLagged) {
			wait = pace
		}
		if !client.Pause(ctx, wait) {
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
	follow(ctx, f, "node.watch", func(first api.NodeWatchResult) error {
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
		return nil
	}, func(c api.NodeChanged) {
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
	})
}

// follow follows what a method tells: the whole first, then each change.
func follow[R, N any](ctx context.Context, f *Follower, method string, begin func(R) error, change func(N)) {
	f.again(ctx, func(ctx context.Context) error {
		first, changes, err := client.Stream[R, N](ctx, f.client, method, api.Empty{})
		if err != nil {
			return err
		}
		if err := begin(first); err != nil {
			return err
		}
		for c, err := range changes {
			if err != nil {
				return err
			}
			change(c)
		}
		return nil
	})
}

// followCables keeps the cables.
func (f *Follower) followCables(ctx context.Context) {
	var known cableSet
	follow(ctx, f, "link.watch", func(first api.LinkWatchResult) error {
		known = cableSet{}
		known.put(first.Cables)
		f.change(func(s *app.State) { s.Cables = known.all() })
		return nil
	}, func(c api.LinkChanged) {
		known.gone(c.GoneCables)
		known.put(c.Cables)
		f.change(func(s *app.State) { s.Cables = known.all() })
		f.cables.Wake()
		f.conditions.Wake()
	})
}

// followCopies keeps the models that are copied to this Mac.
func (f *Follower) followCopies(ctx context.Context) {
	follow(ctx, f, "model.watch", func(api.ModelWatchResult) error { return nil },
		func(c api.ModelWatched) { f.change(func(s *app.State) { s.Copies = c.Copies }) })
}

// cableSet are cables by what tells them apart.
type cableSet map[string]api.Cable

func (s cableSet) put(cables []api.Cable) {
	for _, c := range cables {
		if len(c.Ends) > 0 {
			s[app.CableKey(c)] = c
		}
	}
}

func (s cableSet) gone(ends []api.LinkEnd) {
	maps.DeleteFunc(s, func(_ string, c api.Cable) bool { return slices.Contains(ends, c.Ends[0].End) })
}

func (s cableSet) all() []api.Cable { return slices.Collect(maps.Values(s)) }
