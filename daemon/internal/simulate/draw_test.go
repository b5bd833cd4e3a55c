package simulate

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest"
	"fulmen/native/sim/scenario"
)

var update = flag.Bool("update", false, "write the golden files")

// drawn draws a shipped scenario at a fixed time.
func drawn(t *testing.T, name string) Drawing {
	t.Helper()
	plan, err := scenario.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	drawing, err := draw(plan, nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), "0.0.0-test")
	if err != nil {
		t.Fatal(err)
	}
	return drawing
}

// Three Macs in a triangle, one side of it through a hub, and one on the network
// alone: every peer is seen from both sides.
func TestHub3(t *testing.T) {
	is := is.New(t)
	drawing := drawn(t, "hub-3")
	names := map[api.NodeID]string{}
	for _, node := range drawing.Nodes {
		names[node.Node] = node.ShortName
	}

	// The cables, with both ends, and the way through the hub.
	joined := map[string][]string{}
	for _, cable := range drawing.Links.Cables {
		is.True(!cable.OneSided)
		is.Equal(len(cable.Ends), 2)
		pair := []string{names[cable.Ends[0].End.Node], names[cable.Ends[1].End.Node]}
		slices.Sort(pair)
		joined[pair[0]+" "+pair[1]] = cable.Hubs
	}
	is.Equal(joined, map[string][]string{
		"macbook-1 macbook-2": nil, "macbook-1 macbook-3": nil, "macbook-2 macbook-3": {"Thunderbolt 5 Hub"},
	})

	// What each Mac's own documents say of the ends of its cables.
	domains := map[string]string{} // of a receptacle, its Mac
	for _, doc := range drawing.Docs {
		if port, is := decoded[api.Thunderbolt](t, doc, api.KindThunderbolt); is && port.DomainUUID != "" {
			domains[port.DomainUUID] = names[doc.Node]
		}
	}
	sees := map[string][]string{}
	for _, doc := range drawing.Docs {
		if port, is := decoded[api.Thunderbolt](t, doc, api.KindThunderbolt); is {
			for _, peer := range port.Peers {
				seen := domains[peer.DomainUUID]
				if peer.Hub != "" {
					seen += " below a hub"
				}
				sees[names[doc.Node]] = append(sees[names[doc.Node]], seen)
			}
		}
	}
	for _, list := range sees {
		slices.Sort(list)
	}
	is.Equal(sees, map[string][]string{
		"macbook-1": {"macbook-2", "macbook-3"},
		"macbook-2": {"macbook-1", "macbook-3"}, // sees no hub: it hangs below it
		"macbook-3": {"macbook-1", "macbook-2 below a hub"},
	})

	// Every node reaches every other, both ways, also the one without a cable.
	reached := map[[2]string]bool{}
	for _, row := range drawing.Links.Rows {
		reached[[2]string{names[row.From], names[row.To]}] = true
	}
	is.Equal(len(reached), 4*3)

	text, err := json.MarshalIndent(drawing.Links, "", "  ")
	is.NoErr(err)
	file := filepath.Join("testdata", "hub-3.links.json")
	if *update {
		is.NoErr(os.WriteFile(file, append(text, '\n'), 0o644))
	}
	want, err := os.ReadFile(file)
	is.NoErr(err)
	if string(want) != string(text)+"\n" {
		t.Errorf("the links of hub-3 differ from %s; after reading the difference, run the tests with -update\n%s", file, text)
	}
}

// decoded reads the value of a document of a kind; false for another kind.
func decoded[V any](t *testing.T, doc api.Document, kind api.Kind) (V, bool) {
	t.Helper()
	var value V
	if doc.Kind != kind {
		return value, false
	}
	if err := doc.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value, true
}

// Scenarios record measurements, which both ends have.
func TestMeasurementsAtBothEnds(t *testing.T) {
	is := is.New(t)
	drawing := drawn(t, "two-studios")
	type number struct{ up, down int64 }
	got := map[api.Transport][]number{}
	for _, row := range drawing.Links.Rows {
		if row.UpBitsPerS != nil {
			got[row.Transport] = append(got[row.Transport], number{*row.UpBitsPerS, *row.DownBitsPerS})
			is.True(row.Link.Valid() == (row.Kind != api.LinkEthernet))
			is.True(row.JitterUS != nil)
		}
	}
	up := func(a, b number) int { return int(a.up - b.up) }
	slices.SortFunc(got[api.TransportSocket], up)
	is.Equal(got[api.TransportSocket], []number{{9.4e9, 9.4e9}, {9.4e9, 9.4e9}, {52.6e9, 60.7e9}, {60.7e9, 52.6e9}})
	is.Equal(got[api.TransportRDMA], []number{{74.8e9, 74.8e9}, {74.8e9, 74.8e9}})

	text, err := os.ReadFile("../../../native/sim/scenario/shipped/two-studios.toml")
	is.NoErr(err)
	file := filepath.Join(t.TempDir(), "two-studios.toml")
	is.NoErr(os.WriteFile(file, regexp.MustCompile("jitter_us = .*").ReplaceAll(text, nil), 0o600))
	for _, doc := range drawn(t, file).Docs {
		if p, is2 := decoded[api.LinkProfile](t, doc, api.KindLinkProfile); is2 {
			is.Equal(p.JitterUS, nil) // not recorded, and not invented
			is.Equal(doc.Unknown, map[string]api.Reason{"jitter_us": api.ReasonNotInScenario})
			is.Equal(p.MeasuredAt, doc.At)
		}
	}
}

// The same scenario is the same every time, and another time line of clocks
// changes no identity.
func TestNodeIDsFollowFromNames(t *testing.T) {
	is := is.New(t)
	first, second := drawn(t, "hub-3"), drawn(t, "hub-3")
	is.Equal(first.Docs, second.Docs)
	is.Equal(first.Links, second.Links)
	other, err := Draw("hub-3", "0.0.0-test")
	is.NoErr(err)
	for i := range first.Nodes {
		is.Equal(first.Nodes[i].Node, other.Nodes[i].Node)
	}
}

func TestExportForms(t *testing.T) {
	is := is.New(t)
	drawing := drawn(t, "two-studios")
	for _, form := range api.ExportForm("").Values() {
		result, err := drawing.Export(api.LinkExportParams{Form: api.ExportForm(form)})
		is.NoErr(err)
		is.True(result.Text != "")
	}
	matrix, err := drawing.Export(api.LinkExportParams{Form: api.ExportMatrix, Nodes: []api.NodeRef{"studio-2", "studio-1"}})
	is.NoErr(err)
	is.Equal(matrix.Text, "[\n    [null,\"rdma_en5\"],\n    [\"rdma_en5\",null]\n]\n")
	_, err = drawing.Export(api.LinkExportParams{Form: "svg"})
	is.Equal(api.AsError(err).Data.Reason, api.ReasonBadValue)
	_, err = drawing.Export(api.LinkExportParams{Form: api.ExportMatrix, Nodes: []api.NodeRef{"nobody"}})
	is.Equal(api.AsError(err).Data.Reason, api.ReasonNoSuchNode)
	_, err = drawn(t, "hub-3").Export(api.LinkExportParams{Form: api.ExportMatrix})
	is.Equal(len(api.AsError(err).Data.Causes), 3) // names every missing link
}

// Scenarios of more than one cable for two Macs, and of more than one network.
func TestScenariosOfManyPaths(t *testing.T) {
	is := is.New(t)
	for _, c := range []struct{ name, nodes, matrix string }{
		{"two-cables", "studio-1 studio-2", `[[null,["rdma_en5","rdma_en6"]],[["rdma_en5","rdma_en6"],null]]`},
		{"uneven-cables", "studio-1 studio-2", `[[null,["rdma_en5","rdma_en6"]],[["rdma_en5","rdma_en6"],null]]`},
		{"uneven-cables", "studio-1 studio-2 studio-3", `[[null,"rdma_en5","rdma_en7"],["rdma_en5",null,"rdma_en7"],["rdma_en7","rdma_en5",null]]`},
		{"chord-5", "studio-1 studio-2 studio-3", `[[null,"rdma_en6","rdma_en5"],["rdma_en7",null,"rdma_en6"],["rdma_en5","rdma_en7",null]]`},
		{"chord-5", "studio-1 studio-2 studio-3 studio-4", ""},
		{"two-hubs", "studio-1 studio-2", `[[null,"rdma_en5"],["rdma_en5",null]]`},
		{"two-hubs", "book-1 studio-1", `[[null,"rdma_en1"],["rdma_en5",null]]`},
		{"two-hubs", "book-1 studio-2", ""},
	} {
		var nodes []api.NodeRef
		for _, name := range strings.Fields(c.nodes) {
			nodes = append(nodes, api.NodeRef(name))
		}
		result, err := drawn(t, c.name).Export(api.LinkExportParams{Form: api.ExportMatrix, Nodes: nodes})
		is.Equal(err != nil, c.matrix == "") // of the scenario and nodes of c
		is.Equal(strings.Join(strings.Fields(result.Text), ""), c.matrix)
	}
	kinds := map[string]api.LinkKind{}
	for _, row := range drawn(t, "networks").Links.Rows {
		if _, address, _ := strings.Cut(row.Name, "/"); strings.HasSuffix(address, ".42") && row.UpBitsPerS != nil {
			kinds[address] = row.Kind
		}
	}
	is.Equal(kinds, map[string]api.LinkKind{"192.168.1.42": api.LinkEthernet, "10.0.0.42": api.LinkEthernet,
		"192.168.50.42": api.LinkWiFi, "100.64.0.42": api.LinkVPN})
}
