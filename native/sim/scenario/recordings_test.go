package scenario_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// record takes down what every Mac of the scenario says of its receptacles.
func record(t *testing.T, s scenario.Scenario) (recordings []scenario.Recording) {
	t.Helper()
	world, err := sim.New(s, nativetest.NewClock(time.Unix(0, 0)))
	if err != nil {
		t.Fatal(err)
	}
	defer world.Close()
	for _, mac := range s.Macs {
		platform, err := world.Platform(mac.Name)
		if err != nil {
			t.Fatal(err)
		}
		facts, err := platform.Facts.Snapshot(context.Background(), native.AreaThunderbolt)
		if err != nil {
			t.Fatal(err)
		}
		recordings = append(recordings, scenario.Recording{Mac: mac.Name, Thunderbolt: *facts.Thunderbolt})
	}
	return recordings
}

// cabling is every cable with its best speed, its ends and the cables in a fixed
// order, hubs under names that only their place gives.
func cabling(s scenario.Scenario) (lines []string) {
	for _, cable := range s.Cables {
		ends := []string{cable.Ends[0].String(), cable.Ends[1].String()}
		for i, end := range cable.Ends {
			if end.Hub {
				ends[i] = fmt.Sprintf("hub.up:%t", end.PortNumber == 0)
			}
		}
		slices.Sort(ends)
		lines = append(lines, strings.Join(ends, " "))
	}
	slices.Sort(lines)
	return lines
}

// TestRecordingsRebuildTheCluster simulates each shipped cluster, records every
// Mac, and wants the same cables back.
func TestRecordingsRebuildTheCluster(t *testing.T) {
	for _, name := range scenario.Shipped() {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			want, err := scenario.Load(name)
			is.NoErr(err)
			recordings := record(t, want)
			got, err := scenario.FromRecordings(name, recordings)
			is.NoErr(err)
			is.Equal(cabling(got), cabling(want))
			is.Equal(len(got.Notes), 0)
			for i, mac := range want.Macs {
				is.Equal(got.Macs[i].Name, mac.Name)
				is.Equal(len(got.Macs[i].Ports), len(mac.Ports))
				for j, port := range mac.Ports {
					is.Equal(got.Macs[i].Ports[j].DomainUUID, port.DomainUUID)
					is.Equal(got.Macs[i].Ports[j].Interface, port.Interface)
				}
			}
			// What was rebuilt says the same when it is recorded in turn.
			again := record(t, got)
			for i := range again {
				is.Equal(peersOf(again[i]), peersOf(recordings[i]))
			}
		})
	}
}

func peersOf(r scenario.Recording) (lines []string) {
	for _, port := range r.Thunderbolt.Ports {
		for _, peer := range port.Peers {
			chain, err := port.Chain(peer)
			slowest := min(port.Negotiated.TxBitsPerS, peer.Negotiated.TxBitsPerS)
			for _, hub := range chain {
				slowest = min(slowest, hub.Negotiated.TxBitsPerS)
			}
			lines = append(lines, fmt.Sprint(port.PortNumber, peer.DomainUUID, len(chain), err, slowest))
		}
	}
	slices.Sort(lines)
	return lines
}

func TestRecordingsTellModelAndRDMA(t *testing.T) {
	is := is.New(t)
	s, err := scenario.Load("hub-3")
	is.NoErr(err)
	got, err := scenario.FromRecordings("hub-3", record(t, s))
	is.NoErr(err)
	mac, _ := got.Mac("macbook-3")
	is.Equal(mac.Identity.Model, "Mac17,7") // as its peers say
	is.Equal(mac.RDMA, native.RDMAOn)       // its peers see the service
	ultra, _ := got.Mac("ultra")
	is.Equal(ultra.Identity.Model, "") // nobody says
	is.Equal(ultra.RDMA, native.RDMAOff)
	is.Equal(len(got.Hubs), 1)
	is.Equal(got.Hubs[0].Name, "macbook-3-hub-1") // after the Mac that drives it
}

// TestRecordingsThatContradict changes one thing in sound recordings.
func TestRecordingsThatContradict(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(r []scenario.Recording)
		want   string
	}{
		{"same name", func(r []scenario.Recording) { r[1].Mac = "studio-1" }, "the name is taken"},
		{"same Mac twice", func(r []scenario.Recording) { r[1].Thunderbolt = r[0].Thunderbolt }, "is also that of studio-1.tb1; was one Mac recorded twice?"},
		{"peer silent", func(r []scenario.Recording) { r[1].Thunderbolt.Ports[3].Peers = nil }, "studio-1.tb4 names studio-2.tb4 as its peer, but studio-2.tb4 does not name studio-1.tb4"},
		{"speeds", func(r []scenario.Recording) {
			link, _ := native.LinkFromLanes(20e9, 2, 2)
			r[1].Thunderbolt.Ports[3].Peers[0].Negotiated = &link
		}, "studio-1.tb4 says that its link to studio-2.tb4 runs at 80 Gb/s, but the other end says 40 Gb/s"},
		{"receptacle twice", func(r []scenario.Recording) { r[0].Thunderbolt.Ports[1].PortNumber = 1 }, "recording of studio-1: port 1 is recorded twice"},
		{"no such hub", func(r []scenario.Recording) { r[0].Thunderbolt.Ports[3].Peers[0].Hub = "0x1" }, "is listed below route 0x1, where there is no hub"},
		{"hub without parent", func(r []scenario.Recording) {
			r[0].Thunderbolt.Ports[0].Hubs = []native.Hub{{Route: "0x101", Parent: "0x1"}}
		}, "hub 0x101 is listed below route 0x1, where there is no hub"},
		{"bad name", func(r []scenario.Recording) { r[0].Mac = "my Mac" }, `recording 1: name "my Mac" may hold`},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			s, err := scenario.Load("two-studios")
			is.NoErr(err)
			recordings := record(t, s)
			test.change(recordings)
			_, err = scenario.FromRecordings("desk", recordings)
			is.True(err != nil)
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error does not say %q:\n%s", test.want, err)
			}
		})
	}
}

func TestRecordingsOfAPartOfTheCluster(t *testing.T) {
	is := is.New(t)
	s, err := scenario.Load("mesh-4")
	is.NoErr(err)
	recordings := record(t, s)
	_, err = scenario.FromRecordings("part", recordings[:1])
	is.True(strings.Contains(err.Error(), "two or more"))
	got, err := scenario.FromRecordings("part", recordings[:2])
	is.NoErr(err)
	is.Equal(len(got.Cables), 1)
	is.Equal(len(got.Notes), 4) // each of the two has two more cables
	is.Equal(got.Notes[0], "studio-1.tb5 leads to Mac15,14, which was not recorded; the cable is left out")
}

func TestRecordingsWithInterfacesFromElsewhere(t *testing.T) {
	is := is.New(t)
	s, err := scenario.Load("two-studios")
	is.NoErr(err)
	recordings := record(t, s)
	recordings[0].Interfaces = map[int]string{4: "en9"}
	recordings[1].Thunderbolt.Ports[0].Capability = "" // told by nothing
	got, err := scenario.FromRecordings("desk", recordings)
	is.NoErr(err)
	port, _ := got.Macs[0].Port(4)
	is.Equal(port.Interface, "en9")
	_, ok := got.Macs[0].Interface("en9")
	is.True(ok)
	is.Equal(len(got.Macs[1].Ports), 5)
	is.Equal(got.Notes, []string{"recording of studio-2: port 1 does not say what it can do; it is left out"})
}

func FuzzFromRecordings(f *testing.F) {
	f.Add(`{"ports":[{"receptacle":1,"domain_uuid":"A","capability":"tb5","peers":[{"domain_uuid":"B"}]}]}`,
		`{"ports":[{"receptacle":1,"domain_uuid":"B","capability":"tb5","peers":[{"domain_uuid":"A","hub":"0x1"}],"hubs":[{"route":"0x1"}]}]}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		var a, b native.Thunderbolt
		if json.Unmarshal([]byte(first), &a) != nil || json.Unmarshal([]byte(second), &b) != nil {
			return
		}
		s, err := scenario.FromRecordings("fuzz", []scenario.Recording{{Mac: "a", Thunderbolt: a}, {Mac: "b", Thunderbolt: b}})
		if err != nil {
			return
		}
		if err := s.Check(); err != nil {
			t.Fatalf("rebuilt without error, and not sound: %v", err)
		}
		world, err := sim.New(s, nativetest.NewClock(time.Unix(0, 0)))
		if err != nil {
			t.Fatalf("sound, and the simulation refuses it: %v", err)
		}
		world.Close()
	})
}
