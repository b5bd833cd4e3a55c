package facts

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/nativetest"
)

// cluster is a machine with two ports, one of them with a device.
func cluster() native.Snapshot {
	all := machine()
	all.Network.Interfaces = []native.Interface{{Name: "en2", Type: native.InterfaceThunderbolt}, {Name: "en3", Type: native.InterfaceThunderbolt}}
	all.Thunderbolt = &native.Thunderbolt{Ports: []native.Port{
		{PortNumber: 1, Capability: native.TB5, Status: native.PortEmpty, Interface: "en2"},
		{PortNumber: 2, Capability: native.TB4, Status: native.PortEmpty, Interface: "en3"},
	}}
	all.RDMA = &native.RDMA{HardwareCapable: new(true), OSCapable: new(true), Switch: native.RDMAOn, Devices: []native.RDMADevice{{Name: "rdma_en2", Interface: "en2"}}}
	return all
}

// silenced is a platform whose areas fall silent when told, and that counts readings.
type silenced struct {
	*nativetest.Machine
	mu    sync.Mutex
	why   map[native.Area]native.Reason
	reads map[native.Area]int
}

func (s *silenced) Snapshot(ctx context.Context, areas ...native.Area) (native.Snapshot, error) {
	all, err := s.Machine.Snapshot(ctx, areas...)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, area := range areas {
		s.reads[area]++
		if why := s.why[area]; why != "" {
			switch area {
			case native.AreaThunderbolt:
				all.Thunderbolt = nil
			case native.AreaRDMA:
				all.RDMA = nil
			}
			all.Unknown.Add(string(area), why)
		}
	}
	return all, err
}

// notify lets an area speak or fall silent, with a hint.
func (s *silenced) notify(area native.Area, why native.Reason) {
	s.mu.Lock()
	s.why[area] = why
	s.mu.Unlock()
	s.Change(func(*native.Snapshot) {}, area)
}

// versions keeps documents as a ledger does: equal ones are no news.
type versions struct {
	mu     sync.Mutex
	docs   map[api.Key]string
	counts map[api.Key]int
}

func (v *versions) Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error {
	text, err := json.Marshal([]any{value, unknown})
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	key := api.Key{Kind: kind, Name: name}
	if v.docs[key] != string(text) {
		v.docs[key] = string(text)
		v.counts[key]++
	}
	return nil
}

func (v *versions) Delete(kind api.Kind, name string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.docs, api.Key{Kind: kind, Name: name})
	return nil
}

// get gives a document's text; empty where there is none.
func (v *versions) get(kind api.Kind, name string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.docs[api.Key{Kind: kind, Name: name}]
}

// names lists the documents of a kind.
func (v *versions) names(kind api.Kind) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	names := []string{}
	for key := range v.docs {
		if key.Kind == kind {
			names = append(names, key.Name)
		}
	}
	slices.Sort(names)
	return names
}

// atCluster starts an owner of a desk in a bubble.
func atCluster(t *testing.T) (*silenced, *versions) {
	platform := &silenced{
		Machine: nativetest.NewMachine(nativetest.NewClock(time.Now()), cluster()),
		why:     map[native.Area]native.Reason{}, reads: map[native.Area]int{},
	}
	published := &versions{docs: map[api.Key]string{}, counts: map[api.Key]int{}}
	run(t, platform, published)
	return platform, published
}

func TestOneDocumentAPort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		platform, published := atCluster(t)
		is.Equal(published.names(api.KindThunderbolt), []string{"1", "2"})
		is.Equal(published.names(api.KindRDMA), []string{"1", "2"})
		before := published.get(api.KindNetwork, "")

		// A port that goes takes its documents along; interfaces follow the ports.
		platform.Change(func(s *native.Snapshot) {
			s.Thunderbolt.Ports = []native.Port{{PortNumber: 3, Capability: native.TB5, Interface: "en2"}, {PortNumber: 300}, {PortNumber: 0}}
		}, native.AreaThunderbolt)
		synctest.Wait()
		is.Equal(published.names(api.KindThunderbolt), []string{"3"})
		is.Equal(published.names(api.KindRDMA), []string{"3"})
		is.True(published.get(api.KindNetwork, "") != before)
	})
}

func TestASilentSourceKeepsItsDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		platform, published := atCluster(t)
		before := published.get(api.KindThunderbolt, "1")
		settle := func() { time.Sleep(time.Second); synctest.Wait() }
		unknown := func(kind api.Kind) string {
			var parts [2]json.RawMessage
			is.NoErr(json.Unmarshal([]byte(published.get(kind, "1")), &parts))
			return string(parts[1])
		}

		platform.notify(native.AreaThunderbolt, native.ReasonReadFailed.With("IOKit said no"))
		settle()
		is.Equal(published.names(api.KindThunderbolt), []string{"1", "2"})
		is.Equal(unknown(api.KindThunderbolt), `{"negotiated":"not_connected","thunderbolt":"read_failed"}`)
		is.Equal(unknown(api.KindRDMA), `{}`) // what is said of RDMA is as fresh as before

		platform.notify(native.AreaRDMA, native.ReasonNeedsRoot)
		settle()
		is.Equal(unknown(api.KindRDMA), `{"rdma":"needs_root"}`)

		platform.notify(native.AreaThunderbolt, "")
		settle()
		is.Equal(published.get(api.KindThunderbolt, "1"), before)

		// A list that cannot be read is silence too, and not the end of every port.
		platform.Change(func(s *native.Snapshot) {
			s.Thunderbolt.Ports, s.Thunderbolt.Unknown = nil, native.Reasons{"ports": native.ReasonReadFailed}
		}, native.AreaThunderbolt)
		settle()
		is.Equal(published.names(api.KindThunderbolt), []string{"1", "2"})
		is.Equal(unknown(api.KindThunderbolt), `{"negotiated":"not_connected","thunderbolt":"read_failed"}`)
	})
}

func TestAFlappingCableFloodsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		platform, published := atCluster(t)
		reads, docs := platform.reads[native.AreaThunderbolt], published.counts[api.Key{Kind: api.KindThunderbolt, Name: "1"}]
		for n := range 1000 {
			platform.Change(func(s *native.Snapshot) {
				s.Thunderbolt.Ports[0].Status = []native.PortStatus{native.PortPeer, native.PortEmpty}[n%2]
			}, native.AreaThunderbolt)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		platform.mu.Lock()
		reads = platform.reads[native.AreaThunderbolt] - reads
		platform.mu.Unlock()
		is.True(reads >= 2 && reads <= 5)                                                      // the first, the last, and one a second
		is.True(published.counts[api.Key{Kind: api.KindThunderbolt, Name: "1"}]-docs <= reads) // one document a reading at most
		is.Equal(published.counts[api.Key{Kind: api.KindThunderbolt, Name: "2"}], 1)           // the quiet port says nothing new
		var parts [2]json.RawMessage
		is.NoErr(json.Unmarshal([]byte(published.get(api.KindThunderbolt, "1")), &parts))
		is.Equal(string(parts[0]), `{"receptacle":1,"capability":"tb5","interface":"en2","connected":false}`) // how it ended
	})
}

func TestConvertIsWhatAnOwnerPublishes(t *testing.T) {
	is := is.New(t)
	all := cluster()
	all.RDMA = nil
	all.Unknown = native.Reasons{"rdma": native.ReasonNotInScenario}
	var got []string
	for _, fact := range Convert(all, Static{ShortName: func(string) string { return "desk" }, Platform: api.PlatformDarwin}) {
		got = append(got, string(fact.Kind)+" "+fact.Name)
		if fact.Kind == api.KindIdentity {
			is.Equal(fact.Value.(api.Identity).Platform, api.PlatformDarwin)
		}
		if fact.Kind == api.KindRDMA {
			is.Equal(fact.Unknown["switched_on"], api.ReasonNotInScenario)
		}
	}
	is.Equal(got, []string{"identity ", "memory ", "network ", "thunderbolt 1", "thunderbolt 2", "rdma 1", "rdma 2", "system "})
}
