package facts

import (
	"log/slog"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/nativetest"
)

// What was published agrees with the machine as it is; what has moved since differs, and
// nothing else; what the machine does not tell is unknown, with its reason.
func TestCompare(t *testing.T) {
	is := is.New(t)
	facts := machine()
	facts.Thunderbolt = &native.Thunderbolt{Ports: []native.Port{
		{PortNumber: 1, DomainUUID: "48A9310F-AFFE-8439-9CB9-02349C347576", Capability: native.TB5, Interface: "en2", Status: native.PortEmpty, Peers: []native.Peer{}, Hubs: []native.Hub{}},
	}}
	facts.RDMA = &native.RDMA{Switch: native.RDMAOn, Devices: []native.RDMADevice{{Name: "rdma_en2", Interface: "en2", PortState: native.RDMAPortDown}}}
	platform := nativetest.NewMachine(nativetest.NewClock(time.Now()), facts)
	o := New(platform, &publications{}, Static{ShortName: func(string) string { return "" }}, slog.New(slog.DiscardHandler))
	var published []api.Document
	for _, fact := range Convert(facts, o.static) {
		d := api.Document{Kind: fact.Kind, Name: fact.Name, Unknown: fact.Unknown}
		is.NoErr(d.SetValue(fact.Value))
		published = append(published, d)
	}
	count := func(published []api.Document) (differ []native.Comparison, unknown, same int) {
		t.Helper()
		rows, err := o.Compare(t.Context(), published)
		is.NoErr(err)
		for _, row := range rows {
			switch {
			case !row.Known():
				unknown++
			case row.Same:
				same++
			default:
				differ = append(differ, row)
			}
		}
		return differ, unknown, same
	}
	differ, _, same := count(published)
	is.Equal(differ, nil)
	is.True(same > 10)

	for i := range published {
		if published[i].Kind == api.KindThunderbolt && published[i].Name == "1" {
			var port api.Thunderbolt
			is.NoErr(published[i].Decode(&port))
			port.DomainUUID = "0000AAAA-0000-4000-8000-000000000000"
			is.NoErr(published[i].SetValue(port))
		}
	}
	differ, _, _ = count(published)
	is.Equal(len(differ), 1)
	is.Equal(differ[0].Fact, "thunderbolt 1, domain_uuid")
	is.Equal(differ[0].Reported[0], "0000AAAA-0000-4000-8000-000000000000")

	differ, _, _ = count(nil) // published is nothing yet
	is.True(len(differ) > 2)
	is.Equal(differ[0].Reported, [2]string{"not there", "there"})
}
