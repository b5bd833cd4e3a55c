package model_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/model"
	"fulmen/daemon/internal/model/hub"
	"fulmen/daemon/internal/model/hub/hubtest"
	"fulmen/daemon/internal/model/inventory"
	"fulmen/daemon/internal/model/transfer"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/rank/prepare/account"
	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/native"
	"fulmen/native/nativetest/testkit"
)

// TestMain makes this program the reading process as well, as fulmend is.
func TestMain(m *testing.M) {
	if len(os.Args) != 2 {
		os.Exit(m.Run())
	}
	var err error
	switch os.Args[1] {
	case model.Command:
		err = inventory.Serve(os.Stdin, os.Stdout)
	case transfer.SendCommand:
		err = transfer.Send(os.Stdin, os.Stdout)
	case hub.Command:
		err = hub.Get(os.Stdin, os.NewFile(3, "reports"))
	case transfer.ReceiveCommand:
		err = transfer.Receive(os.Stdin, os.Stdout, os.NewFile(3, "reports"))
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// plans are those of jobs that go on on both nodes, python is what the configuration
// names, and logged is what got into the log.
var (
	public remembered
	ways   []model.Way
	plans  map[api.JobID]api.Plan
	python string
	logged testkit.Log
)

// token is that of the account, which is for Hugging Face alone.
const token = "hf_aSecretOfAdaAlone"

const (
	here  = api.NodeID("csm7nbfrcayqev4e")
	there = api.NodeID("axwfk1even66ca3j")
	slow  = api.NodeID("j79r4zr55xd4ph64")
)

// rig is the models of an account, whose HF_HOME is hf in its home folder.
func rig(t *testing.T) (*model.Models, account.Account, *[]string) {
	return rigOf(t, here, peertest.NewNetwork(), &api.Sharing{})
}

// rigOf is the same of a node of a network; it shares models with all but mallory.
func rigOf(t *testing.T, node api.NodeID, network *peertest.Network, published *api.Sharing) (*model.Models, account.Account, *[]string) {
	who := ranktest.Account(t, "/bin/sh")
	clock, err := native.SystemClock()
	if err != nil {
		t.Fatal(err)
	}
	folders := []string{}
	g := peertest.NewGate(gate.Config{Self: node, Clock: clock, Reads: func(by api.Principal) api.Reason {
		if by.User == "mallory" {
			return api.ReasonModelsNotShared
		}
		return ""
	}})
	m := model.New(model.Config{
		Self: ranktest.Self(t), Clock: clock, Log: slog.New(slog.NewTextHandler(&logged, nil)),
		Account: func(p api.Principal) (account.Account, error) {
			if p.User == "eve" {
				return account.Account{}, api.NewError(api.ReasonPrincipalUnmapped, p.String())
			}
			return who, nil
		},
		Peers:   peer.New(node, network.Add(node), g),
		IsSlow:  func(n api.NodeID) bool { return n == slow },
		Ways:    func(api.NodeID) []model.Way { return ways },
		Plans:   func() map[api.JobID]api.Plan { return plans },
		Sharing: func(api.NodeID) (api.Sharing, bool) { return *published, published.Jobs != "" },
		Reads: func(by api.Principal) (account.Account, bool, error) {
			if by.User == "member" {
				return account.Account{}, true, nil
			}
			return who, false, nil
		},
		Named: func(name string) (account.Account, error) {
			if name != who.Name {
				return account.Account{}, api.NewError(api.ReasonAccountForbidden, name)
			}
			return who, nil
		},
		Public: &public,
		Environment: func(context.Context, account.Account) []string {
			return []string{"HF_HOME=" + filepath.Join(who.Home, "hf"), "HF_TOKEN=" + token}
		},
		Folders: func() []string { return folders }, HubCache: func() string { return "" }, Python: func() string { return python },
	})
	t.Cleanup(func() { m.Close() })
	return m, who, &folders
}

// TestAsTheAccount: what the account can read is listed, what only another can is not.
func TestAsTheAccount(t *testing.T) {
	is := is.New(t)
	m, who, folders := rig(t)
	ada := api.Principal{User: "ada"}
	ranktest.Write(t, who, who.Home, map[string]string{
		"hf/hub/models--org--name/snapshots/abc/config.json": `{"model_type":"llama"}`, "hf/hub/models--org--name/refs/main": "abc",
	})
	list, err := m.List(t.Context(), ada)
	is.NoErr(err)
	is.Equal(list.Account, who.Name)
	is.Equal(len(list.Models), 1)
	is.Equal(list.Models[0].Model, "org/name")

	closed := ranktest.Folder(t)
	ranktest.Write(t, who, closed, map[string]string{"model.gguf": "1234"})
	*folders = []string{closed} // it counts at once
	list, err = m.List(t.Context(), ada)
	is.NoErr(err)
	is.Equal(len(list.Models), 2)
	if os.Getuid() == 0 {
		is.NoErr(os.Chown(closed, 0, 0))
		is.NoErr(os.Chmod(closed, 0o700))
		*folders = []string{closed, "/nowhere"}
		list, err = m.List(t.Context(), ada)
		is.NoErr(err)
		is.Equal(len(list.Models), 1)
		is.Equal(list.Folders[1].Error.Data.Reason, api.ReasonPermissionDenied)
	}

	_, err = m.List(t.Context(), api.Principal{User: "eve"})
	is.Equal(api.AsError(err).Data.Reason, api.ReasonPrincipalUnmapped)
	_, err = m.Show(t.Context(), ada, api.ModelSelect{Model: "no/such"})
	is.Equal(api.AsError(err).Data.Reason, api.ReasonNoSuchModel)
	_, err = m.Show(t.Context(), ada, api.ModelSelect{})
	is.Equal(api.AsError(err).Data.Reason, api.ReasonMissingField)
	shown, err := m.Show(t.Context(), ada, api.ModelSelect{Model: "org/name"})
	is.NoErr(err)
	is.Equal(shown.Files[0].Path, "config.json")
}

// TestVerification goes to its end, or ends with who waits for it.
func TestVerification(t *testing.T) {
	is := is.New(t)
	m, who, _ := rig(t)
	ada := api.Principal{User: "ada"}
	blob := strings.Repeat("a", 64)
	ranktest.Write(t, who, who.Home, map[string]string{"hf/hub/models--org--name/blobs/" + blob: strings.Repeat("x", 8<<20)})
	at := filepath.Join(who.Home, "hf/hub/models--org--name/snapshots/abc")
	is.NoErr(os.MkdirAll(at, 0o755))
	is.NoErr(os.Symlink("../../blobs/"+blob, filepath.Join(at, "model.safetensors")))
	verify := func(ctx context.Context) (p api.ModelProgress, err error) {
		v, err := m.Verify(t.Context(), ada, api.ModelSelect{Model: "org/name"})
		is.NoErr(err)
		defer v.Close()
		for isLast := false; !isLast && err == nil; {
			p, isLast, err = v.Next(ctx)
		}
		return p, err
	}
	for range 3 { // each gives its place back
		p, err := verify(t.Context())
		is.NoErr(err)
		is.Equal(p.Error.Data.Reason, api.ReasonModelCorrupt)
		is.Equal(p.DoneBytes, int64(8<<20))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		_, err := verify(ctx)
		is.True(err != nil)
	}
}

// TestCopyToThisMac: a person copies what the other Mac shares with them, and nobody else
// gets anything.
func TestCopyToThisMac(t *testing.T) {
	is := is.New(t)
	network := peertest.NewNetwork()
	var published api.Sharing // nothing is known at first
	m, who, _ := rigOf(t, here, network, &published)
	_, other, _ := rigOf(t, there, network, &published)
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("1234")))
	ranktest.Write(t, other, other.Home, map[string]string{
		"hf/hub/models--org--name/blobs/" + sum: "1234", "hf/hub/models--org--name/refs/main": "abc",
		"hf/hub/models--org--name/snapshots/abc/config.json": `{"model_type":"llama"}`,
	})
	is.NoErr(os.Symlink("../../blobs/"+sum, filepath.Join(other.Home, "hf/hub/models--org--name/snapshots/abc/model.gguf")))
	bob, eve := api.Principal{User: "bob", Node: here}, api.Principal{User: "mallory", Node: here}
	run := func(by api.Principal, name string) api.ModelProgress {
		c, err := m.Copy(t.Context(), by, there, api.ModelSelect{Model: name}, false)
		is.NoErr(err)
		defer c.Close()
		for {
			p, isLast, err := c.Next(t.Context())
			is.NoErr(err)
			if isLast {
				return p
			}
		}
	}
	list, err := m.Shared(t.Context(), bob, there)
	is.NoErr(err)
	is.Equal(list.Models[0].Model, "org/name")
	_, err = m.Shared(t.Context(), eve, there)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonModelsNotShared)
	is.Equal(run(eve, "org/name").Error.Data.Reason, api.ReasonModelsNotShared)
	is.Equal(run(bob, "org/other").Error.Data.Reason, api.ReasonNoSuchModel)
	for range 6 { // more than may run at once: each gives its place back
		p := run(bob, "org/name")
		is.True(p.Error == nil)
		is.Equal(p.DoneBytes, p.TotalBytes)
		is.Equal(p.Verified, 2)
	}
	shown, err := m.Show(t.Context(), bob, api.ModelSelect{Model: "org/name"})
	is.NoErr(err)
	is.True(*shown.Model.Complete)
	is.Equal(shown.Model.Refs, []string{"main"})
	info, err := os.Stat(filepath.Join(who.Home, "hf/hub/models--org--name/blobs", sum))
	is.NoErr(err)
	is.Equal(info.Sys().(*syscall.Stat_t).Uid, who.UID) // it is the account's
	_, err = m.Copy(t.Context(), bob, here, api.ModelSelect{Model: "org/name"}, false)
	is.Equal(api.AsError(err).Data.Subject, "node")
	_, err = m.Copy(t.Context(), bob, there, api.ModelSelect{}, false)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonMissingField)
	_, err = m.Copy(t.Context(), bob, slow, api.ModelSelect{Model: "org/name"}, false)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonSlowNetwork)
	over, err := m.Copy(t.Context(), bob, slow, api.ModelSelect{Model: "org/name"}, true)
	is.NoErr(err)
	over.Close()
	for _, test := range []struct {
		sharing api.Sharing
		want    api.Reason
	}{
		{api.Sharing{Jobs: api.JobsMapped, MappedMembers: true}, api.ReasonModelsNotShared},
		{api.Sharing{Jobs: api.JobsMapped, Models: api.ModelsMapped}, api.ReasonPrincipalUnmapped},
	} {
		published = test.sharing // bob is let in, and yet is not asked for
		_, err = m.Shared(t.Context(), bob, there)
		is.Equal(api.AsError(err).Data.Reason, test.want)
		_, err = m.Copy(t.Context(), bob, there, api.ModelSelect{Model: "org/name"}, false)
		is.Equal(api.AsError(err).Data.Reason, test.want)
	}
}

// TestWhoHasGoneKeepsNoPlace: as many copies as may run wait for what does not arrive; when
// they are ended, the next one begins soon.
func TestWhoHasGoneKeepsNoPlace(t *testing.T) {
	is := is.New(t)
	network := peertest.NewNetwork()
	m, _, _ := rigOf(t, here, network, &api.Sharing{})
	_, other, _ := rigOf(t, there, network, &api.Sharing{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	copied := func(name string) (*model.Copying, api.ModelProgress) {
		c, err := m.Copy(ctx, api.Principal{User: "bob", Node: here}, there, api.ModelSelect{Model: name}, false)
		is.NoErr(err)
		p, _, err := c.Next(ctx)
		is.NoErr(err)
		return c, p
	}
	for _, name := range []string{"org/a", "org/b", "org/c", "org/d"} {
		sum, at := fmt.Sprintf("%x", sha256.Sum256([]byte(name))), "hf/hub/models--"+strings.Replace(name, "/", "--", 1)
		ranktest.Write(t, other, other.Home, map[string]string{at + "/blobs/" + sum: name})
		repo, err := os.OpenRoot(filepath.Join(other.Home, at))
		is.NoErr(err)
		defer repo.Close()
		end, err := transfer.Announce(repo, name, strings.Repeat("a", 40), nil, []transfer.File{{Path: "a", Size: 5, Hash: sum}, {Path: "b", Size: 5, Hash: strings.Repeat("b", 64)}})
		is.NoErr(err)
		defer end()
		c, p := copied(name)
		is.Equal(p.DoneBytes, int64(5))
		c.Close()
	}
	at := "hf/hub/models--org--whole/snapshots/" + strings.Repeat("a", 40)
	ranktest.Write(t, other, other.Home, map[string]string{at + "/config.json": `{"model_type":"llama"}`, at + "/model.gguf": "1234"})
	c, p := copied("org/whole")
	defer c.Close()
	is.True(p.Error == nil)
}

// TestCopyToAnotherMac: the other Mac fetches, as the account that the person is there.
func TestCopyToAnotherMac(t *testing.T) {
	is := is.New(t)
	network := peertest.NewNetwork()
	m, who, _ := rigOf(t, here, network, &api.Sharing{})
	_, other, _ := rigOf(t, there, network, &api.Sharing{})
	ranktest.Write(t, who, who.Home, map[string]string{
		"hf/hub/models--org--name/snapshots/abc/config.json": `{"model_type":"llama"}`, "hf/hub/models--org--name/snapshots/abc/model.gguf": "1234",
	})
	bob := api.Principal{User: "bob", Node: here}
	run := func(by api.Principal, name string) api.ModelProgress {
		c, err := m.CopyTo(t.Context(), by, there, here, api.ModelSelect{Model: name}, false)
		is.NoErr(err)
		defer c.Close()
		for {
			p, isLast, err := c.Next(t.Context())
			is.NoErr(err)
			if isLast {
				return p
			}
		}
	}
	is.Equal(run(api.Principal{User: "mallory", Node: here}, "org/name").Error.Data.Reason, api.ReasonModelsNotShared)
	is.Equal(run(bob, "org/other").Error.Data.Reason, api.ReasonNoSuchModel)
	p := run(bob, "org/name")
	is.True(p.Error == nil)
	is.Equal(p.Verified, 2)
	info, err := os.Stat(filepath.Join(other.Home, "hf/hub/models--org--name/snapshots/abc/model.gguf"))
	is.NoErr(err)
	is.Equal(info.Sys().(*syscall.Stat_t).Uid, other.UID)
	remote, err := m.CopyTo(t.Context(), bob, there, slow, api.ModelSelect{Model: "org/name"}, false)
	is.NoErr(err)
	refused, _, err := remote.Next(t.Context())
	is.NoErr(err)
	is.Equal(refused.Error.Data.Reason, api.ReasonSlowNetwork)
	_, err = m.CopyTo(t.Context(), bob, there, there, api.ModelSelect{Model: "org/name"}, false)
	is.Equal(api.AsError(err).Data.Subject, "to")
}

// TestGot from Hugging Face by each node for itself and by one for another, as its account;
// where there is none for the caller, it is left out.
func TestGot(t *testing.T) {
	is := is.New(t)
	network := peertest.NewNetwork()
	m, _, _ := rigOf(t, here, network, &api.Sharing{})
	_, other, _ := rigOf(t, there, network, &api.Sharing{})
	h := hubtest.New(t)
	h.Models["org/name"] = hubtest.Model{"config.json": `{"model_type":"llama"}`, "model.gguf": "1234"}
	h.Gated, h.Token = true, token
	python = h.Python(t, ranktest.Folder(t))
	defer func() { python = "" }()
	bob := api.Principal{User: "bob", Node: here}
	c, err := m.CopyTo(t.Context(), bob, there, "", api.ModelSelect{Model: "org/name"}, false)
	is.NoErr(err)
	defer c.Close()
	var p api.ModelProgress
	for isLast := false; !isLast; {
		p, isLast, err = c.Next(t.Context())
		is.NoErr(err)
	}
	is.Equal(p, api.ModelProgress{Revision: h.Commit, DoneBytes: 26, TotalBytes: 26, Verified: 2})
	info, err := os.Stat(filepath.Join(other.Home, "hf/hub/models--org--name/snapshots", h.Commit, "model.gguf"))
	is.NoErr(err)
	is.Equal(info.Sys().(*syscall.Stat_t).Uid, other.UID)
	h.Token = "another"
	mine, err := m.Copy(t.Context(), bob, "", api.ModelSelect{Model: "org/name"}, false)
	is.NoErr(err)
	defer mine.Close()
	for isLast := false; !isLast; {
		p, isLast, err = mine.Next(t.Context())
		is.NoErr(err)
	}
	is.Equal(p.Error.Data.Reason, api.ReasonModelGated)
	is.True(!strings.Contains(p.Error.Error()+logged.String(), token))
	_, err = m.Copy(t.Context(), api.Principal{User: "eve", Node: here}, "", api.ModelSelect{Model: "org/name"}, false)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonPrincipalUnmapped)
}

// TestCopyIsEnded with whoever waits for it, also where the other Mac sends nothing.
func TestCopyIsEnded(t *testing.T) {
	is := is.New(t)
	network := peertest.NewNetwork()
	m, _, _ := rigOf(t, here, network, &api.Sharing{})
	called := make(chan struct{})
	peers := peer.New(there, network.Add(there), peertest.NewGate(gate.Config{Self: there, Reads: func(api.Principal) api.Reason { return "" }}))
	peers.HandleStream(gate.ServeReader(gate.Model, func(ctx context.Context, _ gate.Reader, _ error, _ api.PeerConn, _ net.Conn) {
		close(called)
		<-ctx.Done()
	}))
	c, err := m.Copy(t.Context(), api.Principal{User: "bob", Node: here}, there, api.ModelSelect{Model: "org/name"}, false)
	is.NoErr(err)
	<-called
	c.Close()
	p, isLast, err := c.Next(t.Context())
	is.NoErr(err)
	is.True(isLast)
	is.Equal(p.Error.Data.Reason, api.ReasonCancelled)
}

// TestRemoved: a trial frees nothing, a job that uses the model keeps it, and then it is gone.
func TestRemoved(t *testing.T) {
	is := is.New(t)
	m, who, _ := rig(t)
	ada := api.Principal{User: "ada"}
	ranktest.Write(t, who, who.Home, map[string]string{
		"hf/hub/models--org--name/snapshots/abc/config.json": `{"model_type":"llama"}`, "hf/hub/models--org--name/snapshots/abc/model.gguf": "1234", "hf/hub/models--org--name/refs/main": "abc",
	})
	params := api.ModelRemoveParams{ModelSelect: api.ModelSelect{Model: "org/name"}, DryRun: true}
	r, err := m.Remove(t.Context(), ada, params)
	is.NoErr(err)
	is.Equal(r.FreedBytes, int64(4+len(`{"model_type":"llama"}`)))
	is.Equal(r.Account, who.Name)
	params.DryRun = false
	plan := api.Plan{Ranks: []api.PlanRank{{Node: here}}, Model: &api.PlanModel{Model: "org/name", Revision: "abc"}}
	defer func() { plans = nil }()
	plans = map[api.JobID]api.Plan{"j4k2m9xq7": plan}
	_, err = m.Remove(t.Context(), ada, params)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonModelInUse)
	for _, other := range []api.Plan{
		{Ranks: []api.PlanRank{{Node: there}}, Model: plan.Model}, {Ranks: plan.Ranks}, {Ranks: plan.Ranks, Model: &api.PlanModel{Model: "org/name", Revision: "def"}},
	} {
		plans = map[api.JobID]api.Plan{"j4k2m9xq7": other}
		trial := params
		trial.DryRun = true
		r, err = m.Remove(t.Context(), ada, trial)
		is.NoErr(err)
		is.Equal(len(r.Jobs), 0)
	}
	_, err = m.Remove(t.Context(), ada, params)
	is.NoErr(err)
	_, err = m.Show(t.Context(), ada, params.ModelSelect)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonNoSuchModel)
	_, err = os.Lstat(filepath.Join(who.Home, "hf/hub/models--org--name"))
	is.True(os.IsNotExist(err))
}

// TestWhichMacHasWhat: what is the same model is listed once, first where it is complete, and
// a Mac that shares none is there with its reason.
func TestWhichMacHasWhat(t *testing.T) {
	is := is.New(t)
	network := peertest.NewNetwork()
	published := api.Sharing{Jobs: api.JobsMapped, Models: api.ModelsMapped, MappedMembers: true}
	m, who, _ := rigOf(t, here, network, &published)
	_, other, _ := rigOf(t, there, network, &published)
	const config, snapshot = `{"model_type":"llama"}`, "hf/hub/models--org--name/snapshots/abc/"
	ranktest.Write(t, who, who.Home, map[string]string{snapshot + "config.json": config, "hf/hub/models--a--own/snapshots/def/model.gguf": "12"})
	ranktest.Write(t, other, other.Home, map[string]string{snapshot + "config.json": config, snapshot + "model.gguf": "1234"})
	bob := api.Principal{User: "bob", Node: here}
	all := m.Cluster(t.Context(), bob, []api.NodeID{there, here})
	is.Equal(len(all.Nodes), 2)
	is.Equal(all.Nodes[0].Node, here)
	is.Equal(len(all.Models), 2)
	is.Equal(all.Models[0].Model.Model, "a/own")
	both := all.Models[1]
	is.Equal(both.Model.SizeBytes, int64(4+len(config))) // as it is where it is whole
	is.Equal(both.On, []api.ModelOnNode{{Node: there, Complete: new(true)}, {Node: here, Complete: new(false), MissingCount: 1}})

	published.Models = ""
	all = m.Cluster(t.Context(), bob, []api.NodeID{there, here})
	is.Equal(len(all.Models), 2)
	is.Equal(all.Nodes[1].Error.Data.Reason, api.ReasonModelsNotShared)
	is.Equal(*all.Models[1].On[0].Complete, false)
}
