package rules

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fulmen/app/mac/goflags"
)

// buildsApp matches a command that builds the app's program.
var buildsApp = regexp.MustCompile(`\bgo"? (build|install|run) .*\./(cmd/fulmen-app|cmd/\.\.\.|\.\.\.)`)

// checkGoFlags wants the flag of package goflags in every command that builds the
// app on a Mac: in the recipes of the Makefile as a Mac's make expands them, and
// in the workflows and scripts. The steps of `make app` have a test of their own,
// and who builds it by hand is told by the app.
func checkGoFlags(t *Tree) ([]Problem, error) {
	var out []Problem
	for _, name := range t.files {
		if !isRecipe(name) && !isWorkflow(name) || path.Base(name) == "Makefile" {
			continue
		}
		all, err := t.lines(name)
		if err != nil {
			return nil, err
		}
		for _, l := range all {
			out = append(out, unflagged(name, l.no, l.text)...)
		}
	}
	if t.root == "" {
		return out, nil
	}
	if _, err := exec.LookPath("make"); err != nil {
		return out, nil // which the rule of the Makefile says
	}
	recipes, err := recipesOnMac(t.root)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(recipes, "./cmd/fulmen-app") {
		out = append(out, Problem{File: "Makefile", What: "builds no ./cmd/fulmen-app on a Mac", Remedy: "build it in `make build`, or teach cmd/internal/rules/goflags_test.go how it is built"})
	}
	for command := range strings.Lines(recipes) {
		out = append(out, unflagged("Makefile", 0, command)...)
	}
	return out, nil
}

// unflagged is the problem of a command that builds the app without the flag.
func unflagged(file string, line int, command string) []Problem {
	if !buildsApp.MatchString(command) || strings.Contains(command, goflags.Flag()) {
		return nil
	}
	return []Problem{{
		File: file, Line: line, What: fmt.Sprintf("builds the app without %s: %s", goflags.Flag(), strings.TrimSpace(command)),
		Remedy: "use $(APP_FLAGS) of the Makefile, or `make build`; app/mac/goflags says why",
	}}
}

// recipesOnMac gives what every target of the Makefile would run on a Mac.
func recipesOnMac(root string) (string, error) {
	mac, err := os.MkdirTemp("", "mac")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(mac)
	if err := os.WriteFile(filepath.Join(mac, "uname"), []byte("#!/bin/sh\necho Darwin\n"), 0o755); err != nil {
		return "", err
	}
	env := []string{"PATH=" + mac + string(filepath.ListSeparator) + os.Getenv("PATH"), "MAKEFLAGS=", "MAKELEVEL="}
	return command(root, env, "make", append([]string{"-n", "-B", "--no-print-directory"}, makeTargets...)...)
}

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
