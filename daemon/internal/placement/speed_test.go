package placement

import (
	"net/netip"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

// Each channel comes before the next, whichever is asked about first.
func TestChannelsInOrder(t *testing.T) {
	is := is.New(t)
	link := func(r api.PortNumber) api.LinkID {
		l, err := api.NewLinkID(api.LinkEnd{Node: id(0), PortNumber: r}, api.LinkEnd{Node: id(1), PortNumber: 1})
		is.NoErr(err)
		return l
	}
	ends := func(a, b byte) [2]netip.Addr {
		return [2]netip.Addr{netip.AddrFrom4([4]byte{10, 0, 0, a}), netip.AddrFrom4([4]byte{10, 0, 0, b})}
	}
	all := []channel{
		{speed: speed{bits: 90, rtt: 9}, link: link(5)},
		{speed: speed{bits: 80, rtt: 3}, link: link(4)},
		{speed: speed{bits: 80, rtt: 5}, link: link(3)},
		{speed: speed{bits: 80, rtt: 5}, link: link(4), addresses: ends(1, 9)},
		{speed: speed{bits: 80, rtt: 5}, link: link(4), addresses: ends(2, 3)},
		{speed: speed{bits: 80}, link: link(4), addresses: ends(2, 4)},
		{speed: speed{bits: 80, rtt: 3}, link: link(5)}, // against one without a round trip, the link decides
		{link: link(1)},
	}
	for i := range len(all) - 1 {
		is.True(compareChannels(all[i], all[i+1]) < 0)
		is.True(compareChannels(all[i+1], all[i]) > 0)
		is.Equal(compareChannels(all[i], all[i]), 0)
	}
}

// A row is as fast as its slower direction, of those that were measured.
func TestSpeedOfARow(t *testing.T) {
	is := is.New(t)
	of := func(up, down *int64, rtt *float64) speed {
		return speedOf(&api.LinkRow{UpBitsPerS: up, DownBitsPerS: down, RTTUS: rtt})
	}
	is.Equal(of(new(int64(5)), new(int64(3)), nil).bits, int64(3))
	is.Equal(of(new(int64(2)), new(int64(3)), nil).bits, int64(2))
	is.Equal(of(nil, new(int64(3)), nil).bits, int64(3))
	is.Equal(of(new(int64(5)), nil, nil).bits, int64(5))
	is.Equal(of(new(int64(5)), nil, new(7.5)).rtt, 7.5)
	is.True(of(new(int64(5)), nil, nil).measured)
}

// Of several measurements of a cable the newest counts that has a speed and is over RDMA.
func TestWhichMeasurementCounts(t *testing.T) {
	is := is.New(t)
	link, err := api.NewLinkID(api.LinkEnd{Node: id(0), PortNumber: 1}, api.LinkEnd{Node: id(1), PortNumber: 1})
	is.NoErr(err)
	row := func(seconds int, bits int64, from int, of api.Transport) api.LinkRow {
		return api.LinkRow{LinkRowKey: api.LinkRowKey{From: id(from), To: id(1 - from), Transport: of}, Link: link, UpBitsPerS: &bits,
			MeasuredAt: api.Time{Time: scenarioTime.Add(time.Duration(seconds) * time.Second)}}
	}
	old, late := row(1, 10, 0, api.TransportRDMA), row(2, 20, 1, api.TransportRDMA)
	changed, socket, nowhere := row(3, 30, 0, api.TransportRDMA), row(4, 40, 0, api.TransportSocket), row(5, 50, 0, api.TransportRDMA)
	changed.Reasons, nowhere.Link = []api.Reason{api.ReasonLinkChanged}, api.LinkID{}
	for _, rows := range [][]api.LinkRow{{old, late, changed, socket, nowhere}, {nowhere, socket, changed, late, old}} {
		got := topology.RDMARows(rows)
		is.Equal(len(got), 1)
		is.Equal(*got[link].UpBitsPerS, int64(20))
		paths := measuredPaths(rows)
		is.Equal(len(paths), 1)
		is.Equal(*paths[socket.LinkRowKey].UpBitsPerS, int64(40))
	}
}
