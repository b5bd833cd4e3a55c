package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

const (
	// pathsAgain is between two looks whether all paths are back, and pathsLast how
	// often they must be in a row: a Mac that wakes up still shows those of before.
	pathsAgain = 100 * time.Millisecond
	pathsLast  = 20
	// eventGoalMs is how long it may take from one to the ends of the ranks.
	eventGoalMs = 250
)

// event is what happens to a cable or a Mac of a job, and what puts it back.
type event struct {
	name, reason string
	happen, undo string
}

// events measures how long it takes from an event to the signals that end the ranks
// of a group, which would never notice. A rank dies of its signal at once.
func (j *jacclBench) events(within time.Duration) error {
	b := &jobBench{j.run, j.Stage, j.Cluster}
	ctx, cancel := context.WithTimeout(j.ctx, clusterDeadline)
	err := b.verify(ctx)
	cancel()
	if err != nil {
		return err
	}
	whole, err := j.paths(j.ctx)
	if err != nil {
		return err
	}
	took := map[string][]float64{}
	var names []string
	return j.sample("events", least, within, func(int) error {
		for n := range 3 {
			if err := j.repaired(whole); err != nil {
				return err
			}
			e, ms, err := j.outlived(b, n)
			if err != nil {
				return err
			}
			if took[e.name] == nil {
				names = append(names, e.name)
			}
			took[e.name] = append(took[e.name], ms)
		}
		return nil
	}, func() (rows []Row) {
		for _, name := range names {
			rows = append(rows, newRow(name+", until the ranks are signalled", Median(took[name]), "ms", Lower, new(float64(eventGoalMs)), "", "two ranks over a cable"))
		}
		return rows
	})
}

// paths are those that carry something, by node, peer and interface.
func (j *jacclBench) paths(ctx context.Context) (map[string]bool, error) {
	all, err := client.Call[api.StateGetResult](ctx, j.Nodes[0].Client, "state.get", api.StateSelect{Kinds: []api.Kind{api.KindReach}})
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, d := range all.Docs {
		var r api.Reach
		if err := d.Decode(&r); err != nil {
			return nil, err
		}
		if r.State == api.PathActive {
			found[fmt.Sprint(d.Node, r.Peer, r.Interface)] = true
		}
	}
	return found, nil
}

// repaired waits until all paths are back: a Mac that wakes up has its cables before
// its network.
func (j *jacclBench) repaired(whole map[string]bool) error {
	ctx, cancel := context.WithTimeout(j.ctx, jobDeadline)
	defer cancel()
	for back := 0; ; {
		now, err := j.paths(ctx)
		if err != nil {
			return err
		}
		missing := 0
		for path := range whole {
			if !now[path] {
				missing++
			}
		}
		if back++; missing > 0 {
			back = 0
		}
		if back == pathsLast {
			return nil
		}
		select {
		case <-time.After(pathsAgain):
		case <-ctx.Done():
			return fmt.Errorf("%d paths are not back: %w", missing, context.Cause(ctx))
		}
	}
}

// outlived has one event happen to a job of two ranks.
func (j *jacclBench) outlived(b *jobBench, n int) (e event, ms float64, err error) {
	ctx, cancel := context.WithTimeout(j.ctx, jobDeadline)
	defer cancel()
	asked := j.Nodes[0].Client
	where := api.Placement{Ranks: 2, Backend: api.BackendJACCL, GPU: api.GPUExclusive, ExcludedNodes: []api.NodeID{j.Nodes[0].ID}}
	id, err := b.place(ctx, where, j.standin, "-work", "-1s")
	if err != nil {
		return e, 0, err
	}
	f, err := b.until(ctx, id, "two ranks", func(f *followed) bool { return f.running() == 2 && f.job.Phase == api.JobRunning })
	if err != nil {
		return e, 0, err
	}
	all, err := j.possible(ctx, f.job.Attempts[0].Plan)
	if err != nil {
		return e, 0, err
	}
	e = all[n]
	change := func(line string) error {
		_, err := client.Call[api.Empty](ctx, asked, "daemon.simulate", api.DaemonSimulateParams{Line: line})
		return err
	}
	began := time.Now()
	if err := change(e.happen); err != nil {
		return e, 0, err
	}
	f, err = b.until(ctx, id, "end", func(f *followed) bool {
		ended := 0
		for _, r := range f.ranks {
			if !r.EndedAt.IsZero() {
				ended++
			}
		}
		return f.job.Phase.Ended() && ended == 2
	})
	if err != nil {
		return e, 0, err
	}
	if string(f.job.Reason) != e.reason {
		return e, 0, fmt.Errorf("%s: the job ended of %s: %s", e.name, f.job.Reason, f.job.Message)
	}
	for _, r := range f.ranks {
		ms = max(ms, float64(r.EndedAt.Sub(began))/1e6)
	}
	return e, ms, change(e.undo)
}

// possible are the events that can happen to a plan.
func (j *jacclBench) possible(ctx context.Context, plan *api.Plan) ([]event, error) {
	mac := func(id api.NodeID) string {
		return j.Nodes[slices.IndexFunc(j.Nodes, func(n *testcluster.Node) bool { return n.ID == id })].Mac
	}
	end := plan.Links[0].Link.High
	port := fmt.Sprintf("%s.tb%d", mac(end.Node), end.PortNumber)
	other := plan.Links[0].Link.Low
	docs, err := client.Call[api.StateGetResult](ctx, j.Nodes[0].Client, "state.get", api.StateSelect{Kinds: []api.Kind{api.KindNetwork}, Nodes: []api.NodeRef{api.NodeRef(end.Node)}})
	if err != nil {
		return nil, err
	}
	var network api.Network
	if len(docs.Docs) != 1 {
		return nil, fmt.Errorf("%d documents of a network", len(docs.Docs))
	}
	if err := docs.Docs[0].Decode(&network); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(network.Interfaces, func(i api.Interface) bool { return i.PortNumber == end.PortNumber })
	if at < 0 {
		return nil, fmt.Errorf("no interface at %s", port)
	}
	var addresses []string
	for _, a := range network.Interfaces[at].Addresses {
		if a.Address.Addr().Is4() {
			addresses = append(addresses, a.Address.String()+" manual")
		}
	}
	address := fmt.Sprintf("set %s.%s.address ", mac(end.Node), network.Interfaces[at].Name)
	return []event{
		{"a cable is pulled", string(api.ReasonLinkGone), "unplug " + port, fmt.Sprintf("plug %s %s.tb%d", port, mac(other.Node), other.PortNumber)},
		{"an address is lost", string(api.ReasonAddressLost), address + "none", address + strings.Join(addresses, " ")},
		{"a Mac goes to sleep", string(api.ReasonNodeAsleep), "sleep " + mac(end.Node), "wake " + mac(end.Node)},
	}, nil
}
