package command

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
)

// nowhere is a clock for what shows no ages.
func nowhere() time.Time { return time.Time{} }

func TestTopologyFlagsThatDoNotFit(t *testing.T) {
	for args, want := range map[string]string{
		"--dot --form json":             "contradict",
		"--form picture":                "the forms are json, dot, hostfile, matrix",
		"--form hostfile --backend mpi": "the backends are",
		"--node a":                      "go with --form",
		"--backend ring":                "go with --form",
		"--network en0":                 "go with --form",
		"--scenario":                    "needs an argument",
		"--scenario=":                   "needs a name or a file",
		"--scenario x --dot --node a":   "do not go with --scenario",
		"more":                          "unknown command",
	} {
		t.Run(args, func(t *testing.T) {
			is := is.New(t)
			var out, errs strings.Builder
			a := App{Out: &out, Err: &errs, Now: nowhere}
			is.Equal(a.Run(context.Background(), append([]string{"topology"}, strings.Fields(args)...)), api.ExitUsage)
			is.True(strings.Contains(errs.String(), want)) // it says what to write
			is.Equal(out.String(), "")
		})
	}
}

func TestExportHasNotes(t *testing.T) {
	is := is.New(t)
	var out show.Page
	var errs strings.Builder
	r := &run{App: App{Err: &errs}}
	r.exported(&out, api.LinkExportResult{Text: "[]\n", Notes: []api.Cause{{Message: "b\x1b has no address.", Remedy: "Give it one."}}})
	is.Equal(out.String(), "[]\n")
	is.Equal(errs.String(), "fulmen: b\\x1b has no address.\n  Give it one.\n")
}
