package api

import (
	"cmp"
	"crypto/ed25519"
	"errors"
	"slices"
	"testing"

	"github.com/matryer/is"
)

const (
	homesCluster = ClusterID("0123456789abcdef0123456789abcdef")
	homesJob     = JobID("j4k2m9xq7")
)

// electors are the nodes up to some number, of whom the first four vote at one head; up
// to the eighth the others were removed.
type electors byte

func (electors) Cluster() ClusterID { return homesCluster }

func (e electors) PublicKey(n NodeID) (ed25519.PublicKey, bool) {
	for i := range byte(e) {
		if testNode(i+1) == n {
			return testKey(i + 1).Public().(ed25519.PublicKey), true
		}
	}
	return nil, false
}

// SignerKey implements Electors: eight nodes are or were members.
func (electors) SignerKey(n NodeID) (ed25519.PublicKey, bool) { return electors(8).PublicKey(n) }

func (electors) Voters(heads []string) ([]NodeID, bool) {
	return []NodeID{testNode(1), testNode(2), testNode(3), testNode(4)}, slices.Equal(heads, []string{"head"})
}

// homeChain makes a chain of steps of a job whose submitter's node is 1 and whose first
// home is 2.
type homeChain struct {
	cluster ClusterID
	sha     string
	at      byte
	epoch   uint64
	steps   []Succession
}

func newChain() *homeChain { return &homeChain{homesCluster, SpecSHA256([]byte(`{}`)), 2, 1, nil} }

func (c *homeChain) step(to byte, epoch uint64) Step {
	return Step{Job: homesJob, Cluster: c.cluster, SpecSHA256: c.sha, From: testNode(c.at), Before: c.epoch, Home: testNode(to), Epoch: epoch}
}

func (c *homeChain) add(to byte, s Succession) *homeChain {
	c.steps = append(c.steps, s)
	c.at, c.epoch = to, s.Epoch
	return c
}

// offered has signer offer the job to another node.
func (c *homeChain) offered(signer, to byte, epoch uint64) *homeChain {
	return c.add(to, c.step(to, epoch).Offer(testKey(signer)))
}

func (c *homeChain) offer(to byte, epoch uint64) *homeChain { return c.offered(c.at, to, epoch) }

// vote has voters put another node in the home's place, in a term.
func (c *homeChain) vote(to byte, term uint64, voters ...byte) *homeChain {
	epoch := term * TermEpochs
	s := Succession{Epoch: epoch, Home: testNode(to), Votes: []Vote{}}
	for _, v := range voters {
		s.Votes = append(s.Votes, c.step(to, epoch).Vote(testNode(v), testKey(v)))
	}
	return c.add(to, s)
}

// act has a person of one node, as another one signs it, take the job over, in a term.
func (c *homeChain) act(of, signer, to byte, term uint64) *homeChain {
	epoch := term * TermEpochs
	return c.add(to, c.step(to, epoch).Act(Principal{User: "ada", Node: testNode(of)}, testKey(signer)))
}

// change alters the last step after it was signed.
func (c *homeChain) change(f func(*Succession)) *homeChain {
	f(&c.steps[len(c.steps)-1])
	return c
}

func TestVerifyHomes(t *testing.T) {
	spec := JobSpec{Job: homesJob, Principal: Principal{User: "ada", Node: testNode(1)}, Home: testNode(2), Roster: []string{"head"}}
	other := newChain()
	other.sha = SpecSHA256([]byte(`{"job":"other"}`))
	foreign := newChain()
	foreign.cluster = "fedcba9876543210fedcba9876543210"
	nowhere := newChain()
	many := func(n int) *homeChain {
		c := newChain()
		for range n {
			c.offer(2, c.epoch+1) // to itself
		}
		return c
	}
	any := func(Step, Act) bool { return true }
	none := func(Step, Act) bool { return false }
	tests := []struct {
		name  string
		chain *homeChain
		// job and who may are changed by these
		change func(*Job, *JobSpec)
		may    func(Step, Act) bool
		// members is how many were not removed; 0 = 8
		members byte
		ok      bool
	}{
		{name: "the first home", chain: newChain(), ok: true},
		{name: "not the first home", chain: newChain(), change: func(j *Job, _ *JobSpec) { j.Home = testNode(1) }},
		{name: "the first home at a higher epoch", chain: newChain(), change: func(j *Job, _ *JobSpec) { j.Epoch = 2 }},
		{name: "the first home at epoch 0", chain: newChain(), change: func(j *Job, _ *JobSpec) { j.Epoch = 0 }},

		{name: "an offer", chain: newChain().offer(3, 2), ok: true},
		{name: "an offer with epochs left out", chain: newChain().offer(3, 9), ok: true},
		{name: "an offer to itself, then to another", chain: newChain().offer(2, 3).offer(4, 4), ok: true},
		{name: "offers from home to home", chain: newChain().offer(3, 2).offer(4, 3).offer(2, 4), ok: true},
		{name: "an offer at the end of the term", chain: newChain().offer(3, TermEpochs-1), ok: true},
		{name: "an offer beyond the term", chain: newChain().offer(3, TermEpochs)},
		{name: "an offer by a home that was removed since", chain: newChain().offer(4, 2).offer(3, 3), members: 3, ok: true},
		{name: "an offer of the same epoch", chain: newChain().offer(3, 1)},
		{name: "an offer of a lower epoch", chain: newChain().offer(3, 5).offer(4, 4)},
		{name: "an offer by the new home", chain: newChain().offered(3, 3, 2)},
		{name: "an offer by the submitter's node", chain: newChain().offered(1, 3, 2)},
		{name: "an offer by no member", chain: newChain().offer(9, 2).offer(3, 3)},
		{name: "an offer to no node", chain: nowhere.add(3, Step{
			Job: homesJob, Cluster: homesCluster, SpecSHA256: nowhere.sha, From: testNode(2), Before: 1, Epoch: 2,
		}.Offer(testKey(2)))},
		{name: "an offer to another node", chain: newChain().offer(3, 2).change(func(s *Succession) { s.Home = testNode(4) })},
		{name: "an offer of another epoch", chain: newChain().offer(3, 2).change(func(s *Succession) { s.Epoch = 3 })},
		{name: "an empty offer", chain: newChain().offer(3, 2).change(func(s *Succession) { s.Offer = []byte{} })},
		{name: "an offer with the proof of a vote", chain: newChain().vote(3, 2, 2).change(func(s *Succession) {
			s.Offer, s.Votes = s.Votes[0].Sig, nil
		})},
		{name: "the last step alone claims another home", chain: newChain().offer(3, 2), change: func(j *Job, _ *JobSpec) { j.Home = testNode(4) }},
		{name: "the last step alone claims another epoch", chain: newChain().offer(3, 2), change: func(j *Job, _ *JobSpec) { j.Epoch = 3 }},

		{name: "out of order", chain: newChain().offer(3, 2).offer(4, 3), change: func(j *Job, _ *JobSpec) { slices.Reverse(j.Homes) }},
		{name: "a gap", chain: newChain().offer(3, 2).offer(4, 3).offer(2, 4), change: func(j *Job, _ *JobSpec) {
			j.Homes = slices.Delete(j.Homes, 1, 2)
		}},
		{name: "without the first step", chain: newChain().offer(3, 2).offer(4, 3), change: func(j *Job, _ *JobSpec) { j.Homes = j.Homes[1:] }},
		{name: "the last step twice", chain: newChain().offer(3, 2), change: func(j *Job, _ *JobSpec) { j.Homes = append(j.Homes, j.Homes[0]) }},
		{name: "the first step twice", chain: newChain().offer(3, 2).offer(4, 3), change: func(j *Job, _ *JobSpec) {
			j.Homes = slices.Insert(j.Homes, 1, j.Homes[0])
		}},

		{name: "as many steps as may be", chain: many(MaxSuccessions), ok: true},
		{name: "one step too many", chain: many(MaxSuccessions + 1)},

		{name: "no proof", chain: newChain().offer(3, 2).change(func(s *Succession) { s.Offer = nil })},
		{name: "an offer and votes", chain: newChain().vote(3, 2, 1, 2, 3).change(func(s *Succession) {
			s.Offer = newChain().offer(3, 2).steps[0].Offer
		})},
		{name: "an offer and an act", chain: newChain().act(1, 1, 3, 2).change(func(s *Succession) {
			s.Offer = newChain().offer(3, 2).steps[0].Offer
		})},
		{name: "votes and an act", chain: newChain().act(1, 1, 3, 2).change(func(s *Succession) {
			s.Votes = newChain().vote(3, 2, 1, 2, 3).steps[0].Votes
		})},

		{name: "three votes of four", chain: newChain().vote(5, 2, 1, 3, 4), ok: true},
		{name: "all votes", chain: newChain().vote(5, 2, 1, 2, 3, 4), ok: true},
		{name: "votes of voters that were removed since", chain: newChain().vote(5, 2, 1, 3, 4), members: 2, ok: true},
		{name: "votes within the term", chain: newChain().vote(5, 0, 1, 3, 4), change: func(j *Job, _ *JobSpec) {
			c := newChain()
			s := Succession{Epoch: 2, Home: testNode(5)}
			for _, v := range []byte{1, 3, 4} {
				s.Votes = append(s.Votes, c.step(5, 2).Vote(testNode(v), testKey(v)))
			}
			j.Homes, j.Epoch = []Succession{s}, 2
		}},
		{name: "votes for as high a term as may be", chain: newChain().vote(5, maxTerms, 1, 3, 4), ok: true},
		{name: "votes for a term too high", chain: newChain().vote(5, maxTerms+1, 1, 3, 4)},
		{name: "half of the votes", chain: newChain().vote(5, 2, 3, 4)},
		{name: "no votes", chain: newChain().vote(5, 2)},
		{name: "half of the votes and one that votes twice", chain: newChain().vote(5, 2, 3, 4, 4)},
		{name: "half of the votes and members that came later", chain: newChain().vote(5, 2, 3, 4, 5, 6)},
		{name: "half of the votes and one in another's name", chain: newChain().vote(5, 2, 3, 4, 5).change(func(s *Succession) {
			s.Votes[2].Node = testNode(1)
		})},
		{name: "votes for another node", chain: newChain().vote(5, 2, 1, 3, 4).change(func(s *Succession) { s.Home = testNode(6) })},
		{name: "votes for another epoch", chain: newChain().vote(5, 2, 1, 3, 4).change(func(s *Succession) { s.Epoch = 3 * TermEpochs })},
		{name: "offers for votes", chain: newChain().vote(5, 2, 1, 3, 4).change(func(s *Succession) {
			for i, v := range []byte{1, 3, 4} {
				s.Votes[i].Sig = newChain().offered(v, 5, 2).steps[0].Offer
			}
		})},
		{name: "votes after votes", chain: newChain().vote(3, 2, 1, 3, 4).vote(5, 3, 1, 2, 4), ok: true},
		{name: "votes in place of another home", chain: newChain().vote(5, 3, 1, 3, 4), change: func(j *Job, _ *JobSpec) {
			j.Homes = append(newChain().offer(4, 2).steps, j.Homes...)
		}},
		{name: "votes in place of another home of the same epoch", chain: newChain().offer(3, 2).vote(5, 3, 1, 3, 4), change: func(j *Job, _ *JobSpec) {
			j.Homes[0] = newChain().offer(4, 2).steps[0]
		}},
		{name: "votes in place of the same home of another epoch", chain: newChain().offer(2, 2).vote(5, 3, 1, 3, 4), change: func(j *Job, _ *JobSpec) {
			j.Homes = j.Homes[1:]
		}},
		{name: "votes at a roster that is not known", chain: newChain().vote(5, 2, 1, 3, 4), change: func(_ *Job, s *JobSpec) {
			s.Roster = []string{"unknown"}
		}},
		{name: "votes at no roster", chain: newChain().vote(5, 2, 1, 3, 4), change: func(_ *Job, s *JobSpec) { s.Roster = nil }},
		{name: "more votes than are read", chain: newChain().vote(5, 2, slices.Repeat([]byte{6}, maxVotes)...).change(func(s *Succession) {
			s.Votes = append(s.Votes, newChain().vote(5, 2, 1, 3, 4).steps[0].Votes...)
		})},

		{name: "an act at the submitter's node", chain: newChain().act(1, 1, 3, 2), ok: true},
		{name: "an act at the submitter's node, whoever is bound", chain: newChain().act(1, 1, 3, 2), may: none, ok: true},
		{name: "an act at the new home binds nobody by itself", chain: newChain().act(3, 3, 3, 2)},
		{name: "an act at the new home that binds", chain: newChain().act(3, 3, 3, 2), may: any, ok: true},
		{name: "an act at the new home that does not bind", chain: newChain().act(3, 3, 3, 2), may: none},
		{name: "an act of a home that was removed since", chain: newChain().act(4, 4, 4, 2), may: any, members: 3, ok: true},
		{name: "an act at a third node", chain: newChain().act(4, 4, 3, 2), may: any},
		{name: "an act that the new home signed for the submitter's node", chain: newChain().act(1, 3, 3, 2), may: any},
		{name: "an act that the submitter's node signed for the new home", chain: newChain().act(3, 1, 3, 2), may: any},
		{name: "an act of another person", chain: newChain().act(1, 1, 3, 2).change(func(s *Succession) { s.Act.By.User = "eve" }), may: any},
		{name: "an act for another home", chain: newChain().act(1, 1, 3, 2).change(func(s *Succession) { s.Home = testNode(4) }), may: any},
		{name: "an act without a signature", chain: newChain().act(1, 1, 3, 2).change(func(s *Succession) { s.Act.Sig = nil }), may: any},
		{name: "an act of no member", chain: newChain().act(9, 9, 9, 2), may: any},
		{name: "an offer after an act that does not bind", chain: newChain().act(3, 3, 3, 2).offer(4, 3)},

		{name: "another job's steps", chain: other.offer(3, 2), change: func(j *Job, _ *JobSpec) { j.SpecSHA256 = newChain().sha }},
		{name: "another job's votes", chain: func() *homeChain { c := newChain(); c.sha = other.sha; return c.vote(3, 2, 1, 3, 4) }(),
			change: func(j *Job, _ *JobSpec) { j.SpecSHA256 = newChain().sha }},
		{name: "another cluster's steps", chain: foreign.offer(3, 2)},
		{name: "another cluster's act", chain: func() *homeChain { c := newChain(); c.cluster = foreign.cluster; return c.act(1, 1, 3, 2) }(), may: any},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			j, s := Job{SpecSHA256: test.chain.sha, Home: testNode(test.chain.at), Epoch: test.chain.epoch, Homes: test.chain.steps}, spec
			if n := len(j.Homes); n > 0 {
				j.Home, j.Epoch = j.Homes[n-1].Home, j.Homes[n-1].Epoch
			}
			if test.change != nil {
				test.change(&j, &s)
			}
			err := j.VerifyHomes(s, electors(cmp.Or(test.members, 8)), test.may)
			if (err == nil) != test.ok || err != nil && !errors.Is(err, ReasonHomeNotProven) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestVerifyHomesAsks: who is asked about a person's act is told which step and whose.
func TestVerifyHomesAsks(t *testing.T) {
	is := is.New(t)
	spec := JobSpec{Job: homesJob, Principal: Principal{User: "ada", Node: testNode(1)}, Home: testNode(2)}
	c := newChain().offer(4, 5)
	want := c.step(3, 7*TermEpochs)
	c.act(3, 3, 3, 7)
	j := Job{SpecSHA256: c.sha, Home: testNode(3), Epoch: c.epoch, Homes: c.steps}
	asked := 0
	is.NoErr(j.VerifyHomes(spec, electors(8), func(s Step, a Act) bool {
		asked++
		is.Equal(s, want)
		is.Equal(a.By, Principal{User: "ada", Node: testNode(3)})
		return true
	}))
	is.Equal(asked, 1)
}

// TestAReplacedHomeOutranksNobody: whatever a home offers that was voted out, or replaced by
// a person, the documents of its successors count before what comes of it.
func TestAReplacedHomeOutranksNobody(t *testing.T) {
	is := is.New(t)
	spec := JobSpec{Job: homesJob, Principal: Principal{User: "ada", Node: testNode(1)}, Home: testNode(2), Roster: []string{"head"}}
	job := func(c *homeChain) Job {
		j := Job{SpecSHA256: c.sha, Home: testNode(c.at), Epoch: c.epoch, Homes: c.steps}
		is.NoErr(j.VerifyHomes(spec, electors(8), nil))
		return j
	}
	elsewhere := job(newChain().offer(2, TermEpochs-3).offer(6, TermEpochs-2).offer(7, TermEpochs-1))
	for _, successor := range []*homeChain{newChain().vote(5, 1, 1, 3, 4), newChain().act(1, 1, 5, 1)} {
		now := job(successor)
		is.True(now.Outranks(elsewhere))
		is.True(!elsewhere.Outranks(now))
	}
}
