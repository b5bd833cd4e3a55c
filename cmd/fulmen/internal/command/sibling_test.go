package command

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// script writes a program that a shell runs.
func script(t *testing.T, path, text string) {
	t.Helper()
	is := is.New(t)
	is.NoErr(os.MkdirAll(filepath.Dir(path), 0o755))
	is.NoErr(os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
}

func TestSiblingIsFound(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	beside, linked, path := filepath.Join(dir, "beside"), filepath.Join(dir, "linked"), filepath.Join(dir, "path")
	t.Setenv("PATH", path)
	r := &run{App: App{Executable: filepath.Join(linked, "fulmen")}}
	_, err := r.siblingPath("fulmend")
	is.Equal(api.AsError(err).Data.Reason, api.ReasonProgramMissing)
	is.True(strings.Contains(api.AsError(err).Data.Remedy, "in one folder"))

	script(t, filepath.Join(path, "fulmend"), "")
	got, err := r.siblingPath("fulmend")
	is.NoErr(err)
	is.Equal(got, filepath.Join(path, "fulmend"))

	script(t, filepath.Join(beside, "fulmend"), "")
	script(t, filepath.Join(beside, "fulmen"), "")
	is.NoErr(os.MkdirAll(linked, 0o755))
	is.NoErr(os.Symlink(filepath.Join(beside, "fulmen"), filepath.Join(linked, "fulmen")))
	got, err = r.siblingPath("fulmend") // beside what the link points to
	is.NoErr(err)
	real, err := filepath.EvalSymlinks(filepath.Join(beside, "fulmend"))
	is.NoErr(err)
	is.Equal(got, real)

	is.NoErr(os.Mkdir(filepath.Join(linked, "fulmend"), 0o755)) // a folder is no program
	again, err := r.siblingPath("fulmend")
	is.NoErr(err)
	is.Equal(again, got)
}

func TestSiblingIsPassedOn(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, c := range []struct {
		name, program string
		args          []string
		status        int
		out, errs     string
	}{
		{"standard input and output", `echo "$@"; cat`, []string{"debug", "parse", "-"}, 0, "debug parse -\nrecording", ""},
		{"a file with a dash", `echo "$@"`, []string{"debug", "parse", "--", "-x", "y"}, 0, "debug parse ./-x y\n", ""},
		{"a scenario of recordings", `echo "$@"`, []string{"debug", "parse", "a", "b", "--scenario", "my desk"}, 0, "debug parse --scenario=my desk a b\n", ""},
		{"a recording in a file", `echo "$@"`, []string{"report", "--recording", "my mac.json"}, 0, "debug record --out=my mac.json\n", ""},
		{"a recording of this Mac", `echo "$@"`, []string{"debug", "record"}, 0, "debug record\n", ""},
		{"a Mac's notifications", `echo "$@"`, []string{"debug", "notifications", "--for", "5m"}, 0, "debug notifications --for=5m0s\n", ""},
		{"exit status and words", `echo "fulmend: no" >&2; exit 7`, []string{"debug", "parse", "f"}, 7, "", "fulmend: no\n"},
		{"a signal", `kill -9 $$`, []string{"debug", "parse", "f"}, 1, "", ""},
		{"a form", `echo "$@"`, []string{"topology", "--scenario", "x", "--dot"}, 0, "topology --scenario x --form dot\n", ""},
		{"a form as JSON", `echo '<a>'`, []string{"topology", "--scenario", "x", "--dot", "--json"}, 0, "{\n  \"text\": \"\\u003ca\\u003e\\n\"\n}\n", ""},
		{"a form with escapes", `printf '\033[2J'`, []string{"topology", "--scenario", "x", "--dot"}, 0, "\\x1b[2J\n", ""},
		{"a scenario's fault", `echo half; echo "fulmend: line 3" >&2; exit 2`, []string{"topology", "--scenario", "x"}, 2, "", "fulmend: line 3\n"},
		{"what is no JSON", `echo half`, []string{"topology", "--scenario", "x"}, 1, "",
			"fulmen: This version of fulmen does not understand what fulmend says about the scenario.\n  Install fulmen and fulmend from the same release: fulmen version\n"},
		{"a cluster", `echo '{"nodes":[{"node":"j79r4zr55xd4ph64","short_name":"a","simulated":true,"liveness":"alive","since":"2026-05-01T12:00:00.000Z"}],"docs":[],"links":{"cables":[],"rows":[]}}'`,
			[]string{"topology", "--scenario", "x"}, 0, "1 node, 0 cables, 0 paths, SIMULATED.\n\na\n  no Thunderbolt ports are known\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			script(t, filepath.Join(dir, "fulmend"), c.program)
			var out, errs strings.Builder
			a := App{In: strings.NewReader("recording"), Out: &out, Err: &errs, Now: nowhere}
			is.Equal(a.Run(context.Background(), c.args), c.status)
			is.Equal(out.String(), c.out)
			is.Equal(errs.String(), c.errs)
		})
	}
}
