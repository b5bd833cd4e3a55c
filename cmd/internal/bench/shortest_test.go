package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"
)

// Every group measures everything once, with the programs that make build made. What
// benchmarks of packages measure, their own tests run.
func TestEveryGroupOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("daemons are started")
	}
	t.Chdir("../../..")
	for _, program := range []string{"fulmen", "fulmend", "fulmen-shim", "fulmen-rank"} {
		if _, err := os.Stat(filepath.Join("build/bin", program)); err != nil { // go test looks at it too, and runs this again when it is another one
			t.Skipf("%v: run make build", err)
		}
	}
	all := groups()
	for i := range all {
		all[i].within = 10 * time.Minute // on a busy machine too
	}
	rows := measure(t.Context(), run{shortest: true, folder: t.TempDir(), worker: "build/bin/fulmen-rank", python: "build/tools/bin/python3", out: t.Output()}, all)
	is.New(t).NoErr(failures(rows)) // the output says why
	printTable(t.Output(), rows)
}
