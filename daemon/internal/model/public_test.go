package model_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model"
	"fulmen/daemon/internal/model/hub/hubtest"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/rank/ranktest"
)

// remembered is which models are public.
type remembered []model.Public

func (r *remembered) Load() ([]model.Public, error) { return slices.Clone(*r), nil }

func (r *remembered) Save(all []model.Public) error {
	*r = all
	return nil
}

// TestMembersGetWhatIsPublic: what was got from Hugging Face without a token, as long as it is
// what it was, and nothing else of the account.
func TestMembersGetWhatIsPublic(t *testing.T) {
	is := is.New(t)
	network := peertest.NewNetwork()
	published := api.Sharing{Jobs: api.JobsMapped, Models: api.ModelsMembers}
	m, who, _ := rigOf(t, here, network, &published)
	source, other, _ := rigOf(t, there, network, &published)
	public = nil
	h := hubtest.New(t)
	h.Models["org/public"] = hubtest.Model{"config.json": `{"model_type":"llama"}`, "model.gguf": "1234"}
	h.Models["org/private"] = hubtest.Model{"config.json": `{"model_type":"llama"}`, "model.gguf": "secret"}
	h.Models["org/gated"] = hubtest.Model{"config.json": `{"model_type":"llama"}`}
	h.Private, h.Asks, h.Token = "org/private", "org/gated", token
	python = h.Python(t, ranktest.Folder(t))
	defer func() { python = "" }()
	var err error
	member := api.Principal{User: "member", Node: here}
	run := func(on *model.Models, by api.Principal, from api.NodeID, name string) api.ModelProgress {
		c, err := on.Copy(t.Context(), by, from, api.ModelSelect{Model: name}, false)
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
	var gets []*model.Copying
	for _, name := range []string{"org/public", "org/private", "org/gated"} {
		c, err := source.Copy(t.Context(), api.Principal{User: "bob"}, "", api.ModelSelect{Model: name}, false)
		is.NoErr(err)
		defer c.Close()
		gets = append(gets, c)
	}
	for _, c := range gets {
		var p api.ModelProgress
		for isLast := false; !isLast; {
			p, isLast, err = c.Next(t.Context())
			is.NoErr(err)
		}
		is.True(p.Error == nil)
	}
	is.Equal(h.Shown("org/public"), []string{""}) // no token
	is.Equal(len(public), 1)
	is.Equal(public[0].Model, "org/public")
	at := func(parts ...string) string {
		return filepath.Join(append([]string{other.Home, "hf/hub"}, parts...)...)
	}
	// Whatever the account itself writes makes nothing public.
	data, err := json.Marshal([]model.Public{{Account: other.Name, Model: "org/private", Revision: h.Commit, Digest: public[0].Digest}})
	is.NoErr(err)
	ranktest.Write(t, other, other.Home, map[string]string{"hf/hub/models--org--private/.fulmen/public_models": string(data), "hf/hub/public_models": string(data)})
	listed := func() (names []string) {
		list, err := m.Shared(t.Context(), member, there)
		is.NoErr(err)
		text, err := json.Marshal(list)
		is.NoErr(err)
		is.True(!strings.Contains(string(text), other.Home))
		is.Equal(list.Account, "")
		for _, found := range list.Models {
			names = append(names, found.Model)
		}
		return names
	}
	is.Equal(listed(), []string{"org/public"})
	refused := func(name string) {
		t.Helper()
		is.Equal(run(m, member, there, name).Error.Data.Reason, api.ReasonNoSuchModel)
	}
	refused("org/private")
	refused("org/gated")
	refused(at("models--org--private", "snapshots", h.Commit))
	refused(at("models--org--public", "snapshots", h.Commit))
	remote, err := m.CopyTo(t.Context(), member, there, "", api.ModelSelect{Model: "org/public"}, false)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonPrincipalUnmapped) // it is no account there
	is.True(remote == nil)
	is.True(run(m, member, there, "org/public").Error == nil)
	got, err := os.ReadFile(filepath.Join(who.Home, "hf/hub/models--org--public/snapshots", h.Commit, "model.gguf"))
	is.NoErr(err)
	is.Equal(string(got), "1234")

	// A record for what was not got so is none: the digest is that of other files.
	good := slices.Clone(public)
	public = append(slices.Clone(good), model.Public{Account: other.Name, Model: "org/private", Revision: h.Commit, Digest: good[0].Digest}, model.Public{Account: "root", Model: "org/private", Revision: h.Commit, Digest: good[0].Digest})
	is.Equal(listed(), []string{"org/public"})
	is.Equal(len(public), 2) // that of the account of which nothing can be known stays

	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("1234")))
	blob, snapshot := at("models--org--public", "blobs", sum), at("models--org--public", "snapshots", h.Commit)
	kept := filepath.Join(other.Home, "kept")
	is.NoErr(exec.Command("cp", "-a", at("models--org--public"), kept).Run())
	for name, change := range map[string]func() error{
		"another file":     func() error { return os.WriteFile(filepath.Join(snapshot, "secret.txt"), []byte("secret"), 0o644) },
		"a link out of it": func() error { return os.Symlink("/etc/passwd", filepath.Join(snapshot, "passwd")) },
		"a file in a link's": func() error {
			return errors.Join(os.Remove(filepath.Join(snapshot, "model.gguf")), os.WriteFile(filepath.Join(snapshot, "model.gguf"), []byte("5678"), 0o644))
		},
		"other contents": func() error { return os.WriteFile(blob, []byte("5678"), 0o644) },
		"a blob that links": func() error {
			return errors.Join(os.Remove(blob), os.Symlink(at("models--org--private", "blobs", fmt.Sprintf("%x", sha256.Sum256([]byte("secret")))), blob))
		},
		"nothing": func() error { return os.RemoveAll(at("models--org--public")) },
	} {
		public = slices.Clone(good)
		is.NoErr(change())
		is.NoErr(os.RemoveAll(filepath.Join(who.Home, "hf/hub/models--org--public")))
		p := run(m, member, there, "org/public")
		if p.Error == nil {
			t.Fatalf("%s: it was sent", name)
		}
		is.Equal(p.Error.Data.Reason == api.ReasonModelChanged, name == "other contents") // which takes reading it
		is.True(p.DoneBytes <= int64(len(`{"model_type":"llama"}`)))
		is.NoErr(os.RemoveAll(at("models--org--public")))
		is.NoErr(exec.Command("cp", "-a", kept, at("models--org--public")).Run())
	}
}
