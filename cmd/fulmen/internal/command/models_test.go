package command

import (
	"encoding/json"
	"slices"
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

// TestModelsGet from Hugging Face once, by this Mac where it is among them, and copies it to
// the others; a Mac that cannot is named, and the others go on.
func TestModelsGet(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.daemon.Always("daemon.info", api.DaemonInfoResult{Node: studio, Cluster: "0123456789abcdef0123456789abcdef"})
	refusing := map[api.NodeRef]bool{}
	ids := map[api.NodeRef]api.NodeID{"": studio, api.NodeRef(studio): studio, "mac-mini": mini, api.NodeRef(mini): mini, "macbook": "axwfk1even66ca3j"}
	r.daemon.SetStream("model.copy", func(raw json.RawMessage) (any, func(func(any) error), error) {
		var params api.ModelCopyParams
		if err := json.Unmarshal(raw, &params); err != nil {
			return nil, nil, err
		}
		started := api.ModelCopyStarted{Sub: api.Subscription("s" + string(params.To)), Node: api.NodeID(params.Node), To: ids[params.To]}
		return started, func(notify func(any) error) {
			p := api.ModelProgress{DoneBytes: 2 << 20, TotalBytes: 2 << 20, Verified: 2, Unverified: 1}
			if refusing[params.To] && params.Node == "" {
				p.Error = api.NewError(api.ReasonModelGated, "org/name")
			}
			_ = notify(api.ModelCopied{Sub: started.Sub, N: 1, Progress: p, Terminal: true})
		}, nil
	})
	asked := 0
	wanted := func(want ...string) {
		t.Helper()
		all := r.called("model.copy")
		got := slices.Clone(all[asked:])
		asked = len(all)
		if len(got) > 2 {
			slices.Sort(got[1:]) // those that copy begin at once
		}
		is.Equal(got, want)
	}
	is.Equal(r.run("models", "get", "org/name", "--revision", "v1"), api.ExitOK)
	is.True(strings.HasPrefix(r.out.String(), "3 files of org/name copied from Hugging Face to "))
	wanted(`{"model":"org/name","revision":"v1"}`)

	is.Equal(r.run("models", "get", "org/name", "--on", "mac-mini,"+string(studio)+",macbook"), api.ExitOK)
	wanted(`{"model":"org/name"}`, `{"model":"org/name","node":"`+string(studio)+`","to":"mac-mini"}`, `{"model":"org/name","node":"`+string(studio)+`","to":"macbook"}`)

	refusing["macbook"] = true // but it may copy
	is.Equal(r.run("models", "get", "org/name", "--on", "macbook,mac-mini"), api.ExitOK)
	wanted(`{"model":"org/name","to":"macbook"}`, `{"model":"org/name","node":"`+string(mini)+`","to":"macbook"}`, `{"model":"org/name","to":"mac-mini"}`)
	is.Equal(r.run("models", "get", "org/name", "--on", "macbook"), api.ExitFailed)
	wanted(`{"model":"org/name","to":"macbook"}`)
	is.True(strings.Contains(r.err.String(), "fulmen: macbook is left out: org/name: Hugging Face does not give the model to the account."))
	is.True(strings.Contains(r.err.String(), "hf auth login"))

	r.daemon.Always("model.cluster", api.ModelClusterResult{Nodes: []api.ModelNodeAnswer{
		{Node: studio}, {Node: mini}, {Node: "axwfk1even66ca3j", Error: api.NewError(api.ReasonModelsNotShared, "")},
	}})
	is.Equal(r.run("models", "get", "org/name", "--all"), api.ExitOK)
	wanted(`{"model":"org/name"}`, `{"model":"org/name","node":"`+string(studio)+`","to":"`+string(mini)+`"}`)
	is.True(strings.Contains(r.err.String(), "is left out: The Mac does not let people of other Macs read its models."))
	is.Equal(r.run("models", "get", "org/name", "--all", "--on", "macbook"), api.ExitUsage)
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

// TestModelsCopyInAChain: each Mac gets the revision from the one before it once that gets
// some itself, and from the first one where that cannot send it, or no longer.
func TestModelsCopyInAChain(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	const revision = "0123456789abcdef"
	ids := map[api.NodeRef]api.NodeID{"bbbb": studio, "cccc": mini, "dddd": book}
	failing := map[api.NodeRef]bool{}
	r.daemon.Always("daemon.info", api.DaemonInfoResult{Node: studio, Cluster: "0123456789abcdef0123456789abcdef"})
	r.daemon.SetStream("model.copy", func(raw json.RawMessage) (any, func(func(any) error), error) {
		var params api.ModelCopyParams
		if err := json.Unmarshal(raw, &params); err != nil {
			return nil, nil, err
		}
		started := api.ModelCopyStarted{Sub: api.Subscription("s" + params.To + params.Node), Node: studio, To: ids[params.To]}
		return started, func(notify func(any) error) {
			p := api.ModelProgress{Revision: revision, DoneBytes: 1, TotalBytes: 2}
			_ = notify(api.ModelCopied{Sub: started.Sub, N: 1, Progress: p})
			p.DoneBytes, p.Verified = 2, 1
			if failing[params.Node] {
				p.Error = api.NewError(api.ReasonModelsNotShared, string(params.Node))
			}
			_ = notify(api.ModelCopied{Sub: started.Sub, N: 2, Progress: p, Terminal: true})
		}, nil
	})
	is.Equal(r.run("models", "copy", "org/name", "--from", "mac-studio", "--to", "bbbb,cccc,dddd"), api.ExitOK)
	first := `{"model":"org/name","node":"mac-studio","to":"bbbb"}`
	last := `{"model":"org/name","revision":"` + revision + `","node":"` + string(mini) + `","to":"dddd"}`
	is.Equal(r.called("model.copy"), []string{first, `{"model":"org/name","revision":"` + revision + `","node":"` + string(studio) + `","to":"cccc"}`, last})
	failing[api.NodeRef(studio)] = true
	is.Equal(r.run("models", "copy", "org/name", "--from", "mac-studio", "--to", "bbbb,cccc,dddd"), api.ExitOK)
	is.True(slices.Contains(r.called("model.copy")[3:], `{"model":"org/name","node":"mac-studio","to":"cccc"}`))
	is.True(slices.Contains(r.called("model.copy")[3:], last))
}
