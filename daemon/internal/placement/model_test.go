package placement

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// has is a model of so many GiB at a revision.
func has(revision string, gibibytes int64) *api.FoundModel {
	return &api.FoundModel{Path: "/models/m", Revision: revision, WeightsBytes: new(gibibytes * gib)}
}

// lacks is what a Mac says that has no model, or not all of it.
func lacks(reason api.Reason, files int) *api.FoundModel {
	return &api.FoundModel{MissingCount: files, Problem: new(api.NewError(reason, "org/m").Cause())}
}

// placed is where a job with a model of these Macs runs, or why it does not, in words.
func (d *scenario) placed(p api.Placement, fetch bool, models ...*api.FoundModel) string {
	for i, m := range models {
		d.nodes[i].Model = m
	}
	in := d.input(p, nil)
	in.Spec.Model, in.Spec.FetchModel = api.ModelSelect{Model: "org/m"}, fetch
	r := Plan(in)
	if r.Plan != nil {
		text := fmt.Sprintf("%s at %q, %s each", d.namesOf(nodesOf(r.Plan)), r.Plan.Model.Revision, gibibytes(r.Plan.Ranks[0].MemoryBytes))
		for _, rank := range r.Plan.Ranks {
			if rank.ModelFrom != "" {
				text += "; " + d.namesOf([]api.NodeID{rank.Node}) + " copies it from " + d.namesOf([]api.NodeID{rank.ModelFrom})
			}
		}
		for _, c := range r.Plan.Notes {
			if c.Reason != api.ReasonUnencrypted && c.Reason != api.ReasonBackendNotUsed {
				text += "; " + string(c.Reason) + ": " + c.Message
			}
		}
		return text
	}
	var all []string
	for _, c := range r.Err().Data.Causes {
		all = append(all, string(c.Reason)+": "+c.Message)
	}
	return strings.Join(all, "; ") + " -> " + r.Err().Data.Remedy
}

// A job runs on the fewest Macs on which its model lies and fits; what is in the way is
// said for each Mac, with the copy that would help.
func TestWhereAModelLiesAndFits(t *testing.T) {
	none, part := lacks(api.ReasonNoSuchModel, 0), lacks(api.ReasonModelIncomplete, 2)
	for _, c := range []struct {
		name   string
		asked  api.Placement
		models []*api.FoundModel
		want   string
	}{
		{"on one", api.Placement{}, []*api.FoundModel{has("a", 50), has("a", 50), has("a", 50)}, `mac-0 at "a", 56 GiB each`},
		{"where it lies", api.Placement{}, []*api.FoundModel{none, part, has("a", 50)},
			`mac-2 at "a", 56 GiB each; no_such_model: mac-0 has no org/m, so it is left out; model_incomplete: mac-1 lacks 2 files of org/m, so it is left out`},
		{"on two, not on one", api.Placement{}, []*api.FoundModel{has("a", 100), has("a", 100), has("a", 100)}, `mac-0 mac-1 at "a", 56 GiB each`},
		{"to the last byte", api.Placement{MaxNodes: 1}, []*api.FoundModel{has("a", 90), has("a", 90), has("a", 90)}, `mac-0 at "a", 100 GiB each`},
		{"as many as are asked for", api.Placement{Ranks: 3}, []*api.FoundModel{has("a", 30), has("a", 30), has("a", 30)}, `mac-0 mac-1 mac-2 at "a", 12 GiB each`},
		{"several ranks a node", api.Placement{RanksPerNode: 2}, []*api.FoundModel{has("a", 90), has("a", 90), has("a", 90)},
			`mac-0 mac-0 mac-1 mac-1 at "a", 25.7 GiB each`},
		{"the memory that is asked for", api.Placement{Ranks: 1, MemoryBytes: 5 * gib}, []*api.FoundModel{has("a", 300), none, none},
			`mac-0 at "a", 5 GiB each; no_such_model: mac-1 has no org/m, so it is left out; no_such_model: mac-2 has no org/m, so it is left out`},
		{"the revision of most", api.Placement{}, []*api.FoundModel{has("a", 9), has("b", 9), has("b", 9)},
			`mac-1 at "b", 10.8 GiB each; no_such_model: mac-0 has revision a of org/m, and not revision b, so it is left out`},
		{"of equals the submitter's", api.Placement{}, []*api.FoundModel{has("a", 9), has("b", 9), none},
			`mac-0 at "a", 10.8 GiB each; no_such_model: mac-1 has revision b of org/m, and not revision a, so it is left out; no_such_model: mac-2 has no org/m, so it is left out`},
		{"that of a Mac that is named", api.Placement{Nodes: ids(2)}, []*api.FoundModel{has("b", 9), has("b", 9), has("a", 9)},
			`mac-2 at "a", 10.8 GiB each; no_such_model: mac-0 has revision b of org/m, and not revision a, so it is left out; no_such_model: mac-1 has revision b of org/m, and not revision a, so it is left out`},
		{"nowhere", api.Placement{}, []*api.FoundModel{none, part, none},
			"no_such_model: mac-0 has no org/m; model_incomplete: mac-1 lacks 2 files of org/m; no_such_model: mac-2 has no org/m -> " +
				"`fulmen models` lists them. Folders of your own are named in the configuration: models.folders."},
		{"nobody was asked", api.Placement{Nodes: ids(1)}, []*api.FoundModel{has("a", 9), nil, none},
			"node_unreachable: mac-1 has not said whether it has org/m -> mac-1 has not said whether it has org/m. Check that it is on, awake and connected."},
		{"a copy would do", api.Placement{}, []*api.FoundModel{has("a", 150), none, part},
			"no_such_model: mac-1 has no org/m; model_incomplete: mac-2 lacks 2 files of org/m -> " +
				"mac-1 has no org/m. On mac-1, run: fulmen models copy org/m --from mac-0 --revision a"},
		{"a Mac that is named lacks it", api.Placement{Nodes: ids(1)}, []*api.FoundModel{has("a", 9), part, none},
			"model_incomplete: mac-1 lacks 2 files of org/m -> mac-1 lacks 2 files of org/m. On mac-1, run: fulmen models copy org/m --from mac-0 --revision a"},
		{"one more Mac would do", api.Placement{MaxNodes: 2}, []*api.FoundModel{has("a", 200), has("a", 200), has("a", 200)},
			"not_enough_memory: mac-0 has 100 GiB of GPU memory, and a rank needs 111 GiB; not_enough_memory: mac-1 has 100 GiB of GPU memory, and a rank needs 111 GiB" +
				" -> Ask for 3 ranks, on which the model fits."},
		{"a size that is not known", api.Placement{}, []*api.FoundModel{{Unknown: map[string]api.Reason{"weights_bytes": api.ReasonSeveralWeights}}, none, none},
			`mac-0 at "", 0 GiB each; no_such_model: mac-1 has no org/m, so it is left out; no_such_model: mac-2 has no org/m, so it is left out; ` +
				`several_weights: The size of the weights of org/m is not known, so no memory is counted for them: --memory says how much each rank needs`},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(newScenario(3).meshed(evenly(80)).placed(c.asked, false, c.models...), c.want)
		})
	}
}

// A job that may copy its model does so where it fits on no Macs that have it, from one that
// has the revision.
func TestAModelThatIsCopiedFirst(t *testing.T) {
	none, part := lacks(api.ReasonNoSuchModel, 0), lacks(api.ReasonModelIncomplete, 2)
	denied := lacks(api.ReasonPermissionDenied, 0)
	for _, c := range []struct {
		name   string
		asked  api.Placement
		models []*api.FoundModel
		want   string
	}{
		{"not where one has it", api.Placement{}, []*api.FoundModel{none, part, has("a", 50)},
			`mac-2 at "a", 56 GiB each; no_such_model: mac-0 has no org/m, so it is left out; model_incomplete: mac-1 lacks 2 files of org/m, so it is left out`},
		{"to a second, for its size", api.Placement{}, []*api.FoundModel{none, has("a", 150), denied},
			`mac-0 mac-1 at "a", 83.5 GiB each; mac-0 copies it from mac-1; permission_denied: mac-2: org/m: The system does not allow Fulmen to read it, so it is left out`},
		{"to those that are named", api.Placement{Nodes: ids(1, 2)}, []*api.FoundModel{has("a", 9), part, none},
			`mac-1 mac-2 at "a", 5.9 GiB each; mac-1 copies it from mac-0; mac-2 copies it from mac-0`},
		{"another revision too", api.Placement{Ranks: 3}, []*api.FoundModel{has("a", 30), has("b", 30), none},
			`mac-0 mac-1 mac-2 at "a", 12 GiB each; mac-1 copies it from mac-0; mac-2 copies it from mac-0`},
		{"from one that is excluded", api.Placement{ExcludedNodes: ids(2)}, []*api.FoundModel{none, none, has("a", 9)},
			`mac-0 at "a", 10.8 GiB each; mac-0 copies it from mac-2`},
		{"not where all are too small", api.Placement{MaxNodes: 2}, []*api.FoundModel{none, has("a", 300), none},
			"not_enough_memory: mac-0 has 100 GiB of GPU memory, and a rank needs 166 GiB; not_enough_memory: mac-1 has 100 GiB of GPU memory, and a rank needs 166 GiB" +
				" -> Ask for less memory a rank, or wait."},
		{"not without a revision", api.Placement{Ranks: 2}, []*api.FoundModel{has("", 9), none, none},
			"no_such_model: mac-1 has no org/m; no_such_model: mac-2 has no org/m -> mac-1 has no org/m. On mac-1, run: fulmen models copy org/m --from mac-0"},
		{"from nowhere", api.Placement{}, []*api.FoundModel{none, none, none},
			"no_such_model: mac-0 has no org/m; no_such_model: mac-1 has no org/m; no_such_model: mac-2 has no org/m -> " +
				"`fulmen models` lists them. Folders of your own are named in the configuration: models.folders."},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(newScenario(3).meshed(evenly(80)).placed(c.asked, true, c.models...), c.want)
		})
	}
}

// With shares the model fits where the Macs hold it together, as unlike as they are.
func TestAModelInShares(t *testing.T) {
	is := is.New(t)
	d := macsWith([]int64{80, 40, 20}, 10, 10, 10)
	in := d.input(api.Placement{ShareBy: api.ShareByMemory}, nil)
	in.Spec.Model = api.ModelSelect{Model: "org/m"}
	for i := range in.Nodes {
		in.Nodes[i].Model = has("a", 100)
	}
	p := Plan(in).Plan
	is.Equal(d.namesOf(nodesOf(p)), "mac-0 mac-1")
	is.Equal((p.Ranks[0].MemoryBytes+p.Ranks[1].MemoryBytes+gib/2)/gib, int64(112)) // the weights, a tenth of them, and 1 GiB a rank
	is.Equal((p.Ranks[1].MemoryBytes+gib/2)/gib, int64(40))                         // all that it has
}

// A random job with a model gets the plan that it would get if it asked for the fewest
// nodes, and the memory a rank, with which there is one among the Macs that have the
// revision; and where there is none, there is none.
func TestModelsAreCountedAsTheirMemory(t *testing.T) {
	is := is.New(t)
	several, refused := 0, 0
	for seed := range testkit.Upto(t, clusters(300)) {
		r := seed.Source(15)
		d := randomScenario(r, 6)
		p := randomPlacement(r, d)
		p.MemoryBytes = 0
		size := int64(1 + r.IntN(150))
		for i := range d.nodes {
			switch r.IntN(6) {
			case 0:
				d.nodes[i].Model = lacks(api.ReasonNoSuchModel, 0)
			case 1:
				d.nodes[i].Model = lacks(api.ReasonModelIncomplete, 1)
			case 2:
				d.nodes[i].Model = has("b", size)
			default:
				d.nodes[i].Model = has("a", size)
			}
		}
		in := d.input(p, seed.Source(16))
		in.Spec.Model = api.ModelSelect{Model: "org/m"}
		d0, wrong := demandOf(&in.Spec)
		if wrong != nil {
			continue
		}
		got := Plan(in)
		revision := in.modelOf(d0).revision
		plain := d.input(p, nil)
		for i := range d.nodes {
			if m := d.nodes[i].Model; m.Problem != nil || m.Revision != revision {
				plain.Nodes[slices.IndexFunc(plain.Nodes, func(n Node) bool { return n.ID == d.nodes[i].ID })].Refusal = api.ReasonJobsNotShared
			}
		}
		most := len(d.nodes)
		if d0.most > 0 {
			most = min(most, d0.most)
		}
		var want *api.Plan
		for n := d0.least; n <= most && want == nil; n++ {
			plain.Spec.Placement = p
			plain.Spec.Placement.Ranks, plain.Spec.Placement.MinNodes, plain.Spec.Placement.MaxNodes = n, 0, 0
			plain.Spec.Placement.MemoryBytes = (size*gib+size*gib/10+int64(n)-1)/int64(n) + gib
			want = Plan(plain).Plan
		}
		if (got.Plan == nil) != (want == nil) || want != nil && (!slices.Equal(nodesOf(got.Plan), nodesOf(want)) || got.Plan.Ranks[0].MemoryBytes != want.Ranks[0].MemoryBytes) {
			t.Fatalf("seed %d: %+v is planned, and not %+v, for %+v (%v)", seed, got.Plan, want, p, got.Err())
		}
		switch {
		case want == nil:
			refused++
			for _, c := range got.Rejections {
				is.True(c.Message != "")
			}
		case len(want.Ranks) > 1:
			several++
		}
	}
	is.True(several > 10 && refused > 10)
}
