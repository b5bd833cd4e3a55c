package node

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/liveness"
)

// names are what a Mac calls the members.
func (m *mac) names() map[api.NodeID]string {
	return liveness.Names(m.holder.Current().Members(), func(id api.NodeID) (identity api.Identity, ok bool) {
		record, found := m.ledger.Get(api.Key{Node: id, Kind: api.KindIdentity})
		return identity, found && record.Decode(&identity) == nil
	})
}

// rename publishes another name, as the daemon does after a rename.
func (m *mac) rename(name, short string) {
	m.put(api.KindIdentity, "", api.Identity{PublicKey: m.identity.Public(), Name: name, ShortName: short, Platform: api.PlatformDarwin,
		Architecture: "arm64", FulmenVersion: "1.2.3-test", Protocol: api.Protocol})
}

// Macs of one name have names of their own, alike on every Mac, also where two
// took the name while they did not see each other.
func TestNamesAreUnique(t *testing.T) {
	in(t, 4, func(d *scenario) {
		is := is.New(d.t)
		macs := d.macs
		check := func(wanted ...string) {
			first := d.macs[0].names()
			for _, m := range macs {
				is.Equal(m.names(), first)
			}
			var all []string
			for _, m := range macs {
				all = append(all, first[m.identity.Node])
			}
			slices.Sort(all)
			is.Equal(all, wanted)
		}
		check("mac-0", "mac-1", "mac-2", "mac-3")
		d.macs[2].rename("Studio", "studio")
		d.pass(time.Second)
		check("mac-0", "mac-1", "mac-3", "studio")
		d.split(d.macs[:2], d.macs[2:], true)
		d.pass(time.Minute)
		d.macs[0].rename("Studio", "studio")
		d.pass(time.Second)
		d.split(d.macs[:2], d.macs[2:], false)
		d.whole(time.Minute)
		check("mac-1", "mac-3", "studio", "studio-2")
		d.macs[3].rename("Studio", "studio")
		d.pass(time.Second)
		check("mac-1", "studio", "studio-2", "studio-3")
		gone := d.macs[3]
		d.must(d.macs[1].remove(gone))
		macs = macs[:3]
		d.within(5*time.Second, d.out(gone, macs))
		d.within(5*time.Second, func() string { return d.broken(macs, 2) })
		check("mac-1", "studio", "studio-2")
	})
}

// Documents of a kind that this version does not know go everywhere too.
func TestUnknownKindsArePassedOn(t *testing.T) {
	in(t, 3, func(d *scenario) {
		is := is.New(d.t)
		a, b, c := d.macs[0], d.macs[1], d.macs[2]
		d.split([]*mac{a}, []*mac{c}, true)
		d.pass(time.Minute)
		a.put("from-a-later-version", "x", json.RawMessage(`{"n":1}`))
		key := api.Key{Node: a.identity.Node, Kind: "from-a-later-version", Name: "x"}
		d.within(3*time.Second, func() string {
			for _, m := range []*mac{b, c} {
				if _, found := m.ledger.Get(key); !found {
					return m.host() + " has not heard"
				}
			}
			return ""
		})
		is.Equal(d.broken([]*mac{b, c}, 2), "")
	})
}
