package liveness

import (
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

func TestViews(t *testing.T) {
	lost := func(in *Input, node api.NodeID, reason api.Reason) {
		in.Seen[node] = Seen{Liveness: api.LivenessUnreachable, Since: at(40), Reason: reason}
		delete(in.Paths, node)
	}
	for name, change := range map[string]func(*Input){
		"all-well": func(*Input) {},
		"memories": func(in *Input) { // each counts once, with that in which its programs compute
			in.Docs = slices.DeleteFunc(in.Docs, func(d api.SharedDocument) bool { return d.Node != studio && d.Kind == api.KindMemory })
			for node, kind := range map[api.NodeID]api.GPUMemory{mini: api.GPUMemoryDedicated, book: api.GPUMemoryNone, another: ""} {
				who := doc(node, api.KindIdentity, "", api.Identity{Name: "linux " + string(kind), Platform: api.PlatformLinux, GPUMemory: kind})
				who.Seq = 2
				in.report(who, doc(node, api.KindMemory, "", api.Memory{TotalBytes: new(int64(64 << 30)), UsedBytes: new(int64(8 << 30)), GPUWorkingSetBytes: new(int64(24 << 30))}))
			}
		},
		"alone": func(in *Input) { in.Members, in.Docs, in.Seen = in.Members[:1], nil, nil },
		"cables-pulled": func(in *Input) {
			lost(in, mini, "")
			in.report(later(reach(studio, mini, "169.254.1.1", "en5", api.LinkTB5, 40)),
				reach(studio, mini, "fe80::1%en1", "en1", api.LinkWiFi, 39.5))
		},
		"reasons": func(in *Input) {
			in.Seen[book] = Seen{Liveness: api.LivenessSuspect, Since: at(41)}
			lost(in, mini, api.ReasonProtocolTooOld)
			delete(in.Seen, another)
		},
		"removed": func(in *Input) {
			in.Members[1].RemovedBy, in.Members[1].RemovedAt = book, at(50)
			in.Members = append(in.Members, api.Member{Node: box, AddedBy: studio, AddedAt: at(-9999), RemovedBy: studio, RemovedAt: at(-1400)})
		},
		"simulated": func(in *Input) {
			for i := range in.Docs {
				in.Docs[i].Simulated = in.Docs[i].Node == mini
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := scenario()
			change(&in)
			golden(t, name, Derive(in).List())
		})
	}
}

// later is a newer version of a document.
func later(d api.Document) api.Document {
	d.Seq++
	return d
}

func TestWhatWasSaidExplainsWhatIsSeen(t *testing.T) {
	type verdict struct {
		liveness api.Liveness
		reason   api.Reason
		since    float64
	}
	alive, suspect := verdict{api.LivenessAlive, "", 20}, verdict{api.LivenessSuspect, api.ReasonSuspect, 20}
	asleep, lid := verdict{api.LivenessAsleep, api.ReasonAsleep, 30}, verdict{api.LivenessAsleep, api.ReasonLidClosed, 30}
	restarts, left := verdict{api.LivenessRestarting, api.ReasonRestarting, 30}, verdict{api.LivenessLeft, api.ReasonLeft, 30}
	stopped, off := verdict{api.LivenessUnreachable, api.ReasonStopped, 30}, verdict{api.LivenessUnreachable, api.ReasonShuttingDown, 30}
	gone, never := verdict{api.LivenessUnreachable, api.ReasonUnreachable, 20}, verdict{api.LivenessUnreachable, api.ReasonNeverHeardOf, 10}
	seen := []api.Liveness{api.LivenessAlive, api.LivenessSuspect, api.LivenessUnreachable, ""}
	for name, test := range map[string]struct {
		state  api.SelfState
		reason api.Reason
		want   [4]verdict // by seen
	}{
		"nothing":             {"", "", [4]verdict{alive, suspect, gone, never}},
		"awake":               {api.SelfAwake, "", [4]verdict{alive, suspect, gone, never}},
		"a word of tomorrow":  {"floating", "", [4]verdict{alive, suspect, gone, never}},
		"asleep":              {api.SelfAsleep, "", [4]verdict{asleep, asleep, asleep, asleep}},
		"asleep, lid":         {api.SelfAsleep, api.ReasonLidClosed, [4]verdict{lid, lid, lid, lid}},
		"restarting":          {api.SelfRestarting, "", [4]verdict{restarts, restarts, restarts, restarts}},
		"shutting down":       {api.SelfRestarting, api.ReasonShuttingDown, [4]verdict{{api.LivenessRestarting, api.ReasonShuttingDown, 30}, off, off, off}},
		"stopping":            {api.SelfStopping, "", [4]verdict{alive, stopped, stopped, stopped}},
		"left":                {api.SelfLeft, "", [4]verdict{left, left, left, left}},
		"a reason of no kind": {api.SelfAwake, "moonlight", [4]verdict{alive, suspect, gone, never}},
	} {
		for i, l := range seen {
			t.Run(name+"/"+string(l), func(t *testing.T) {
				is := is.New(t)
				in := scenario()
				in.Seen = map[api.NodeID]Seen{}
				if l != "" {
					in.Seen[book] = Seen{Liveness: l, Since: at(20)}
				}
				if test.state != "" {
					in.report(reported(book, test.state, test.reason))
				}
				v := Derive(in)
				n, found := v.Node(book)
				is.True(found)
				is.Equal(verdict{n.Liveness, n.Reason, n.Since.Sub(at(0).Time).Minutes()}, test.want[i])
				is.Equal(n.Message == "", n.Liveness == api.LivenessAlive)
				is.Equal(v.Stale(book), n.Liveness != api.LivenessAlive)
				is.Equal(v.Totals.Nodes == 2, !v.Stale(book)) // this node always counts
			})
		}
	}
}

func TestFileVaultIsForMacs(t *testing.T) {
	is := is.New(t)
	in := scenario()
	in.report(reported(book, api.SelfRestarting, ""), reported(another, api.SelfRestarting, ""), later(identity(another, "box", api.PlatformLinux)))
	v := Derive(in)
	mac, _ := v.Node(book)
	linux, _ := v.Node(another)
	is.Equal(mac.Message, "It is restarting. It may be waiting at FileVault for a password.")
	is.Equal(linux.Message, "It is restarting.")
}

func TestTheLastPathsAreNamed(t *testing.T) {
	is := is.New(t)
	in := scenario()
	in.Seen[mini] = Seen{Liveness: api.LivenessUnreachable, Since: at(40)}
	for i, failed := range []float64{40, 39.9, 39.8, 39.7, 5} {
		iface := string(rune('a' + i))
		in.report(reach(studio, mini, "10.1.0."+string(rune('1'+i)), iface, api.LinkKind("moonbeam"), failed))
	}
	in.Paths = nil
	n, _ := Derive(in).Node(mini)
	is.Equal(n.Message, "It does not answer on any path. It was last reached by a network (a), a network (b) and a network (c).")
	is.Equal(n.Paths[0].Interface, "a")
	is.Equal(len(n.Paths), 6) // and Ethernet, which failed at 20
}

func TestTheOrderOfWhatComesDoesNotMatter(t *testing.T) {
	is := is.New(t)
	random := testkit.Fixed(t, 3).Source(4)
	in := scenario()
	in.report(reported(book, api.SelfAsleep, ""), later(identity(mini, "Renamed", api.PlatformDarwin)))
	want := Derive(in)
	name, _ := want.Node(mini)
	is.Equal(name.ShortName, "renamed") // the newer one counts
	for range 20 {
		random.Shuffle(len(in.Docs), func(i, j int) { in.Docs[i], in.Docs[j] = in.Docs[j], in.Docs[i] })
		before := slices.Clone(in.Docs)
		is.Equal(Derive(in), want)
		is.Equal(in.Docs, before) // and is left as it was
	}
}

func TestARemovedMemberLeavesTheListAfterADay(t *testing.T) {
	is := is.New(t)
	in := scenario()
	in.Members[1].RemovedBy, in.Members[1].RemovedAt = book, at(50)
	in.At = api.TimeOf(at(50).Add(RemovedStays))
	_, found := Derive(in).Node(mini)
	is.True(found)
	in.At = api.TimeOf(in.At.Add(time.Second))
	v := Derive(in)
	_, found = v.Node(mini)
	is.True(!found)
	is.True(v.Stale(mini))
	is.Equal(v.Totals.Members, 3)
	is.Equal(v.Name(mini), "mac-mini-2") // for the roster's own list
	in.Members[0].RemovedBy, in.Members[0].RemovedAt = book, at(50)
	self, _ := Derive(in).Node(studio)
	is.Equal(self.Liveness, api.LivenessRemoved) // this node itself stays, to say so
}
