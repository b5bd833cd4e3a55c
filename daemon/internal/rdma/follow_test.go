package rdma

import (
	"context"
	"crypto/ed25519"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer/peertest"
)

// What is news to changes, and whether it is of this machine: neither measurements nor
// what is said of changes.
func TestWhatMattersToChanges(t *testing.T) {
	for _, c := range []struct {
		key          api.Key
		matters, own bool
	}{
		{api.Key{Node: nodeA, Kind: api.KindNetwork}, true, true}, {api.Key{Node: nodeA, Kind: api.KindRDMA, Name: "1"}, true, true},
		{api.Key{Node: nodeA, Kind: api.KindThunderbolt, Name: "1"}, true, false}, {api.Key{Node: nodeB, Kind: api.KindNetwork}, true, false},
		{api.Key{Node: nodeB, Kind: api.KindRDMA, Name: "1"}, true, false}, {api.Key{Node: nodeA, Kind: api.KindLinkProfile, Name: "x"}, false, false},
		{api.Key{Node: nodeA, Kind: api.KindRDMAChange, Name: "x"}, false, false},
	} {
		is := is.New(t)
		matters, own := named().concerns(ledger.Change{Del: []api.Key{c.key}})
		is.Equal(matters, c.matters)
		is.Equal(own, c.own)
	}
}

// RDMA can be enabled on the cables that this node sees and that nothing is amiss with.
func TestOnWhichCablesItMayBeEnabled(t *testing.T) {
	is := is.New(t)
	graph := cabled(nodeA, nodeB, func(r api.PortNumber, rdma *api.RDMA, _ *api.Interface) {
		if r == 3 {
			rdma.SwitchedOn, rdma.Device = new(false), nil
		}
	})
	for r, want := range map[api.PortNumber]api.Reason{1: "", 2: "", 3: api.ReasonRDMASwitchOff, 4: api.ReasonNoSuchLink} {
		fault := MayEnable(graph, cable(nodeA, r, nodeB, r), "ada")
		is.Equal(fault == nil, want == "")
		is.True(fault == nil || fault.Is(want))
	}
}

// member is the key of the one other member.
type member ed25519.PublicKey

func (m member) PublicKey(api.NodeID) (ed25519.PublicKey, bool) { return ed25519.PublicKey(m), true }

// What another node says of its end in its document is heard.
func TestDocumentsAreHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		key := ed25519.NewKeyFromSeed([]byte("another Mac on the desk of a test"[:ed25519.SeedSize]))
		other := api.NodeIDFromKey(key.Public().(ed25519.PublicKey))
		const cluster = api.ClusterID("a7937b64b8caa58f03721bb6bacf5c78")
		disk := &peertest.Disk{}
		held, _, err := ledger.Open(ledger.Options{
			Key: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), Cluster: cluster, Counter: disk, Store: disk,
			Members: member(key.Public().(ed25519.PublicKey)),
		})
		is.NoErr(err)
		self := held.Node()
		d := newTable(t, self, other)
		defer d.close()
		link := cable(self, 2, other, 2)
		_, err = d.owner(self).Enable(t.Context(), api.Principal{User: "ada", Node: self}, link, false, nil)
		is.NoErr(err)
		settle(time.Second)
		d.scenario.Cut(self, other)
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- held.FollowEach(ctx, ledger.WatchOptions{}, d.owner(self).see) }()
		synctest.Wait()
		reported, _ := d.hosts[other].reported(link)
		reported.State = api.RDMAChangeUndone
		doc := api.Document{Node: other, Kind: api.KindRDMAChange, Name: link.String(), Inc: 1, Seq: 1, At: api.TimeOf(time.Now())}
		is.NoErr(doc.SetValue(reported))
		is.NoErr(doc.Sign(cluster, key))
		_, err = held.PutForeign(doc)
		is.NoErr(err)
		settle(30 * time.Second)
		state, _ := d.state(self, link)
		is.Equal(state, api.RDMAChangeState("")) // it was put back here too
		cancel()
		is.True(errors.Is(<-over, context.Canceled))
	})
}
