package rank

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A rank whose devices carry nothing for a minute says since when, until they do again; where
// nothing counts it says why that is not known.
func TestSilenceOfAGroup(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var carried atomic.Uint64
	var broken atomic.Bool
	m, c := jaccl(t)
	m.config = func(cfg *Config) {
		cfg.Channels = c
		cfg.Carried = func(device string) (uint64, error) {
			if device != "rdma_en4" || broken.Load() {
				return 0, errors.New("not counted")
			}
			return carried.Load(), nil
		}
	}
	m.boot()
	is.NoErr(m.documents.Put(api.KindRDMA, "1", api.RDMA{PortNumber: 1, Device: &api.RDMADevice{Name: "rdma_en4"}}, nil))
	is.NoErr(m.documents.Put(api.KindRDMA, "2", api.RDMA{PortNumber: 2, Device: &api.RDMADevice{Name: "rdma_en5"}}, nil)) // another's
	p := m.group("exec sleep 60")
	p.Plan.Ranks[1].PortNumbers = []api.PortNumber{1}
	m.mustStart(p)
	m.until(p.Rank, api.RankHandshake)
	m.ranks.SetHandshake(p.Rank, api.Handshake{State: api.HandshakeJoined})
	m.until(p.Rank, api.RankRunning)

	// renew is one renewal, so long after the one before.
	renew := func(later time.Duration) {
		m.ranks.mu.Lock()
		if h := m.ranks.held[p.Rank]; !h.silence.at.IsZero() {
			h.silence.at = api.TimeOf(h.silence.at.Add(-later))
		}
		m.ranks.mu.Unlock()
		is.NoErr(m.call("peer.renew", api.PeerRenewParams{Job: m.job, Attempt: 1, Epoch: 1, LeaseS: 60}, &api.PeerRenewResult{}))
	}
	becomes := func(silent bool, unknown api.Reason) {
		t.Helper()
		eventually(t, "a document that says so", func() bool {
			rec, ok := m.ledger.Get(api.Key{Node: m.id, Kind: api.KindRank, Name: p.Rank.String()})
			doc, _ := m.doc(p.Rank)
			return ok && doc.SilentSince.IsZero() != silent && rec.Document().Unknown["silent_since"] == unknown
		})
	}
	renew(0)
	renew(50 * time.Second)
	becomes(false, "")
	renew(20 * time.Second)
	becomes(true, "")
	carried.Add(4)
	renew(0)
	becomes(false, "")
	renew(2 * time.Minute)
	becomes(true, "")
	m.ranks.mu.Lock()
	h := m.ranks.held[p.Rank]
	m.ranks.mu.Unlock()
	is.NoErr(m.ranks.save(h)) // as may happen at any moment
	broken.Store(true)
	renew(0)
	becomes(false, api.ReasonNotSupportedByOS)
	broken.Store(false)
	m.config = func(cfg *Config) { cfg.Channels = c } // a system that counts nothing
	m.boot()
	becomes(false, api.ReasonNotSupportedByPlatform)
}
