package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// TestModelsVerify ends with 1 where a file is corrupt, after it has shown what was found.
func TestModelsVerify(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	progress := []api.ModelProgress{{DoneBytes: 1, TotalBytes: 2}, {DoneBytes: 2, TotalBytes: 2, Verified: 3}}
	r.daemon.SetStream("model.verify", func(json.RawMessage) (any, func(func(any) error), error) {
		return api.ModelVerifyStarted{Sub: "s1", Model: api.Model{Model: "org/name"}}, func(notify func(any) error) {
			for n, p := range progress {
				_ = notify(api.ModelVerified{Sub: "s1", N: uint64(n + 1), Progress: p, Terminal: n == len(progress)-1})
			}
		}, nil
	})
	is.Equal(r.run("models", "verify", "org/name", "--revision", "main"), api.ExitOK)
	is.Equal(r.out.String(), "3 files of org/name verified, 2 B.\n")
	is.Equal(r.called("model.verify"), []string{`{"model":"org/name","revision":"main"}`})
	progress[1].Error = api.NewError(api.ReasonModelCorrupt, "org/name")
	is.Equal(r.run("models", "verify", "org/name"), api.ExitFailed)
	is.True(strings.Contains(r.err.String(), "Remove these files and fetch the model again."))
	is.Equal(r.run("models", "verify"), api.ExitUsage)
}

// TestModelsCopy copies to this Mac, or to others at once, and says what came of each.
func TestModelsCopy(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	last := api.ModelProgress{DoneBytes: 2 << 20, TotalBytes: 2 << 20, Verified: 3}
	failing := api.NodeRef("")
	r.daemon.Always("daemon.info", api.DaemonInfoResult{Node: studio, Cluster: "0123456789abcdef0123456789abcdef"})
	r.daemon.SetStream("model.copy", func(raw json.RawMessage) (any, func(func(any) error), error) {
		var params api.ModelCopyParams
		if err := json.Unmarshal(raw, &params); err != nil {
			return nil, nil, err
		}
		started := api.ModelCopyStarted{Sub: api.Subscription("s" + string(params.To)), Node: studio, To: mini}
		return started, func(notify func(any) error) {
			p := last
			if params.To == failing {
				p.Error = api.NewError(api.ReasonModelsNotShared, string(params.To))
			}
			_ = notify(api.ModelCopied{Sub: started.Sub, N: 1, Progress: p, Terminal: true})
		}, nil
	})
	failing = "nobody"
	is.Equal(r.run("models", "copy", "org/name", "--from", "mac-studio"), api.ExitOK)
	is.True(strings.HasPrefix(r.out.String(), "3 files of org/name copied from "))
	is.True(strings.HasSuffix(r.out.String(), ", 2.00 MiB.\n"))
	is.Equal(r.called("model.copy"), []string{`{"model":"org/name","node":"mac-studio"}`})
	failing = "macbook"
	is.Equal(r.run("models", "copy", "org/name", "--to", "mac-mini,macbook"), api.ExitFailed)
	is.Equal(strings.Count(r.out.String(), "copied from"), 2) // of before, and to the other Mac
	is.True(strings.Contains(r.err.String(), "fulmen sharing set models=mapped"))
	is.Equal(r.run("models", "copy", "org/name"), api.ExitUsage)
	is.True(strings.Contains(r.err.String(), "--from MAC"))

	r.daemon.Always("model.shared", api.ModelListResult{Account: "ada"})
	is.Equal(r.run("models", "--on", "mac-studio"), api.ExitOK)
	is.True(strings.Contains(r.out.String(), "no models on mac-studio"))
}

// TestModelsOfTheCluster lists the models of all Macs in a cluster, else those of this Mac
// with its folders.
func TestModelsOfTheCluster(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.daemon.Always("model.list", api.ModelListResult{Account: "ada"})
	r.daemon.Always("model.cluster", api.ModelClusterResult{Nodes: []api.ModelNodeAnswer{{Node: studio, Account: "ada"}}})
	is.Equal(r.run("models"), api.ExitOK)
	is.True(strings.Contains(r.out.String(), "The account ada has no models on this Mac"))
	r.daemon.Always("model.cluster", api.ModelClusterResult{
		Nodes:  []api.ModelNodeAnswer{{Node: studio, Account: "ada"}, {Node: mini, Account: "bob"}},
		Models: []api.ModelOnNodes{{Model: api.Model{Model: "org/name"}, On: []api.ModelOnNode{{Node: mini, Complete: new(true)}}}},
	})
	is.Equal(r.run("models"), api.ExitOK)
	is.True(strings.Contains(r.out.String(), "org/name"))
	is.True(strings.Contains(r.out.String(), "complete"))
}

// TestModelsRemove says what it frees and asks; a script says --yes.
func TestModelsRemove(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.daemon.Always("model.remove", api.ModelRemoveResult{Account: "ada", Model: api.Model{Model: "org/name", Revision: "0123456789abcdef"}, FreedBytes: 3 << 20, Jobs: []api.JobID{jobA}})
	is.Equal(r.run("models", "remove", "org/name"), api.ExitFailed)
	is.True(strings.Contains(r.err.String(), "fulmen models remove org/name --yes"))
	is.Equal(r.run("models", "remove", "org/name", "--dry-run"), api.ExitOK)
	is.True(strings.HasPrefix(r.out.String(), "org/name 01234567: removing it frees 3.00 MiB.\nThe job "+string(jobA)+" uses it."))
	is.Equal(r.run("models", "remove", "org/name", "--yes"), api.ExitOK)
	is.Equal(r.called("model.remove")[3:], []string{`{"model":"org/name"}`}) // after two trials, and one more before it
}
