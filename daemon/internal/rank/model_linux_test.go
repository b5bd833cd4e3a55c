package rank

import (
	"context"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/prepare"
)

// A program is given its model's folder on this Mac, which is looked for when it starts,
// at the plan's revision; {model} stands for it only where the job has a model.
func TestARankWithAModel(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	m.preparer.env = []string{"FULMEN_MODEL=/of/another", "FULMEN_MODEL_REVISION=x", "FULMEN_SHARDING=y"}
	asked := ""
	found := api.FoundModel{Path: "/models/a b", Revision: "abc"}
	m.config = func(c *Config) {
		c.Model = func(_ context.Context, spec api.JobSpec, _ prepare.Account, revision string) api.FoundModel {
			asked = spec.Model.Model + "@" + revision
			return found
		}
	}
	m.boot()
	const script = `echo "$0 $1"; env | grep -E '^FULMEN_(MODEL|SHARDING)' | sort`
	run := func(sel api.ModelSelect) (api.Rank, string) {
		t.Helper()
		m.job = api.NewJobID()
		spec := m.spec(script)
		spec.Program.Command = append(spec.Program.Command, "{model}", "--at={model}/x{model}")
		if spec.Model = sel; sel.Model != "" {
			spec.Sharding = api.ShardingPipeline
		}
		p := m.params(spec)
		if sel.Model != "" {
			p.Plan.Model = &api.PlanModel{Model: sel.Model, Revision: "abc"}
		}
		m.mustStart(p)
		return m.until(p.Rank, api.RankExited), m.output(p.Rank)
	}
	doc, printed := run(api.ModelSelect{Model: "org/m", Revision: "main"})
	is.Equal(doc.Exit.Status(), 0)
	is.Equal(printed, "/models/a b --at=/models/a b/x/models/a b\nFULMEN_MODEL=/models/a b\nFULMEN_MODEL_REVISION=abc\nFULMEN_SHARDING=pipeline\n")
	is.Equal(asked, "org/m@abc")
	found.Problem = new(api.NewError(api.ReasonNoSuchModel, "org/m").Cause())
	doc, _ = run(api.ModelSelect{Model: "org/m"})
	is.Equal(doc.Reason, api.ReasonNoSuchModel)
	is.Equal(doc.Exit, nil)
	_, printed = run(api.ModelSelect{})
	is.Equal(printed, "{model} --at={model}/x{model}\n")
}
