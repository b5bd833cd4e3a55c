package simulate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/sim/scenario"
)

func TestOpenSimulation(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "my desk:1.toml")
	if err := os.WriteFile(file, []byte("title = \"mine\"\n[[mac]]\nname = \"ada\"\nlike = \"mac-studio-m3-ultra\"\nmemory = \"96 GB\"\nos = \"26.2/25C56\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, mac, trouble string }{
		{text: "two-studios", mac: "studio-1"},
		{text: "two-studios:studio-2", mac: "studio-2"},
		{text: file, mac: "ada"},
		{text: file + ":ada", mac: "ada"},
		{text: "two-studios:", trouble: "names no Mac"},
		{text: "two-studios:studio-3", trouble: "studio-1, studio-2"}, // says which there are
		{text: "two-studio", trouble: "two-studios"},
		{text: filepath.Join(folder, "none.toml"), trouble: "none.toml"},
		{text: "", trouble: "two-studios"},
	} {
		t.Run(c.text, func(t *testing.T) {
			is := is.New(t)
			s, err := Open(c.text)
			if c.trouble != "" {
				is.True(errors.Is(err, api.ReasonBadValue))
				is.True(strings.Contains(err.Error(), c.trouble))
				return
			}
			is.NoErr(err)
			defer s.World.Close()
			is.Equal(s.Mac, c.mac)
			is.True(s.TimeLine)
		})
	}
}

// Two Macs of a scenario, and a real machine, never share a key.
func TestSimulatedStateIsApart(t *testing.T) {
	is := is.New(t)
	seen := map[string]bool{"/state": true}
	for _, text := range []string{"two-studios:studio-1", "two-studios:studio-2", "mesh-4"} {
		s, err := Open(text)
		is.NoErr(err)
		folder, err := s.Folder("/state")
		is.NoErr(err)
		is.True(strings.HasPrefix(folder, "/state/simulated/"))
		is.True(!seen[folder])
		seen[folder] = true
		is.NoErr(s.World.Close())
	}
}

// Every shipped scenario can be drawn, and each of its Macs run.
func TestShippedScenariosDraw(t *testing.T) {
	for _, name := range scenario.Shipped() {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			drawing, err := Draw(name, "0.0.0-test")
			is.NoErr(err)
			is.True(len(drawing.Nodes) > 0)
			for _, doc := range drawing.Docs {
				is.True(doc.Simulated)
				is.NoErr(doc.Check())
			}
			for _, node := range drawing.Nodes {
				is.True(node.Simulated)
			}
			for _, cable := range drawing.Links.Cables {
				is.True(cable.Simulated)
			}
			for _, row := range drawing.Links.Rows {
				is.True(row.Simulated)
			}
			is.Equal(drawing.graph.Notes, nil) // nothing contradicts itself
		})
	}
}
