package job

import (
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// portless is a world of five in which a job of nodes[2] loses its home, nodes[0];
// nodes[4] is away, so that exactly three can vote, and nodes[1] is the lowest of them.
func portless(t *testing.T, w *world) (id api.JobID, before api.Job) {
	t.Helper()
	submitter, home := w.nodes[2], w.nodes[0]
	r := program(words("sleep", "10m"), home, submitter)
	r.Placement.Nodes, r.Retries = nil, 1
	id = submitter.submits(r)
	before = submitter.until(id, api.JobRunning, 5*time.Second)
	if before.Home != home.id {
		t.Fatalf("the home is %s", before.Home)
	}
	w.nodes[4].kill()
	home.kill()
	return id, before
}

// A home is proven by its voters' signatures, also to who checks them only after some of
// the voters were removed: a node that was restarted since, and one that was away.
func TestVotesOfRemovedMembersProveTheHome(t *testing.T) {
	in(t, 5, func(t *testing.T, w *world) {
		is := is.New(t)
		next, submitter := w.nodes[1], w.nodes[2]
		id, _ := portless(t, w)
		for submitter.sees(id).Home != next.id {
			pass(time.Second)
		}
		is.Equal(len(submitter.sees(id).Homes[1].Votes), 3) // all that are needed
		w.removes(w.nodes[0], w.nodes[3])
		pass(2 * time.Second)
		submitter.kill()
		submitter.start()
		w.nodes[4].start()
		for _, m := range []*machine{submitter, w.nodes[4]} {
			is.Equal(m.until(id, api.JobSucceeded, 30*time.Minute).Home, next.id)
		}
	})
}

// A home that was voted out cannot come back by an offer, nor give the job to another
// node, at whatever epoch its key signs that. That its own daemon, which is a node of the
// attempt before, calls its successor outdated does not stop the successor either.
func TestAHomeThatWasVotedOutOffersInVain(t *testing.T) {
	in(t, 5, func(t *testing.T, w *world) {
		is := is.New(t)
		former, next, submitter, other := w.nodes[0], w.nodes[1], w.nodes[2], w.nodes[3]
		id, before := portless(t, w)
		for job := before; job.Home != next.id || job.Phase != api.JobRunning; job = submitter.sees(id) {
			pass(time.Second)
		}
		former.start()
		w.nodes[4].start()
		pass(5 * time.Second)
		for _, to := range []*machine{former, other} {
			for _, epoch := range []uint64{before.Epoch + 1, before.Epoch + 100, api.TermEpochs - 1, api.TermEpochs, 1 << 40, 1 << 62} {
				claim := before
				claim.Succeed(before.StepTo(cluster, id, to.id, epoch).Offer(former.key))
				is.NoErr(docs{to}.Put(api.KindJob, id.String(), claim, nil))
				pass(time.Second)
				for _, m := range []*machine{next, submitter, w.nodes[4]} {
					got, _ := m.Known(id)
					is.Equal(got.Job.Home, next.id)
				}
				renew := api.PeerRenewParams{Warrant: claim.Warrant(), Job: id, Attempt: claim.Attempt, Epoch: epoch, LeaseS: 10}
				err := to.cfg.Peers.Call(t.Context(), submitter.id, "peer.renew", renew, nil)
				is.True(errors.Is(err, api.ReasonStaleEpoch) || errors.Is(err, api.ReasonHomeNotProven))
			}
		}
		pass(30 * time.Minute)
		for i, m := range w.nodes {
			j := m.sees(id)
			t.Logf("%d home %s epoch %d phase %s since %v att %d phases %v", i, j.Home, j.Epoch, j.Phase, j.PhaseSince, j.Attempt, j.Phases)
		}
		t.Log(w.living(id), time.Now())
		is.Equal(submitter.until(id, api.JobSucceeded, 30*time.Minute).Home, next.id)
	})
}

// A vote is given once for an epoch and none below it, also after a restart, for the spec
// that the voter knows, and not for a job of which it knows the end.
func TestAVoteIsGivenOnce(t *testing.T) {
	in(t, 5, func(t *testing.T, w *world) {
		is := is.New(t)
		next, voter, other := w.nodes[1], w.nodes[2], w.nodes[3]
		id, before := portless(t, w)
		for voter.sees(id).Phase != api.JobHomeLost {
			pass(time.Second)
		}
		next.kill() // before it asks
		pass(2 * time.Minute)
		ask := func(by *machine, change func(*api.PeerVoteParams)) (got api.PeerVoteResult, err error) {
			p := api.PeerVoteParams{Warrant: before.Warrant(), Job: id, From: before.Home, FromEpoch: before.Epoch, Epoch: 3 * api.TermEpochs}
			if change != nil {
				change(&p)
			}
			return got, by.cfg.Peers.Call(t.Context(), voter.id, "peer.vote", p, &got)
		}
		_, err := ask(other, func(p *api.PeerVoteParams) { // the submitter's node signed two specs of one job
			spec := voter.attested(program(words("hang")).Spec(id, voter.person().Principal, voter.now()))
			raw, sig, err := voter.sign(spec)
			is.NoErr(err)
			p.Spec, p.SpecSig = raw, sig
			step := api.Step{Job: id, Cluster: cluster, SpecSHA256: api.SpecSHA256(p.Spec), From: voter.id, Before: 1, Home: before.Home, Epoch: before.Epoch}
			p.Homes = []api.Succession{step.Offer(voter.key)}
		})
		is.True(errors.Is(err, api.ReasonSpecAltered))
		for range 2 {
			got, err := ask(other, nil)
			is.NoErr(err)
			is.True(got.Vote != nil) // asked again it says the same
			got, err = ask(w.nodes[2], nil)
			is.NoErr(err)
			is.True(got.Vote == nil)
			is.Equal(got.VotedEpoch, uint64(3*api.TermEpochs))
			got, err = ask(w.nodes[2], func(p *api.PeerVoteParams) { p.Epoch = 2 * api.TermEpochs })
			is.NoErr(err)
			is.True(got.Vote == nil)
			voter.kill()
			voter.start()
			pass(2 * time.Minute)
		}
		is.NoErr(voter.remember(id, func(m *Remembered) { m.Ended = true }))
		got, err := ask(other, nil)
		is.True(got.Vote == nil && (err != nil || got.Reason == api.ReasonJobEnded))
	})
}

// An offer that was refused counts no more, whatever the node that refused it makes of it
// later.
func TestARefusedOfferCountsNoMore(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		b.mu.Lock()
		b.full = true // and refuses for it
		b.mu.Unlock()
		id := a.submits(program(words("hang"), b))
		a.until(id, api.JobBackoff, 5*time.Second)
		now := a.sees(id)
		is.Equal(now.Home, a.id)
		is.True(now.Epoch > 2)
		claim := now
		claim.Homes, claim.Home, claim.Epoch = nil, a.id, 1
		claim.Succeed(claim.StepTo(cluster, id, b.id, 2).Offer(a.key)) // as it was signed
		is.NoErr(b.writer.Put(ledger.Draft{Kind: api.KindJob, Name: id.String(), Value: claim}))
		pass(100 * time.Millisecond)
		for _, m := range []*machine{a, c} {
			got, _ := m.Known(id)
			is.Equal(got.Job.Home, a.id)
			renew := api.PeerRenewParams{Warrant: claim.Warrant(), Job: id, Attempt: 1, Epoch: 2, LeaseS: 10}
			is.True(errors.Is(b.cfg.Peers.Call(t.Context(), m.id, "peer.renew", renew, nil), api.ReasonStaleEpoch))
		}
	})
}
