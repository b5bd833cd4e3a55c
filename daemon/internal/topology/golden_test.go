package topology

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

var update = flag.Bool("update", false, "write the golden files again")

// loadDocuments reads a cluster's documents, each as its node would write it.
func loadDocuments(t testing.TB, path string) []api.Document {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var docs []api.Document
	if err := json.Unmarshal(text, &docs); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return docs
}

// goldenTime is when the clusters of testdata were written down.
var goldenTime = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// goldenInput is a cluster at the time at which its files were written down.
func goldenInput(docs []api.Document) (Input, []api.Cause) {
	nodes, notes := NodesOf(docs, nil)
	return Input{Nodes: nodes, At: api.TimeOf(goldenTime)}, notes
}

// report writes everything that a graph gives, for a person to read.
func report(g Graph, ranks []api.NodeID) string {
	var b strings.Builder
	section := func(title string, v any) {
		raw, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "== %s\n%s\n", title, raw)
	}
	section("list", g.List())
	section("notes", g.Notes)
	fmt.Fprintf(&b, "== dot\n%s", g.DOT())
	for _, backend := range []api.Backend{api.BackendRing, api.BackendJACCL, api.BackendJACCLRing, api.BackendAuto} {
		text, notes, err := g.Hostfile(ranks, backend)
		fmt.Fprintf(&b, "== hostfile %s\n%s", backend, text)
		writeOutcome(&b, notes, err)
	}
	for _, backend := range []api.Backend{api.BackendJACCL, api.BackendJACCLRing} {
		m, notes, err := g.Matrix(ranks, backend)
		fmt.Fprintf(&b, "== matrix %s\n", backend)
		if err == nil {
			b.WriteString(m.Text())
		}
		writeOutcome(&b, notes, err)
	}
	return b.String()
}

func writeOutcome(b *strings.Builder, notes []api.Cause, err error) {
	for _, n := range notes {
		fmt.Fprintf(b, "note %s %s: %s\n", n.Reason, n.Subject, n.Message)
	}
	if err == nil {
		return
	}
	e := api.AsError(err)
	fmt.Fprintf(b, "error %s: %s\n", e.Data.Reason, e.Message)
	for _, c := range e.Data.Causes {
		fmt.Fprintf(b, "  %s %s: %s\n", c.Reason, c.Subject, c.Message)
	}
}

// goldenRanks are the nodes of which a cluster's file asks for exports.
func goldenRanks(in Input, names ...string) []api.NodeID {
	var ids []api.NodeID
	for _, name := range names {
		for i := range in.Nodes {
			if in.Nodes[i].ShortName == name {
				ids = append(ids, in.Nodes[i].ID)
			}
		}
	}
	return ids
}

func TestGolden(t *testing.T) {
	ranks := map[string][]string{"hub-3": {"max-1", "max-2", "max-3"}}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no clusters", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			in, undecoded := goldenInput(loadDocuments(t, file))
			var got bytes.Buffer
			for _, c := range undecoded {
				fmt.Fprintf(&got, "undecoded %s: %s\n", c.Subject, c.Reason)
			}
			got.WriteString(report(Build(in), goldenRanks(in, ranks[name]...)))
			path := strings.TrimSuffix(file, ".json") + ".golden"
			if *update {
				is.NoErr(os.WriteFile(path, got.Bytes(), 0o644))
			}
			want, err := os.ReadFile(path)
			is.NoErr(err)
			is.Equal(got.String(), string(want))
		})
	}
}
