package audit

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// Whatever anybody does: space is bounded, nobody's calls push out those of others
// who have few, the newest of each outcome is kept, and what was dropped is counted.
func TestBounds(t *testing.T) {
	const most, perCaller, callers = 120, 40, 6
	whats := append(api.PeerConnKind("").Values(), "peer.start", "peer.end", "peer.renew", "job.stop")
	whys := api.AuditWhy("").Values()
	for seed := range testkit.Upto(t, 30) {
		random := seed.Source(1)
		b := newBook(most, perCaller)
		at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		calls, newest := map[string]uint64{}, map[string]map[api.AuditWhy]uint64{}
		kinds := 1 + random.IntN(len(whats))
		for step := range 3000 {
			who := byte(random.IntN(callers))
			if who > 2 && random.IntN(20) > 0 {
				who = byte(random.IntN(3)) // three flood, three are quiet
			}
			e := Entry{Node: node(who), What: whats[random.IntN(kinds)], Why: api.AuditWhy(whys[random.IntN(len(whys))]), Subject: fmt.Sprint(random.IntN(200))}
			at = at.Add(time.Duration(random.IntN(2000)) * time.Millisecond)
			kept, _ := b.add(e, api.TimeOf(at))
			name := callerOf(e)
			calls[name]++
			if newest[name] == nil {
				newest[name] = map[api.AuditWhy]uint64{}
			}
			newest[name][e.Why] = max(newest[name][e.Why], kept.Seq)
			if step%7 > 0 {
				continue
			}
			found, counted, of := map[uint64]bool{}, map[string]uint64{}, map[string]int{}
			for h := range b.all() {
				name := callerOf(h.entry.AuditCall)
				found[h.entry.Seq] = true
				counted[name] += h.entry.Count + h.entry.Dropped
				of[name]++
			}
			if len(found) > most || len(found) != b.n {
				t.Fatalf("seed %d: %d entries, and the book says %d", seed, len(found), b.n)
			}
			for _, n := range of {
				if n > perCaller {
					t.Fatalf("seed %d: %d entries of one caller", seed, n)
				}
			}
			for name, outcomes := range newest {
				for why, seq := range outcomes {
					if !found[seq] {
						t.Fatalf("seed %d: the newest entry of %s, %s is gone", seed, name, why)
					}
				}
				if counted[name] != calls[name] {
					t.Fatalf("seed %d: %s made %d calls, and %d are counted", seed, name, calls[name], counted[name])
				}
			}
		}
	}
}

// One who floods the record with every kind of call that there is, in every order,
// pushes out nothing of others, and nothing rare of its own.
func TestFlood(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	r.Record(Entry{Node: node(1), What: "output", Subject: "j00000000/1/0", Why: api.AuditMappedAccount}) // what it is about
	r.Record(Entry{By: api.Principal{User: "ada", Node: node(9)}, What: "cluster.map_user", Why: api.AuditAdmin})
	r.Record(renewal(2))
	before := r.lines()
	const flood = 3 * api.AuditKept
	for i := range flood {
		subject := fmt.Sprintf("j%08d/1/0", i)
		if i%2 == 0 {
			r.Record(Entry{Node: node(1), What: fmt.Sprint("peer.", i), Subject: subject, Why: api.AuditRefused, Reason: api.ReasonUnknownMethod})
		} else {
			r.Record(Entry{Node: node(1), By: api.Principal{User: fmt.Sprint("u", i), Node: node(1)}, What: "peer.renew", Subject: subject, Why: api.AuditHome})
		}
	}
	is.NoErr(r.Flush())
	is.Equal(len(r.store.records), api.AuditKeptPerCaller+2)
	is.Equal(r.lines()[:3], before)
	dropped := uint64(0)
	for _, e := range r.entries() {
		dropped += e.Dropped
	}
	is.Equal(dropped, uint64(flood+1-api.AuditKeptPerCaller))
}

// More nodes than the record has room for each keep their share.
func TestManyCallers(t *testing.T) {
	is := is.New(t)
	b := newBook(100, 50)
	at := api.TimeOf(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	for i := range 50 {
		for n := range byte(10) {
			b.add(refusal(n, fmt.Sprint(i)), at)
		}
	}
	is.Equal(b.n, 100)
	for _, c := range b.callers {
		is.True(c.n >= 9 && c.n <= 11)
	}
	for n := range byte(200) { // and where there is one entry each, the newest stay
		b.add(refusal(n, "x"), at)
	}
	is.Equal(b.n, 100)
	var seqs []uint64
	for h := range b.all() {
		seqs = append(seqs, h.entry.Seq)
	}
	is.True(slices.Contains(seqs, b.seq))
}
