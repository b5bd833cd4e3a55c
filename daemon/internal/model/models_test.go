package model_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model"
	"fulmen/daemon/internal/model/inventory"
	"fulmen/daemon/internal/rank/prepare/account"
	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/native"
)

// TestMain makes this program the reading process as well, as fulmend is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == model.Command {
		if err := inventory.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// rig is the models of an account, whose HF_HOME is hf in its home folder.
func rig(t *testing.T) (*model.Models, account.Account, *[]string) {
	who := ranktest.Account(t, "/bin/sh")
	clock, err := native.SystemClock()
	if err != nil {
		t.Fatal(err)
	}
	folders := []string{}
	m := model.New(model.Config{
		Self: ranktest.Self(t), Clock: clock, Log: slog.New(slog.DiscardHandler),
		Account: func(p api.Principal) (account.Account, error) {
			if p.User == "eve" {
				return account.Account{}, api.NewError(api.ReasonPrincipalUnmapped, p.String())
			}
			return who, nil
		},
		Environment: func(context.Context, account.Account) []string {
			return []string{"HF_HOME=" + filepath.Join(who.Home, "hf")}
		},
		Folders: func() []string { return folders },
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
