package prepare_test

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/model/inventory"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/rank/prepare"
)

// allows is a policy by which everybody's jobs run as one account, unless there is a reason.
type allows struct {
	account string
	not     api.Reason
}

func (a *allows) Allows(api.Principal) (string, api.Reason) { return a.account, a.not }

// member is the one node that there is.
type member struct {
	peertest.Anybody
	key ed25519.PublicKey
}

func (m member) PublicKey(api.NodeID) (ed25519.PublicKey, bool) { return m.key, true }
func (m member) SignerKey(api.NodeID) (ed25519.PublicKey, bool) { return m.key, true }

// A node says what it has of a job's model: where it is, at which revision and how large,
// or what is missing of it.
func TestWhatANodeHasOfAModel(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "", nil)
	cache, plain := filepath.Join(r.ada.Home, ".cache/huggingface/hub/models--org--m"), filepath.Join(r.ada.Home, "models")
	revision, older := "0123456789abcdef0123456789abcdef01234567", "1123456789abcdef0123456789abcdef01234567"
	for path, text := range map[string]string{
		cache + "/refs/main": revision, cache + "/snapshots/" + revision + "/config.json": "{}", cache + "/snapshots/" + revision + "/model.gguf": "12345",
		cache + "/snapshots/" + older + "/config.json": "{}", cache + "/snapshots/" + older + "/model.gguf": "123",
		plain + "/whole/config.json": "{}", plain + "/whole/model.gguf": "1234",
		plain + "/part/config.json": "{}", plain + "/part/model-00001-of-00003.gguf": "1234",
		plain + "/several/a.gguf": "1", plain + "/several/b.gguf": "2",
		plain + "/broken/config.json": "{", plain + "/broken/model.gguf": "1234",
	} {
		is.NoErr(os.MkdirAll(filepath.Dir(path), 0o755))
		is.NoErr(os.WriteFile(path, []byte(text), 0o644))
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	self := api.NodeIDFromKey(key.Public().(ed25519.PublicKey))
	book := member{key: key.Public().(ed25519.PublicKey)}
	peers := peer.New(self, peertest.NewNetwork().Add(self), peertest.NewGate(gate.Config{Self: self, Clock: r.config.Clock, Electors: peertest.Electors(book, nil),
		Known: func(api.JobID) (gate.Known, bool) { return gate.Known{}, false }}))
	policy := &allows{account: "nobody"}
	if os.Getuid() != 0 {
		me, err := user.Current()
		is.NoErr(err)
		policy.account = me.Username
	}
	prepare.NewPrograms(prepare.ProgramsConfig{
		Node: self, Clock: r.config.Clock, Peers: peers, Policy: policy, Preparer: r.Preparer, Log: slog.New(slog.DiscardHandler),
		Name: func(api.NodeID) string { return "mac" },
		Model: func(_ context.Context, _ api.Principal, sel api.ModelSelect) (api.ModelShowResult, error) {
			all := inventory.Open(inventory.Places{Home: r.ada.Home, Folders: []string{plain}})
			defer all.Close()
			return all.Show(sel)
		},
	})
	ask := func(sel api.ModelSelect, planned string) api.Preflight {
		t.Helper()
		request := api.JobRequest{Program: api.Program{Command: []string{"true"}}, Model: sel}
		spec := request.Spec(api.NewJobID(), api.Principal{User: "anna", Node: self}, api.TimeOf(r.config.Clock.Now()))
		spec.Home, spec.Look, spec.ExpiresAt = self, true, api.TimeOf(spec.SubmittedAt.Add(time.Minute))
		raw, sig, err := api.SignSpec(book.Cluster(), key, spec)
		is.NoErr(err)
		params := api.PeerPreflightParams{Warrant: api.Warrant{Spec: raw, SpecSig: sig}, Epoch: 1, ModelOnly: true, ModelRevision: planned}
		var answer api.Preflight
		is.NoErr(peers.Call(t.Context(), self, "peer.preflight", params, &answer))
		is.Equal(answer.Directory, "") // nothing else was looked for
		return answer
	}
	at := func(revision string) string { return cache + "/snapshots/" + revision }
	reason := func(a api.Preflight) api.Reason {
		if a.Model.Problem == nil {
			return ""
		}
		return a.Model.Problem.Reason
	}
	is.Equal(*ask(api.ModelSelect{Model: "org/m"}, "").Model, api.FoundModel{Path: at(revision), Revision: revision, WeightsBytes: new(int64(5))})
	is.Equal(ask(api.ModelSelect{Model: "org/m", Revision: "112"}, "").Model.Path, at(older))
	is.Equal(ask(api.ModelSelect{Model: "org/m"}, older).Model.Path, at(older)) // the plan's comes first
	is.Equal(*ask(api.ModelSelect{Model: "whole"}, "").Model, api.FoundModel{Path: plain + "/whole", WeightsBytes: new(int64(4))})
	is.Equal(reason(ask(api.ModelSelect{Model: "org/other"}, "")), api.ReasonNoSuchModel)
	is.Equal(reason(ask(api.ModelSelect{Model: "org/m", Revision: "gone"}, "")), api.ReasonNoSuchModel)
	is.Equal(reason(ask(api.ModelSelect{Model: plain + "/../secret"}, "")), api.ReasonNoSuchModel)
	part := ask(api.ModelSelect{Model: "part"}, "")
	is.Equal(reason(part), api.ReasonModelIncomplete)
	is.Equal(part.Model.MissingCount, 2)
	several := ask(api.ModelSelect{Model: "several"}, "")
	is.Equal(reason(several), api.Reason(""))
	is.Equal(several.Model.Unknown["weights_bytes"], api.ReasonSeveralWeights)
	is.True(reason(ask(api.ModelSelect{Model: "broken"}, "")) != "")
	policy.not = api.ReasonJobsNotShared
	refused := ask(api.ModelSelect{Model: "org/m"}, "")
	is.Equal(refused.Model, nil)
	is.Equal(refused.Problems[0].Reason, api.ReasonJobsNotShared)
}

// copying is a copy of a model as it goes.
type copying struct {
	steps []api.ModelProgress
	close func()
}

func (c *copying) Next(context.Context) (p api.ModelProgress, isLast bool, err error) {
	p, c.steps = c.steps[0], c.steps[1:]
	return p, len(c.steps) == 0, nil
}

func (c *copying) Close() { c.close() }

// A job's model comes from its submitter's node, or from one of which somebody may run jobs
// as the same account; while somebody else copies it, that is waited for.
func TestFetchModel(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "", nil)
	key := func(n byte) api.NodeID {
		seed := make([]byte, ed25519.SeedSize)
		seed[0] = n
		return api.NodeIDFromKey(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey))
	}
	self, submitter, other := key(0), key(1), key(2)
	var users []api.MappedUser
	var asked []string
	var refusals []error
	open := 0
	peers := peer.New(self, peertest.NewNetwork().Add(self), peertest.NewGate(gate.Config{Self: self, Clock: r.config.Clock,
		Known: func(api.JobID) (gate.Known, bool) { return gate.Known{}, false }}))
	programs := prepare.NewPrograms(prepare.ProgramsConfig{
		Node: self, Clock: r.config.Clock, Peers: peers, Preparer: r.Preparer, Log: slog.New(slog.DiscardHandler),
		Name: func(n api.NodeID) string { return n.Display() }, Users: func() []api.MappedUser { return users },
		CopyModel: func(_ context.Context, who api.Principal, from api.NodeID, sel api.ModelSelect) (prepare.ModelCopy, error) {
			asked = append(asked, who.String()+" from "+string(from)+": "+sel.Model+"@"+sel.Revision)
			open++
			c := &copying{steps: []api.ModelProgress{{DoneBytes: 1, TotalBytes: 2}, {DoneBytes: 2, TotalBytes: 2}}, close: func() { open-- }}
			if len(refusals) > 0 {
				c.steps[1].Error = api.AsError(refusals[0])
				refusals = refusals[1:]
			}
			return c, nil
		},
	})
	account := prepare.Account{Name: "ada", Home: r.ada.Home}
	fetch := func(from api.NodeID) (reason api.Reason, last api.ModelProgress) {
		spec := api.JobSpec{Principal: api.Principal{User: "bob", Node: submitter}, Model: api.ModelSelect{Model: "org/m", Revision: "main"}}
		err := programs.FetchModel(t.Context(), spec, account, from, "abc", func(p api.ModelProgress) { last = p })
		if err != nil {
			reason = api.AsError(err).Data.Reason
		}
		return reason, last
	}
	reason, last := fetch(submitter)
	is.Equal(reason, api.Reason(""))
	is.Equal(last.DoneBytes, int64(1))
	is.Equal(asked, []string{"ada@" + string(self) + " from " + string(submitter) + ": org/m@abc"})
	for _, c := range []struct {
		line api.MappedUser
		want api.Reason
	}{
		{api.MappedUser{}, api.ReasonPrincipalUnmapped},
		{api.MappedUser{Node: other, Account: "eve"}, api.ReasonPrincipalUnmapped},
		{api.MappedUser{Node: submitter, Account: "ada"}, api.ReasonPrincipalUnmapped},
		{api.MappedUser{Node: other, Account: "ada", Nobody: true}, api.ReasonPrincipalUnmapped},
		{api.MappedUser{Node: other, Account: "ada"}, ""},
		{api.MappedUser{Principal: api.Principal{User: "x", Node: other}, Account: "ada"}, ""},
		{api.MappedUser{Members: true, Account: "ada"}, ""},
	} {
		users = []api.MappedUser{c.line}
		reason, _ := fetch(other)
		is.Equal(reason, c.want)
	}
	refusals = []error{api.NewError(api.ReasonDiskFull, "")}
	reason, _ = fetch(submitter)
	is.Equal(reason, api.ReasonDiskFull)
	asked, refusals = nil, []error{api.NewError(api.ReasonModelCopying, "")}
	reason, _ = fetch(submitter)
	is.Equal(reason, api.Reason(""))
	is.Equal(len(asked), 2)
	is.Equal(open, 0)
}
