package liveness

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"fulmen/daemon/api"
)

// RemovedStays is how long a removed member is listed. The roster has it for
// good.
const RemovedStays = 24 * time.Hour

// View is what one node derives about all. It does not change.
type View struct {
	// Nodes are this node, then the others by short name.
	Nodes []api.NodeView
	// Totals are of the nodes that are reached.
	Totals api.Totals

	self   api.NodeID
	names  map[api.NodeID]string
	called map[api.NodeID]string
}

// Derive gives the view.
func Derive(in Input) View {
	all, reach := in.read()
	identity := func(node api.NodeID) (api.Identity, bool) {
		if f := all[node]; f != nil && f.identity != nil && (f.identity.Name != "" || in.Called[node] == "") {
			return *f.identity, true
		}
		name, known := in.Called[node]
		return api.Identity{Name: name}, known
	}
	v := View{self: in.Self, Nodes: []api.NodeView{}, names: Names(in.Members, identity), called: map[api.NodeID]string{}}
	for _, m := range in.Members {
		if who, _ := identity(m.Node); who.Name != "" {
			v.called[m.Node] = who.Name
		}
	}
	seen := map[api.NodeID]bool{}
	members := in.Members
	if !slices.ContainsFunc(members, func(m api.Member) bool { return m.Node == in.Self }) {
		members = append(slices.Clip(members), api.Member{Node: in.Self}) // a roster that is not there yet
	}
	for _, m := range members {
		if seen[m.Node] {
			continue
		}
		seen[m.Node] = true
		isRemoved := m.RemovedBy != ""
		if !isRemoved {
			v.Totals.Members++
		}
		if isRemoved && m.Node != in.Self && !in.At.IsZero() && in.At.Sub(m.RemovedAt.Time) > RemovedStays {
			continue
		}
		f := all[m.Node]
		if f == nil {
			f = &facts{}
		}
		n := api.NodeView{Node: m.Node, ShortName: v.Name(m.Node), Self: m.Node == in.Self, Simulated: f.simulated}
		switch {
		case isRemoved:
			n.Liveness, n.Since, n.Reason = api.LivenessRemoved, m.RemovedAt, api.ReasonRemoved
			n.Message = v.Name(m.RemovedBy) + " removed it from the cluster."
		case n.Self:
			n.Liveness, n.Since = api.LivenessAlive, in.Started
		default:
			paths, last := pathsOf(in.Paths[m.Node], reach, m.Node)
			n.Paths = paths
			judge(&n, in.Seen[m.Node], in.Started, f, last)
		}
		v.Nodes = append(v.Nodes, n)
		if n.Liveness.Reached() {
			add(&v.Totals, f)
		}
	}
	slices.SortFunc(v.Nodes, compare)
	return v
}

// compare puts this node first, then orders by name.
func compare(a, b api.NodeView) int {
	if a.Self != b.Self {
		if a.Self {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.ShortName, b.ShortName), cmp.Compare(a.Node, b.Node))
}

// List is the view as node.list gives it.
func (v View) List() api.NodeListResult {
	return api.NodeListResult{Nodes: v.Nodes, Totals: v.Totals}
}

// Node is what is derived about one; false for whoever is not listed.
func (v View) Node(node api.NodeID) (api.NodeView, bool) {
	at := slices.IndexFunc(v.Nodes, func(n api.NodeView) bool { return n.Node == node })
	if at < 0 {
		return api.NodeView{}, false
	}
	return v.Nodes[at], true
}

// Stale reports whether a node's documents may be old, because it is not
// reached.
func (v View) Stale(node api.NodeID) bool {
	n, found := v.Node(node)
	return !found || !n.Liveness.Reached()
}

// Change is what makes one view of another, as node.changed tells it.
type Change struct {
	// Put are the nodes that are new or other than before, in the view's order.
	Put []api.NodeView
	// Del are the nodes that are gone, by id.
	Del []api.NodeID
	// Totals are the new ones; nil where they are as before.
	Totals *api.Totals
}

// Diff is what changed from one view to a later one; false if nothing did.
func Diff(before, after View) (Change, bool) {
	var c Change
	for _, n := range after.Nodes {
		if old, found := before.Node(n.Node); !found || !reflect.DeepEqual(old, n) {
			c.Put = append(c.Put, n)
		}
	}
	for _, n := range before.Nodes {
		if _, stays := after.Node(n.Node); !stays {
			c.Del = append(c.Del, n.Node)
		}
	}
	slices.Sort(c.Del)
	if !reflect.DeepEqual(before.Totals, after.Totals) {
		c.Totals = new(after.Totals)
	}
	return c, c.Put != nil || c.Del != nil || c.Totals != nil
}

// judge finds whether another member is reached, and if not why, from what is
// seen of it and what it said. last is by which paths it was reached last, in
// words, empty where that is not known.
func judge(n *api.NodeView, seen Seen, started api.Time, f *facts, last string) {
	state := api.NodeState{State: api.SelfAwake}
	if f.state != nil {
		state = *f.state
	}
	answers := seen.Liveness == api.LivenessAlive
	switch {
	case state.State == api.SelfLeft:
		report(n, api.LivenessLeft, state.Since, api.ReasonLeft, "It left the cluster.")
	case state.State == api.SelfAsleep && state.Reason == api.ReasonLidClosed:
		report(n, api.LivenessAsleep, state.Since, state.Reason, "It went to sleep because its lid was closed.")
	case state.State == api.SelfAsleep:
		report(n, api.LivenessAsleep, state.Since, api.ReasonAsleep, "It went to sleep.")
	case state.State == api.SelfRestarting && state.Reason == api.ReasonShuttingDown:
		liveness := api.LivenessUnreachable
		if answers {
			liveness = api.LivenessRestarting // no more work for it, and it is not gone yet
		}
		report(n, liveness, state.Since, state.Reason, "It is shutting down.")
	case state.State == api.SelfRestarting && f.identity != nil && f.identity.Platform != api.PlatformDarwin:
		report(n, api.LivenessRestarting, state.Since, api.ReasonRestarting, "It is restarting.")
	case state.State == api.SelfRestarting:
		report(n, api.LivenessRestarting, state.Since, api.ReasonRestarting, "It is restarting. It may be waiting at FileVault for a password.")
	case state.State == api.SelfStopping && !answers:
		report(n, api.LivenessUnreachable, state.Since, api.ReasonStopped, "Fulmen was stopped there.")
	case answers:
		report(n, api.LivenessAlive, or(seen.Since, started), "", "")
	case seen.Liveness == api.LivenessSuspect:
		report(n, api.LivenessSuspect, or(seen.Since, started), api.ReasonSuspect, "It has just stopped answering.")
	case seen.Liveness == "" && last == "":
		report(n, api.LivenessUnreachable, started, api.ReasonNeverHeardOf, "It has not been heard from since this daemon started.")
	default:
		reason := seen.Reason
		info, found := api.LookupReason(reason)
		if !found {
			reason = api.ReasonUnreachable
			info.Text = "It does not answer on any path."
		}
		text := info.Text
		if last != "" {
			text += " It was last reached by " + last + "."
		}
		report(n, api.LivenessUnreachable, or(seen.Since, started), reason, text)
	}
}

func report(n *api.NodeView, l api.Liveness, since api.Time, reason api.Reason, message string) {
	n.Liveness, n.Since, n.Reason, n.Message = l, since, reason, message
}

func or(t, other api.Time) api.Time {
	if t.IsZero() {
		return other
	}
	return t
}

// add counts a node that is reached. What it does not know is left out, and
// never counted as nothing.
func add(t *api.Totals, f *facts) {
	t.Nodes++
	t.Simulated = t.Simulated || f.simulated
	if f.memory != nil {
		addMemory(t, f)
	}
	if f.gpu != nil && f.gpu.FP16TFLOPS != nil {
		sum(&t.FP16TFLOPS, f.gpu.FP16TFLOPS)
		sum(&t.MemoryBytesPerS, f.gpu.MemoryBytesPerS)
		t.MeasuredNodes++
	}
	if f.system != nil {
		power := f.system.SystemPowerWatts
		if power == nil {
			power = f.system.PackagePowerWatts
		}
		if power != nil {
			sum(&t.PowerWatts, power)
			t.PowerNodes++
		}
	}
}

// addMemory counts each node once, with the memory in which its programs compute.
func addMemory(t *api.Totals, f *facts) {
	kind, total := api.GPUMemory(""), f.memory.TotalBytes
	if f.identity != nil {
		kind = f.identity.GPUMemory
	}
	switch kind {
	case api.GPUMemoryUnified:
		sum(&t.MemoryTotalBytes, total)
		sum(&t.MemoryUsedBytes, f.memory.UsedBytes)
		return
	case api.GPUMemoryDedicated:
		total = f.memory.GPUWorkingSetBytes
	}
	if total == nil {
		return
	}
	at, found := slices.BinarySearchFunc(t.OtherMemory, kind, func(o api.OtherMemory, k api.GPUMemory) int { return cmp.Compare(o.GPUMemory, k) })
	if !found {
		t.OtherMemory = slices.Insert(t.OtherMemory, at, api.OtherMemory{GPUMemory: kind})
	}
	t.OtherMemory[at].TotalBytes += *total
	t.OtherMemory[at].Nodes++
}

// sum adds a number that is known.
func sum[T int64 | float64](total **T, more *T) {
	switch {
	case more == nil:
	case *total == nil:
		*total = new(*more)
	default:
		*total = new(**total + *more)
	}
}
