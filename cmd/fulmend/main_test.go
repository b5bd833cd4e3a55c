package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestTopology(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	is.Equal(ended(runTopology([]string{"--scenario", "two-studios"}, &out), t.Output()), api.ExitOK)
	var drawing struct {
		Nodes []api.NodeView
		Docs  []api.Document
		Links api.LinkListResult
	}
	is.NoErr(json.Unmarshal(out.Bytes(), &drawing))
	is.Equal(len(drawing.Nodes), 2)
	is.True(len(drawing.Docs) > 0)
	is.Equal(len(drawing.Links.Cables), 1)

	out.Reset()
	is.Equal(ended(runTopology([]string{"--scenario", "two-studios", "--form", "json"}, &out), t.Output()), api.ExitOK)
	var links api.LinkListResult
	is.NoErr(json.Unmarshal(out.Bytes(), &links))
	is.Equal(links.Cables, drawing.Links.Cables)

	out.Reset()
	is.Equal(ended(runTopology([]string{"--scenario", "hub-3", "--form", "matrix"}, &out), t.Output()), api.ExitFailed) // one Mac has no cable
	is.Equal(out.String(), "")
}

func TestWrongCommandLines(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.toml")
	if err := os.WriteFile(bad, []byte("[[mac]]\nname = \"a b\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"topology"}, {"topology", "--scenario", "two-studios", "--form", "svg"}, {"topology", "--scenario", "nowhere"}, {"topology", "two-studios"},
		{"topology", "--scenario", bad}, {"run", "--simulate", "nowhere"}, {"run", "--simulate", "two-studios:studio-9"}, {"--simulate", bad},
		{"run", "now"}, {"--nonsense"}, {"debug"},
	} {
		if status := run(args); status != api.ExitUsage {
			t.Errorf("fulmend %q ends with %d", args, status)
		}
	}
	if status := run([]string{"run", "--version"}); status != api.ExitOK {
		t.Errorf("--version ends with %d", status)
	}
}
