package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

// TestModels: a caller has the models of the account as which their jobs run, and root has
// none unless it is mapped to one.
func TestModels(t *testing.T) {
	is := is.New(t)
	someone, ok := testcluster.Someone()
	if !ok {
		t.Skip("there is no account for jobs here")
	}
	folder, err := os.MkdirTemp("", "models")
	is.NoErr(err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	is.NoErr(os.Chmod(folder, 0o755))
	for name, text := range map[string]string{"config.json": `{"model_type":"llama"}`, "model.gguf": "1234"} {
		is.NoErr(os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	r := start(t, newHome(t))
	c := r.dial()
	if someone.Other {
		_, err := client.Call[api.ModelListResult](t.Context(), c, "model.list", nil)
		is.Equal(api.AsError(err).Data.Reason, api.ReasonAccountForbidden)
		node := call[api.DaemonInfoResult](t, c, "daemon.info", nil).Node
		call[api.Empty](t, c, "cluster.map_user", api.ClusterMapUserParams{Principal: api.Principal{User: "root", Node: node}, Account: someone.Name})
	}
	text, err := json.Marshal([]string{folder})
	is.NoErr(err)
	call[api.Empty](t, c, "daemon.set_config", api.DaemonSetConfigParams{Set: map[string]json.RawMessage{"models.folders": text}})
	list := call[api.ModelListResult](t, c, "model.list", nil)
	is.Equal(list.Account, someone.Name)
	shown := call[api.ModelShowResult](t, c, "model.show", api.ModelSelect{Model: folder})
	is.Equal(*shown.Model.WeightsBytes, int64(4))
	started, changes, err := client.Stream[api.ModelVerifyStarted, api.ModelVerified](t.Context(), c, "model.verify", api.ModelSelect{Model: folder})
	is.NoErr(err)
	is.Equal(started.Model.Path, folder)
	last := api.ModelVerified{}
	is.NoErr(client.ToEnd(changes, func(v api.ModelVerified) bool {
		last = v
		return v.Terminal
	}))
	is.Equal(last.Progress, api.ModelProgress{Unverified: 2})
}
