package liveness

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

var update = flag.Bool("update", false, "write the golden files again")

const (
	studio  api.NodeID = "j79r4zr55xd4ph64"
	book    api.NodeID = "cpv0cwypxp44qw0p"
	mini    api.NodeID = "z96rdgxna6n6snyk"
	another api.NodeID = "wf0v6rp0vwvfdcvq"
	box     api.NodeID = "vc3m7rpwqafby900"
)

// at is a moment some minutes after the cluster began.
func at(minutes float64) api.Time {
	return api.TimeOf(time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC).Add(time.Duration(minutes * float64(time.Minute))))
}

func doc(node api.NodeID, kind api.Kind, name string, value any) api.Document {
	d := api.Document{Node: node, Kind: kind, Name: name, Inc: 1, Seq: 1, At: at(0)}
	if err := d.SetValue(value); err != nil {
		panic(err)
	}
	return d
}

func identity(node api.NodeID, name string, platform api.Platform) api.Document {
	return doc(node, api.KindIdentity, "", api.Identity{Name: name, ShortName: "unused", Platform: platform, GPUMemory: api.GPUMemoryUnified})
}

func reported(node api.NodeID, state api.SelfState, reason api.Reason) api.Document {
	return doc(node, api.KindNodeState, "", api.NodeState{State: state, Reason: reason, Since: at(30)})
}

func address(node api.NodeID, text string) api.PeerAddress {
	return api.PeerAddress{Peer: node, Address: netip.MustParseAddr(text)}
}

func reach(by, peer api.NodeID, text, iface string, kind api.LinkKind, failed float64) api.Document {
	a := address(peer, text)
	r := api.Reach{Peer: peer, Address: a.Address, Port: api.PeerPort, Interface: iface, Kind: kind, VerifiedAt: at(1), State: api.PathActive}
	if failed > 0 {
		r.State, r.FailedAt = api.PathFailed, at(failed)
	}
	return doc(by, api.KindReach, a.String(), r)
}

// report adds documents.
func (in *Input) report(docs ...api.Document) { in.Docs = append(in.Docs, unshared(docs)...) }

// scenario is a studio's cluster: all is well.
func scenario() Input {
	return Input{
		Self: studio, Started: at(10), At: at(60),
		Members: []api.Member{
			{Node: studio, AddedBy: studio, AddedAt: at(0)}, {Node: mini, AddedBy: studio, AddedAt: at(1)},
			{Node: book, AddedBy: studio, AddedAt: at(2)}, {Node: another, AddedBy: book, AddedAt: at(3)},
		},
		Docs: unshared([]api.Document{
			identity(studio, "Mac Studio", api.PlatformDarwin), identity(mini, "Mac mini", api.PlatformDarwin),
			identity(book, "Ada's MacBook", api.PlatformDarwin), identity(another, "Mac mini", api.PlatformDarwin),
			reported(mini, api.SelfAwake, ""),
			doc(studio, api.KindMemory, "", api.Memory{TotalBytes: new(int64(512 << 30)), UsedBytes: new(int64(100 << 30))}),
			doc(mini, api.KindMemory, "", api.Memory{TotalBytes: new(int64(64 << 30))}),
			doc(book, api.KindMemory, "", api.Memory{UsedBytes: new(int64(1 << 30))}),
			doc(studio, api.KindGPUProfile, "", api.GPUProfile{FP16TFLOPS: new(26.0), MemoryBytesPerS: new(int64(700e9))}),
			doc(mini, api.KindGPUProfile, "", api.GPUProfile{FP16TFLOPS: new(4.5)}),
			doc(book, api.KindGPUProfile, "", api.GPUProfile{MemoryBytesPerS: new(int64(100e9))}),
			doc(studio, api.KindSystem, "", api.System{SystemPowerWatts: new(100.0), PackagePowerWatts: new(70.0)}),
			doc(mini, api.KindSystem, "", api.System{PackagePowerWatts: new(20.0)}),
			doc(book, api.KindSystem, "", api.System{}),
			reach(studio, mini, "169.254.1.1", "en5", api.LinkTB5, 0), reach(studio, mini, "10.0.0.2", "en0", api.LinkEthernet, 20),
			reach(book, mini, "10.9.9.9", "en9", api.LinkWiFi, 20), // what others reach is theirs
		}),
		Seen: map[api.NodeID]Seen{
			mini: {Liveness: api.LivenessAlive, Since: at(11)}, book: {Liveness: api.LivenessAlive, Since: at(12)}, another: {Liveness: api.LivenessAlive, Since: at(13)},
		},
		Paths: map[api.NodeID][]api.PathView{
			mini: {
				{Address: address(mini, "169.254.1.1"), Interface: "en5", State: api.PathActive, RTTUS: new(80.5)},
				{Address: address(mini, "fe80::1%en1"), Interface: "en1", Kind: api.LinkWiFi, State: api.PathStandby},
			},
		},
	}
}

func golden(t *testing.T, name string, v any) {
	t.Helper()
	is := is.New(t)
	got, err := json.MarshalIndent(v, "", "  ")
	is.NoErr(err)
	got = append(got, '\n')
	path := filepath.Join("testdata", name+".golden")
	if *update {
		is.NoErr(os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	is.NoErr(err)
	is.True(bytes.Equal(got, want)) // run with -update and look at what changed
}

// unshared are documents that each reader decodes.
func unshared(docs []api.Document) []api.SharedDocument {
	all := make([]api.SharedDocument, len(docs))
	for i := range docs {
		all[i].Document = &docs[i]
	}
	return all
}
