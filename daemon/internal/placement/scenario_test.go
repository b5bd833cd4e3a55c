package placement

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

var update = flag.Bool("update", false, "write the golden files again")

// cluster is a scenario's documents, and its Macs by name.
type cluster struct {
	docs  []api.Document
	names map[string]api.NodeID
}

// draw reads a scenario's documents. The files of testdata are the docs that
// `fulmend topology --scenario NAME` prints, one a line, at a fixed time.
func draw(t testing.TB, scenario string) cluster {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", scenario+".json"))
	if err != nil {
		t.Fatal(err)
	}
	c := cluster{names: map[string]api.NodeID{}}
	if err := json.Unmarshal(text, &c.docs); err != nil {
		t.Fatal(err)
	}
	for _, d := range c.docs {
		var identity api.Identity
		if d.Kind == api.KindIdentity && d.Decode(&identity) == nil {
			c.names[identity.ShortName] = d.Node
		}
	}
	return c
}

// place plans a job of a person on the scenario's first Mac, with whom the
// others share.
func (c cluster) place(t testing.TB, p api.Placement, change ...func(*source)) Result {
	t.Helper()
	self := api.NodeID("")
	for _, id := range c.names {
		if self == "" || id < self {
			self = id
		}
	}
	from := source{Self: self, Documents: c.docs, Spec: api.JobRequest{Placement: p}.Spec("j00000001", api.Principal{User: "ada", Node: self}, api.Time{})}
	for id := range c.nodes() {
		if id != self {
			from.Documents = append(from.Documents[:len(from.Documents):len(from.Documents)], share(t, id, self))
		}
	}
	for _, f := range change {
		f(&from)
	}
	in, notes := inputOf(from)
	if len(notes) > 0 {
		t.Fatal(notes)
	}
	return Plan(in)
}

func (c cluster) nodes() map[api.NodeID]string {
	out := map[api.NodeID]string{}
	for name, id := range c.names {
		out[id] = name
	}
	return out
}

// share is a document by which a node lends to the people of another.
func share(t testing.TB, node, to api.NodeID) api.Document {
	t.Helper()
	return document(t, node, api.KindSharing, "", api.Sharing{Jobs: api.JobsMapped, MappedNodes: []api.NodeID{to}})
}

func document(t testing.TB, node api.NodeID, kind api.Kind, name string, value any) api.Document {
	t.Helper()
	d := api.Document{Node: node, Kind: kind, Name: name, Inc: 1, Seq: 1 << 40, At: api.Time{}}
	if err := d.SetValue(value); err != nil {
		t.Fatal(err)
	}
	return d
}

// text is a result for a person, with names instead of ids and without times.
func (c cluster) text(t testing.TB, r Result) string {
	t.Helper()
	var used []api.PlanInput
	if r.Plan != nil {
		used, r.Plan.Used = r.Plan.Used, nil
	}
	raw, err := json.MarshalIndent(r.Wire(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.Write(raw)
	for _, u := range used {
		delete(u.Facts, "measured_at")
		facts, err := json.Marshal(u.Facts)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\nused %s %s", u.Key, facts)
	}
	if err := r.Err(); err != nil {
		fmt.Fprintf(&b, "\nerror %s: %s\nremedy: %s", err.Data.Reason, err.Message, err.Data.Remedy)
	}
	text := b.String() + "\n"
	for name, id := range c.names {
		text = strings.ReplaceAll(text, string(id), name)
		text = strings.ReplaceAll(text, id.Display(), name)
	}
	return text
}

func TestGolden(t *testing.T) {
	for _, c := range []struct {
		file, scenario string
		placement      api.Placement
		change         []func(*source)
	}{
		{"hub-3-jaccl-3", "hub-3", api.Placement{Ranks: 3, Backend: api.BackendJACCL}, nil},
		{"hub-3-auto-4", "hub-3", api.Placement{Ranks: 4, Backend: api.BackendAuto}, nil},
		{"hub-3-ring-lan-4", "hub-3", api.Placement{Ranks: 4, Backend: api.BackendRing, Networks: []string{"192.168.1.0/24"}}, nil},
		{"hub-3-memory", "hub-3", api.Placement{Ranks: 3, Backend: api.BackendJACCL, MemoryBytes: 60e9}, nil},
		{"hub-27-jaccl-3", "hub-27", api.Placement{Ranks: 3, Backend: api.BackendJACCL}, nil},
		{"hub-27-auto-3", "hub-27", api.Placement{Ranks: 3}, nil},
		{"chain-3-jaccl-3", "chain-3", api.Placement{Ranks: 3, Backend: api.BackendJACCL}, nil},
		{"chain-3-jaccl-2", "chain-3", api.Placement{Ranks: 2, Backend: api.BackendJACCL}, nil},
		{"chain-3-auto-3", "chain-3", api.Placement{Ranks: 3, Backend: api.BackendAuto}, nil},
		{"mesh-4-auto-4", "mesh-4", api.Placement{Ranks: 4}, nil},
		{"mesh-4-ring-4", "mesh-4", api.Placement{Ranks: 4, Backend: api.BackendRing}, nil},
		{"ring-5-auto-5", "ring-5", api.Placement{Ranks: 5}, nil},
		{"ring-5-jaccl-5", "ring-5", api.Placement{Ranks: 5, Backend: api.BackendJACCL}, nil},
		{"sixteen-auto-16", "sixteen", api.Placement{Ranks: 16}, nil},
		{"sixteen-jaccl-4", "sixteen", api.Placement{Ranks: 4, Backend: api.BackendJACCL}, nil},
		{"sixteen-jaccl-5", "sixteen", api.Placement{Ranks: 5, Backend: api.BackendJACCL}, nil},
		{"tb4-pair-jaccl-2", "tb4-pair", api.Placement{Ranks: 2, Backend: api.BackendJACCL}, nil},
		{"tb4-pair-auto-2", "tb4-pair", api.Placement{Ranks: 2}, nil},
		{"mixed-auto-2", "mixed", api.Placement{Ranks: 2}, nil},
		{"mixed-auto-4", "mixed", api.Placement{Ranks: 4}, nil},
		{"mixed-jaccl-2", "mixed", api.Placement{Ranks: 2, Backend: api.BackendJACCL}, nil},
		{"mixed-shares", "mixed", api.Placement{Ranks: 2, Backend: api.BackendRing, ShareBy: api.ShareByMemory}, []func(*source){short}},
		{"hub-3-shares", "hub-3", api.Placement{Ranks: 3, Backend: api.BackendJACCL, ShareBy: api.ShareByMemory, MemoryBytes: 192 << 30}, []func(*source){measured}},
		{"hub-3-shares-memory", "hub-3", api.Placement{Ranks: 3, Backend: api.BackendJACCL, ShareBy: api.ShareByMemory, MemoryBytes: 320 << 30}, nil},
		{"bad-cable-jaccl-2", "bad-cable", api.Placement{Ranks: 2, Backend: api.BackendJACCL}, nil},
		{"bad-cable-40-jaccl-2", "bad-cable", api.Placement{Ranks: 2, Backend: api.BackendJACCL}, []func(*source){slowed}},
		{"bad-cable-40-auto-2", "bad-cable", api.Placement{Ranks: 2}, []func(*source){slowed}},
		{"hub-3-40-jaccl-3", "hub-3", api.Placement{Ranks: 3, Backend: api.BackendJACCL}, []func(*source){slowed}},
		{"two-studios-untold-auto-2", "two-studios", api.Placement{Ranks: 2}, []func(*source){unreported}},
		{"two-studios-untold-jaccl-2", "two-studios", api.Placement{Ranks: 2, Backend: api.BackendJACCL}, []func(*source){unreported}},
		{"two-studios-one-sided-jaccl-2", "two-studios", api.Placement{Ranks: 2, Backend: api.BackendJACCL}, []func(*source){oneSided}},
		{"two-studios-ring-2", "two-studios", api.Placement{Ranks: 2, Backend: api.BackendRing}, nil},
		{"two-studios-1", "two-studios", api.Placement{Ranks: 1}, nil},
	} {
		t.Run(c.file, func(t *testing.T) {
			is := is.New(t)
			drawn := draw(t, c.scenario)
			got := drawn.text(t, drawn.place(t, c.placement, c.change...))
			path := filepath.Join("testdata", c.file+".golden")
			if *update {
				is.NoErr(os.MkdirAll("testdata", 0o755))
				is.NoErr(os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			is.NoErr(err)
			is.Equal(got, string(want))
		})
	}
}

// slowed retrains every cable to 40 Gb/s.
func slowed(s *source) {
	docs := s.Documents
	s.Documents = nil
	for _, d := range docs {
		if d.Kind == api.KindThunderbolt {
			d.Value = bytes.ReplaceAll(d.Value, []byte("80000000000"), []byte("40000000000"))
		}
		s.Documents = append(s.Documents, d)
	}
}

// short has the Mac with the most memory under pressure.
func short(s *source) {
	s.Documents = slices.Clone(s.Documents)
	for i := range s.Documents {
		if d := &s.Documents[i]; d.Kind == api.KindMemory && bytes.Contains(d.Value, []byte("137438953472")) {
			d.Value = bytes.ReplaceAll(d.Value, []byte(`"normal"`), []byte(`"warning"`))
		}
	}
}

// measured has measured the GPUs, of Macs with more memory twice as fast ones.
func measured(s *source) {
	for _, d := range slices.Clone(s.Documents) {
		if d.Kind != api.KindMemory {
			continue
		}
		value := `{"fp16_tflops":15}`
		if bytes.Contains(d.Value, []byte("137438953472")) {
			value = `{"fp16_tflops":30}`
		}
		s.Documents = append(s.Documents, api.Document{Node: d.Node, Kind: api.KindGPUProfile, Inc: 1, Seq: 1 << 40, Value: []byte(value)})
	}
}

// unreported drops what the first Mac tells of its RDMA devices.
func unreported(s *source) { drop(s, api.KindRDMA) }

// oneSided drops what the first Mac tells of its receptacles.
func oneSided(s *source) { drop(s, api.KindThunderbolt) }

func drop(s *source, kind api.Kind) {
	s.Documents = slices.DeleteFunc(slices.Clone(s.Documents), func(d api.Document) bool { return d.Kind == kind && d.Node == s.Self })
}

// source is what an input is made of by the planning node, which always reaches itself.
type source struct {
	Line      Line
	Spec      api.JobSpec
	Self      api.NodeID
	Documents []api.Document
	Stale     func(api.NodeID) bool
	Programs  map[api.NodeID]api.ProgramMLX
}

// inputOf makes an input of the newest versions of documents.
func inputOf(s source) (Input, []api.Cause) {
	newest := map[api.Key]api.Version{}
	for _, d := range s.Documents {
		if v := newest[d.Key()]; d.Version().Compare(v) > 0 {
			newest[d.Key()] = d.Version()
		}
	}
	docs := slices.DeleteFunc(slices.Clone(s.Documents), func(d api.Document) bool {
		return d.Version() != newest[d.Key()] || d.Deleted || !slices.Contains(Kinds(), d.Kind)
	})
	nodes, notes := topology.NodesOf(docs, func(id api.NodeID) bool { return id != s.Self && s.Stale != nil && s.Stale(id) })
	in, more := InputOf(Input{Line: s.Line, Spec: s.Spec, Documents: docs, Graph: topology.Build(topology.Input{Nodes: nodes})}, nodes, s.Programs, nil)
	return in, append(notes, more...)
}
