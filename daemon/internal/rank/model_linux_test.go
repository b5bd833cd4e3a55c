package rank

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

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

// A rank copies its model from the node of the plan, unless it is there by now, and all get
// to know how far that is.
func TestARankCopiesItsModel(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	var isHere atomic.Bool
	var copies atomic.Int32
	seen := make(chan api.RankFetch)
	var why error
	m.config = func(c *Config) {
		c.Model = func(context.Context, api.JobSpec, prepare.Account, string) api.FoundModel {
			if isHere.Load() {
				return api.FoundModel{Path: "/models/a", Revision: "abc"}
			}
			return api.FoundModel{Problem: new(api.NewError(api.ReasonNoSuchModel, "org/m").Cause())}
		}
		c.FetchModel = func(ctx context.Context, _ api.JobSpec, _ prepare.Account, from api.NodeID, revision string, moved func(api.ModelProgress)) error {
			copies.Add(1)
			if why != nil || from != m.homeID || revision != "abc" {
				return why
			}
			moved(api.ModelProgress{DoneBytes: 1, TotalBytes: 4})
			doc := api.Rank{}
			eventually(t, "progress", func() bool {
				doc, _ = m.doc(api.RankRef{Job: m.job, Attempt: 1})
				return doc.Fetching != nil
			})
			seen <- *doc.Fetching
			isHere.Store(true)
			return nil
		}
	}
	m.boot()
	start := func(change func(*api.PeerStartParams)) (api.RankRef, error) {
		t.Helper()
		m.job = api.NewJobID()
		spec := m.spec("echo $FULMEN_MODEL")
		spec.Model, spec.FetchModel = api.ModelSelect{Model: "org/m"}, true
		p := m.params(spec)
		p.Plan.Model = &api.PlanModel{Model: "org/m", Revision: "abc"}
		p.Plan.Ranks[0].ModelFrom = m.homeID
		if change != nil {
			change(&p)
		}
		return p.Rank, m.start(p)
	}
	ref, err := start(nil)
	is.NoErr(err)
	is.Equal(<-seen, api.RankFetch{From: m.homeID, DoneBytes: 1, TotalBytes: 4})
	doc := m.until(ref, api.RankExited)
	is.Equal(m.output(ref), "/models/a\n")
	is.Equal(doc.Fetching, nil)
	ref, err = start(nil) // it is there by now
	is.NoErr(err)
	m.until(ref, api.RankExited)
	is.Equal(copies.Load(), int32(1))
	isHere.Store(false)
	why = api.NewError(api.ReasonDiskFull, "")
	ref, err = start(nil)
	is.NoErr(err)
	is.Equal(m.until(ref, api.RankExited).Reason, api.ReasonDiskFull)
	_, err = start(func(p *api.PeerStartParams) { p.Plan.Ranks[0].ModelFrom = m.id })
	is.Equal(api.AsError(err).Data.Reason, api.ReasonBadValue)
}

// How far a copy is is published now and then, with what its rate says.
func TestFetchProgress(t *testing.T) {
	is := is.New(t)
	var f fetchProgress
	at := func(done int64, now time.Duration) *api.RankFetch {
		return f.of(api.ModelProgress{DoneBytes: done, TotalBytes: 100}, "n", now)
	}
	is.Equal(f.of(api.ModelProgress{}, "n", time.Second), nil) // nothing is known
	is.Equal(*at(40, 10*time.Second), api.RankFetch{From: "n", DoneBytes: 40, TotalBytes: 100})
	is.Equal(at(45, 11*time.Second), nil)
	is.Equal(*at(60, 14*time.Second), api.RankFetch{From: "n", DoneBytes: 60, TotalBytes: 100, LeftS: new(8.0)})
}
