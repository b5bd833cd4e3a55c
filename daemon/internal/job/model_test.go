package job

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/placement"
	"fulmen/daemon/internal/topology"
)

// planModel is what placement itself says, for Macs with 100 GiB on one trusted network.
func (m *machine) planModel(spec api.JobSpec, models map[api.NodeID]api.FoundModel) (api.Plan, error) {
	at := func(i int) netip.Prefix { return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), 24) }
	known := make([]topology.Node, len(m.w.nodes))
	in := placement.Input{Spec: spec, Trusted: []netip.Prefix{at(0).Masked()}}
	for i, n := range m.w.nodes {
		net := &api.Network{Interfaces: []api.Interface{{Name: "en0", Type: api.InterfaceEthernet, Up: true, Addresses: []api.InterfaceAddress{{Address: at(i)}}}}}
		known[i] = topology.Node{ID: n.id, ShortName: m.w.nameOf(n.id), Network: net}
		for k, other := range m.w.nodes {
			if k != i {
				known[i].Reach = append(known[i].Reach, api.Reach{Peer: other.id, Address: at(k).Addr(), Interface: "en0", Source: at(i).Addr(), State: api.PathActive})
			}
		}
		node := placement.Node{ID: n.id, ShortName: m.w.nameOf(n.id), Reached: m.w.scenario.Joined(m.id, n.id), Network: net, WorkingSetBytes: new(int64(100 << 30))}
		if has, ok := models[n.id]; ok {
			node.Model = &has
		}
		in.Nodes = append(in.Nodes, node)
	}
	in.Graph = topology.Build(topology.Input{Nodes: known})
	result := placement.Plan(in)
	if result.Plan == nil {
		return api.Plan{}, result.Err()
	}
	if len(result.Plan.Ranks) == 1 {
		result.Plan.Hosts = [][]string{{"10.0.0.1"}} // which the rig looks at
	}
	return *result.Plan, nil
}

// lies puts a model of so many GiB on machines; on the others it is missing.
func (w *world) lies(gibibytes int64, on ...*machine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.models = map[api.NodeID]*api.FoundModel{}
	for _, m := range w.nodes {
		w.models[m.id] = &api.FoundModel{Problem: new(api.NewError(api.ReasonNoSuchModel, "org/m").Cause())}
	}
	for _, m := range on {
		w.models[m.id] = &api.FoundModel{Path: "/models/m", Revision: "abc", WeightsBytes: new(gibibytes << 30)}
	}
}

// computes is a request for a job with a model, on as many machines as it needs.
func computes() api.JobRequest {
	r := program(words("sleep", "1s"))
	r.Model = api.ModelSelect{Model: "org/m"}
	return r
}

// A job runs where its model lies; a Mac that did not answer is left out.
func TestAModelThatOneLacks(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		w.lies(50, b)
		c.freeze(5 * time.Minute)
		defer pass(5 * time.Minute)
		plan, err := a.Plan(t.Context(), a.person(), api.JobPlanParams{Request: computes()})
		is.NoErr(err)
		is.Equal(plan.Plan.Ranks[0].Node, b.id)
		reasons := map[api.Reason]string{}
		for _, n := range plan.Plan.Notes {
			reasons[n.Reason] = n.Subject
		}
		is.Equal(reasons, map[api.Reason]string{api.ReasonNoSuchModel: string(a.id), api.ReasonNodeUnreachable: string(c.id)})
		id := a.submits(computes())
		job := a.until(id, api.JobSucceeded, time.Minute)
		is.Equal(len(job.Attempts[0].Plan.Ranks), 1)
		is.Equal(job.Attempts[0].Plan.Ranks[0].Node, b.id)
		is.Equal(*job.Attempts[0].Plan.Model, api.PlanModel{Model: "org/m", Revision: "abc", WeightsBytes: new(int64(50 << 30))})
	})
}

// A job whose model no Mac has waits, and starts once one has it.
func TestAModelThatAllLack(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		w.lies(50)
		id := a.submits(computes())
		pass(2 * time.Minute)
		job := a.sees(id)
		is.Equal(job.Reason, api.ReasonNoSuchModel)
		is.Equal(job.Message, w.nameOf(a.id)+" has no org/m")
		is.Equal(w.starts, 0)
		w.mu.Lock()
		asked := w.calls["peer.preflight"]
		w.mu.Unlock()
		is.True(asked >= 6 && asked <= 14) // both, now and then
		w.lies(50, b)
		a.until(id, api.JobSucceeded, time.Minute)
	})
}

// One that fits on two Macs and not on one runs on two.
func TestAModelThatNeedsTwo(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a := w.nodes[0]
		w.lies(150, w.nodes...)
		plan, err := a.Plan(t.Context(), a.person(), api.JobPlanParams{Request: computes()})
		is.NoErr(err)
		is.Equal(len(plan.Plan.Ranks), 2)
		is.Equal(plan.Plan.Ranks[1].MemoryBytes, int64(150*1.1/2*(1<<30)+1<<30))
		id := a.submits(computes())
		is.Equal(len(a.until(id, api.JobSucceeded, time.Minute).Attempts[0].Plan.Ranks), 2)
	})
}

// A model that goes between the plan and the start is looked for once more.
func TestAModelThatGoes(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		w.lies(50, a)
		w.slow = time.Second
		id := a.submits(computes())
		pass(500 * time.Millisecond) // it was found, and is placed
		w.lies(50, b)
		job := a.until(id, api.JobSucceeded, time.Minute)
		is.Equal(job.Attempts[0].Reason, api.ReasonNoSuchModel)
		is.Equal(job.Attempts[1].Plan.Ranks[0].Node, b.id)
		is.Equal(w.starts, 1)
	})
}

// Only Macs that the job may use are asked.
func TestWhoIsAskedForAModel(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		for _, test := range []struct {
			name string
			of   api.Placement
			want []api.NodeID
		}{
			{"all", api.Placement{}, []api.NodeID{a.id, b.id, c.id}},
			{"not the excluded", api.Placement{ExcludedNodes: []api.NodeID{b.id}}, []api.NodeID{a.id, c.id}},
			{"those that are named", api.Placement{Ranks: 4, RanksPerNode: 2, Nodes: []api.NodeID{b.id}, Rank0: c.id}, []api.NodeID{b.id, c.id}},
			{"more than are named", api.Placement{MaxNodes: 2, Nodes: []api.NodeID{b.id}}, []api.NodeID{a.id, b.id, c.id}},
			{"one twice", api.Placement{MaxNodes: 1, Nodes: []api.NodeID{b.id}, Rank0: b.id}, []api.NodeID{b.id}},
		} {
			if got := a.mayUse(test.of); !slices.Equal(got, test.want) {
				t.Errorf("%s: %v, and not %v", test.name, got, test.want)
			}
		}
	})
}

// A job that may copy its model runs on Macs that lack it, from one that it may not use itself.
func TestAModelThatIsCopied(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		w.lies(50, c)
		request := computes()
		request.FetchModel, request.Placement.ExcludedNodes = true, []api.NodeID{c.id}
		request.Placement.Ranks = 2
		id := a.submits(request)
		job := a.until(id, api.JobSucceeded, time.Minute)
		is.Equal(len(job.Attempts), 1)
		for i, n := range []*machine{a, b} {
			is.Equal(job.Attempts[0].Plan.Ranks[i].Node, n.id)
			is.Equal(job.Attempts[0].Plan.Ranks[i].ModelFrom, c.id)
		}
		request.Model = api.ModelSelect{}
		_, err := a.Submit(t.Context(), a.person(), api.JobSubmitParams{Request: request})
		is.Equal(api.AsError(err).Data.Reason, api.ReasonMissingField)
	})
}

// A model that no Mac has and that may be copied is got by the submitter's, and the job says
// how far that is; what went wrong is said and tried again, unless it would go wrong again.
func TestAModelThatIsGot(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		w.lies(50)
		asked := make(chan string, 10)
		goes := make(chan error)
		a.cfg.GetModel = func(ctx context.Context, who api.Principal, sel api.ModelSelect, moved func(api.ModelProgress)) error {
			asked <- who.User + " " + sel.Model
			moved(api.ModelProgress{DoneBytes: 43, TotalBytes: 100})
			select {
			case err := <-goes:
				return err
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		request := computes()
		request.FetchModel, request.Placement.Nodes = true, []api.NodeID{b.id}
		id := a.submits(request)
		is.Equal(<-asked, a.person().Principal.User+" org/m")
		pass(time.Minute) // it is asked for meanwhile
		job := a.sees(id)
		is.Equal(job.Reason, api.ReasonModelFetching)
		is.Equal(job.Message, w.nameOf(a.id)+" gets org/m from Hugging Face: 43 %")
		is.Equal(len(asked), 0)
		goes <- api.Errorf(api.ReasonModelNotCopied, "", "The connection ended.")
		pass(time.Second)
		is.Equal(a.sees(id).Message, "The connection ended.")
		<-asked // again
		w.lies(50, a)
		goes <- nil
		is.Equal(a.until(id, api.JobSucceeded, time.Minute).Attempts[0].Plan.Ranks[0].ModelFrom, a.id)

		w.lies(50)
		id = a.submits(request)
		<-asked
		is.NoErr(a.Stop(t.Context(), a.person(), api.JobStopParams{Job: id})) // which ends the getting
		a.until(id, api.JobStopped, time.Minute)
		id = a.submits(request)
		<-asked
		goes <- api.Errorf(api.ReasonNoSuchModel, "", "There is no org/m.")
		is.Equal(a.until(id, api.JobFailed, time.Minute).Reason, api.ReasonNoSuchModel)
		request.FetchModel = false
		a.submits(request)
		request.FetchModel, request.Model.Model = true, "/models/m"
		a.submits(request)
		pass(time.Minute)
		is.Equal(len(asked), 0)
	})
}
