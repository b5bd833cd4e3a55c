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
