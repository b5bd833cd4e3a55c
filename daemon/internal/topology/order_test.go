package topology

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// shuffled is the same input in another order, at every level that has none.
func shuffled(in Input, r *rand.Rand) Input {
	in.Nodes = mixed(in.Nodes, r)
	for i := range in.Nodes {
		n := &in.Nodes[i]
		n.Thunderbolt, n.RDMA = mixed(n.Thunderbolt, r), mixed(n.RDMA, r)
		n.Reach, n.Profiles = mixed(n.Reach, r), mixed(n.Profiles, r)
	}
	return in
}

func mixed[T any](in []T, r *rand.Rand) []T {
	out := append([]T(nil), in...)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func TestOrderDoesNotMatter(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]Input{"sixteen": sixteen()}
	for _, f := range files {
		inputs[filepath.Base(f)], _ = goldenInput(loadDocuments(t, f))
	}
	for name, in := range inputs {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			want := report(Build(in), nil)
			for seed := range testkit.Upto(t, 20) {
				is.Equal(report(Build(shuffled(in, seed.Source(1))), nil), want)
			}
		})
	}
}

func TestDocumentsInAnyOrderAndVersion(t *testing.T) {
	is := is.New(t)
	docs := loadDocuments(t, "testdata/hub-3.json")
	want, _ := goldenInput(docs)
	older := docs[0]
	older.Seq, older.Inc, older.Value = older.Seq+7, older.Inc-1, json.RawMessage(`{"short_name":"before"}`)
	gone := docs[1]
	gone.Seq, gone.Deleted, gone.Value = 1<<20, true, nil
	for seed := range testkit.Upto(t, 10) {
		in, notes := goldenInput(mixed(append(docs[:len(docs):len(docs)], older), seed.Source(1)))
		is.Equal(len(notes), 0)
		is.Equal(report(Build(in), nil), report(Build(want), nil))
		in, _ = goldenInput(mixed(append(docs[:len(docs):len(docs)], gone), seed.Source(1)))
		for _, n := range in.Nodes {
			is.Equal(n.Network == nil, n.ID == gone.Node) // the second document is a network
		}
	}
}

func TestNodesOfSaysWhatTheyAre(t *testing.T) {
	is := is.New(t)
	docs := loadDocuments(t, "testdata/hub-3.json")
	docs[0].Simulated = true
	nodes, _ := NodesOf(docs, func(id api.NodeID) bool { return id != docs[0].Node })
	is.Equal(len(nodes), 4)
	for _, n := range nodes {
		is.Equal(n.Simulated, n.ID == docs[0].Node)
		is.Equal(n.Stale, n.ID != docs[0].Node)
	}
}

// sixteen is 16 nodes and 200 links: a ring with chords, 48 cables in all, and
// 152 paths over sockets, each measured.
func sixteen() Input {
	nodes := make([]Node, 16)
	for i := range nodes {
		nodes[i] = testNode(i)
		addInterface(&nodes[i], api.Interface{Name: "en0", Type: api.InterfaceEthernet, Up: true, Addresses: addresses(fmt.Sprintf("10.0.0.%d", i+1))})
	}
	links := 0
	for i := range nodes {
		for k := 1; k <= 3; k++ {
			plug(nodes, i, k, (i+k)%16, 3+k, 80)
			links++
		}
	}
	at := api.TimeOf(goldenTime)
	speed := int64(56 * gigabit)
	for i := range nodes {
		bridged(&nodes[i], true)
		for j := 1; j < 16 && links < 200; j++ {
			peer := (i + j) % 16
			address := fmt.Sprintf("10.0.0.%d", peer+1)
			nodes[i].Reach = append(nodes[i].Reach, testReach(peer, address, "en0"))
			nodes[i].Profiles = append(nodes[i].Profiles, Profile{Name: string(testID(peer)) + "/" + address, LinkProfile: api.LinkProfile{
				Transport: api.TransportSocket, LinkKind: api.LinkEthernet, Peer: testID(peer), MeasuredAt: at, UpBitsPerS: &speed, DownBitsPerS: &speed}})
			links++
		}
	}
	return Input{Nodes: nodes, At: at}
}

func TestSixteenIsAsLargeAsItSays(t *testing.T) {
	is := is.New(t)
	list := Build(sixteen()).List()
	is.Equal(len(list.Cables), 48)
	is.Equal(len(list.Cables)+len(list.Rows), 200)
	is.True(len(list.Loops) > 0)
	is.True(len(list.Loops) <= MaxLoops)
}

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// The aim is 1 ms for 16 nodes and 200 links.
func BenchmarkBuild16(b *testing.B) {
	in := sixteen()
	for b.Loop() {
		if g := Build(in); len(g.cables) != 48 {
			b.Fatal(len(g.cables))
		}
	}
}

func FuzzBuild(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := json.Marshal(loadDocuments(f, file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		var docs []api.Document
		if json.Unmarshal(text, &docs) != nil || len(docs) > 200 {
			return
		}
		r := testkit.Seed(seed).Source(1)
		in, _ := goldenInput(docs)
		want := report(Build(in), nil)
		again, _ := goldenInput(mixed(docs, r))
		if got := report(Build(shuffled(again, r)), nil); got != want {
			t.Fatalf("another order gives another graph:\n%s\n---\n%s", want, got)
		}
	})
}
