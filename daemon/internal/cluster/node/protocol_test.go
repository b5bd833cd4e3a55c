package node

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// upgrade starts a Mac's daemon again with other protocols.
func (m *mac) upgrade(newest, oldest int) {
	m.halt()
	m.protocol = [2]int{newest, oldest}
	m.start()
}

// A cluster is upgraded one Mac at a time: protocol n and n-1 are one cluster at
// every step, and what either writes reaches all, also kinds that the older ones do
// not know.
func TestUpgradeOneByOne(t *testing.T) {
	in(t, 3, func(d *scenario) {
		is := is.New(d.t)
		const newKind = "from-a-later-version"
		for i, m := range d.macs {
			m.upgrade(api.Protocol+1, api.Protocol)
			d.whole(45 * time.Second)
			for j, writer := range d.macs {
				writer.report(10*i + j)
				d.within(3*time.Second, received(d.macs, writer, 10*i+j))
			}
			m.put(newKind, "", json.RawMessage(`{"a":1}`))
			d.within(3*time.Second, func() string {
				for _, reader := range d.macs {
					if _, found := reader.ledger.Get(api.Key{Node: m.identity.Node, Kind: newKind}); !found {
						return reader.name() + " has not kept what it does not know"
					}
				}
				return ""
			})
		}
		for _, m := range d.macs {
			is.Equal(m.hello().Protocol, api.Protocol+1)
		}
	})
}

// Protocols two apart do not talk, and say so; who is between talks with both.
func TestProtocolsTooFarApart(t *testing.T) {
	in(t, 3, func(d *scenario) {
		is := is.New(d.t)
		old, between, newest := d.macs[0], d.macs[1], d.macs[2]
		between.upgrade(api.Protocol+1, api.Protocol)
		newest.upgrade(api.Protocol+2, api.Protocol+1)
		d.pass(time.Minute)
		is.True(between.transport.Reachable(old.identity.Node))
		is.True(between.transport.Reachable(newest.identity.Node))
		is.True(!old.transport.Reachable(newest.identity.Node))
		is.True(!newest.transport.Reachable(old.identity.Node))
		// What is said by one end still comes to the other, by way of the third.
		newest.report(7)
		d.within(time.Minute, received(d.macs, newest, 7))
		old.upgrade(api.Protocol+1, api.Protocol)
		d.whole(time.Minute)
	})
}
