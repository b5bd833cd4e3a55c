package rules

import (
	"testing"

	"fulmen/app/mac/goflags"
)

func TestGoFlags(t *testing.T) {
	runCases(t, []checkCase{
		{"with the flag, and what does not build the app", checkGoFlags, map[string]string{
			".github/workflows/a.yml": "run: go build " + goflags.Flag() + " ./cmd/fulmen-app\n",
			"x.sh":                    "#!/bin/sh\ngo build ./cmd/fulmen\ngo test ./...\ngo vet ./cmd/fulmen-app\n",
		}, nil},
		{"in a workflow", checkGoFlags, map[string]string{".github/workflows/a.yml": "on: push\nrun: go build -o x ./cmd/fulmen-app\n"}, []string{".github/workflows/a.yml:2"}},
		{"in a script, with all else", checkGoFlags, map[string]string{"x.sh": "build/tools/bin/go install ./...\n"}, []string{"x.sh:1"}},
	})
}
