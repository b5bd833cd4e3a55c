package live

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fulmen/app"
	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// followDocuments keeps the documents that move by themselves, and asks for the
// lists that are made of them when one changed.
func (f *Follower) followDocuments(ctx context.Context) {
	kinds := []api.Kind{api.KindIdentity, api.KindGPUProfile, api.KindSharing, api.KindPending, api.KindCondition, api.KindJob, api.KindRank, api.KindRDMAChange}
	for event, err := range f.client.Watch(ctx, api.StateSelect{Kinds: kinds}) {
		if err != nil {
			f.interrupted(err)
			continue
		}
		f.mu.Lock()
		f.view.Apply(event)
		f.mu.Unlock()
		f.opts.Changed()
		if event.Snapshot {
			f.Refresh()
			continue
		}
		touch := func(kind api.Kind) {
			switch kind {
			case api.KindJob, api.KindRank:
				f.jobs.Wake()
			case api.KindCondition:
				f.conditions.Wake()
			case api.KindRDMAChange:
				f.cables.Wake()
			}
		}
		for _, d := range event.Put {
			touch(d.Kind)
		}
		for _, k := range event.Del {
			touch(k.Kind)
		}
	}
}

// followLive watches memory and load while somebody looks at them.
func (f *Follower) followLive(ctx context.Context) {
	for {
		sel, wanted := f.wanted()
		if !wanted {
			f.mu.Lock()
			f.live = client.View{} // old numbers are no numbers
			f.mu.Unlock()
			if !take(ctx, f.attention) {
				return
			}
			continue
		}
		during, stop := context.WithCancel(ctx)
		over := make(chan struct{})
		go func() {
			defer close(over)
			for event, err := range f.client.Watch(during, sel) {
				if err != nil {
					continue
				}
				f.mu.Lock()
				f.live.Apply(event)
				f.mu.Unlock()
				f.opts.Changed()
			}
		}()
		goesOn := take(ctx, f.attention)
		stop()
		<-over
		if !goesOn {
			return
		}
	}
}

// wanted is what is looked at: all Macs while the menu is read, else what stands
// beside the icon.
func (f *Follower) wanted() (sel api.StateSelect, wanted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.looking:
		return api.StateSelect{Kinds: []api.Kind{api.KindMemory, api.KindSystem}}, true
	case f.title == app.TitlePower:
		return api.StateSelect{Kinds: []api.Kind{api.KindSystem}}, true
	case f.title == app.TitleMemory:
		return api.StateSelect{Kinds: []api.Kind{api.KindMemory}}, true
	case f.title == app.TitleGPU:
		for id, n := range f.nodes {
			if n.Self {
				return api.StateSelect{Kinds: []api.Kind{api.KindSystem}, Nodes: []api.NodeRef{api.NodeRef(id)}}, true
			}
		}
	}
	return api.StateSelect{}, false
}

// macs joins what is derived of each Mac with its documents.
func (f *Follower) macs() []app.Node {
	macs := make([]app.Node, 0, len(f.nodes))
	for id, n := range f.nodes {
		macs = append(macs, app.Node{
			NodeView: n, Identity: value[api.Identity](&f.view, id, api.KindIdentity), GPU: value[api.GPUProfile](&f.view, id, api.KindGPUProfile),
			Memory: value[api.Memory](&f.live, id, api.KindMemory), System: value[api.System](&f.live, id, api.KindSystem),
		})
	}
	return macs
}

// value is what a document says; nil where there is none that can be read.
func value[T any](v *client.View, node api.NodeID, kind api.Kind) *T {
	doc, found := v.Get(api.Key{Node: node, Kind: kind})
	if !found {
		return nil
	}
	into := new(T)
	if doc.Decode(into) != nil {
		return nil
	}
	return into
}

// asking are the Macs that ask to be added.
func (f *Follower) asking() []api.Pending {
	var all []api.Pending
	for _, d := range f.view.Docs() {
		var p api.Pending
		if d.Kind == api.KindPending && d.Decode(&p) == nil {
			all = append(all, p)
		}
	}
	return all
}

// changes are what was changed for RDMA, or is being changed.
func (f *Follower) changes() []api.NodeRDMAChange {
	var all []api.NodeRDMAChange
	for _, d := range f.view.Docs() {
		c := api.NodeRDMAChange{Node: d.Node}
		if d.Kind == api.KindRDMAChange && d.Decode(&c.RDMAChange) == nil {
			all = append(all, c)
		}
	}
	return all
}

// sharing is what this Mac lends.
func (f *Follower) sharing() *api.Sharing {
	for id, n := range f.nodes {
		if n.Self {
			return value[api.Sharing](&f.view, id, api.KindSharing)
		}
	}
	return nil
}

// asked is a part that asks for something and puts it into the state.
func asked[R any](f *Follower, method string, put func(*app.State, R)) func(context.Context) error {
	return func(ctx context.Context) error {
		result, err := client.Call[R](ctx, f.client, method, api.Empty{})
		if err == nil {
			f.change(func(s *app.State) { put(s, result) })
		}
		return err
	}
}

func (f *Follower) askJobs(ctx context.Context) error {
	running, err := client.Call[api.JobListResult](ctx, f.client, "job.list", api.JobListParams{})
	if err != nil {
		return err
	}
	mine, err := client.Call[api.JobListResult](ctx, f.client, "job.list", api.JobListParams{Ended: true, Mine: true})
	if err != nil {
		return err
	}
	jobs := running.Jobs
	for _, j := range mine.Jobs {
		if j.Phase.Ended() {
			jobs = append(jobs, j)
		}
	}
	f.change(func(s *app.State) { s.Jobs = jobs })
	return nil
}

// Code is the one that Add a Mac shows, and until when it counts; empty where
// none does.
func (f *Follower) Code() (code string, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state.Code == nil {
		return "", time.Time{}
	}
	return f.state.Code.Code, f.state.Code.ExpiresAt.Time
}

// Steps are what a person does at a Mac, those that are done with a mark.
func (f *Follower) Steps(node api.NodeID) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.state.UserActions {
		if e.Node == node {
			var out strings.Builder
			for n, step := range e.Steps {
				mark := ""
				if step.Done {
					mark = "  (done)"
				}
				fmt.Fprintf(&out, "%d. %s%s\n", n+1, text.Clean(step.Text), mark)
			}
			return out.String()
		}
	}
	return "Nothing is left to be done there."
}

// Summary is what is known, for whoever looks for a fault: states and counts, no
// names and no addresses.
func (f *Follower) Summary() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out strings.Builder
	fmt.Fprintf(&out, "daemon %q version %q simulated %t\nmembers %d reached %d jobs %d cables %d\n", f.state.Daemon, f.state.DaemonVersion,
		f.state.Simulated, f.state.Totals.Members, f.state.Totals.Nodes, len(f.state.Jobs), len(f.state.Cables))
	for _, c := range f.state.Conditions {
		fmt.Fprintf(&out, "condition %s %s\n", c.Severity, c.Code)
	}
	return out.String()
}
