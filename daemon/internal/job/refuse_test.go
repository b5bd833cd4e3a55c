package job

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// signed is a job that a machine's person could hand over, with its parameters.
func signed(t *testing.T, by *machine, key ed25519.PrivateKey, principal api.Principal) api.PeerJobParams {
	t.Helper()
	id := api.NewJobID()
	spec := by.attested(program(words("hang")).Spec(id, principal, by.now()))
	spec.Home = principal.Node
	raw, sig, err := api.SignSpec(cluster, key, spec)
	if err != nil {
		t.Fatal(err)
	}
	job := api.Job{Spec: raw, SpecSig: sig, SpecSHA256: api.SpecSHA256(raw), Principal: principal, Home: by.id, Epoch: 1, Phase: api.JobPlacing}
	offer := job.StepTo(cluster, id, by.w.nodes[1].id, 2).Offer(by.key)
	return api.PeerJobParams{RequestKind: api.RequestSubmit, Job: id, By: principal, Handed: &job, Offer: &offer}
}

// What no member can have asked for is refused, whoever brings it.
func TestForgedJobsAreRefused(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		_, nonMember, _ := ed25519.GenerateKey(nil)
		gone := api.Principal{User: "ada", Node: api.NodeIDFromKey(nonMember.Public().(ed25519.PublicKey))}
		for name, test := range map[string]struct {
			make func() api.PeerJobParams
			want api.Reason
		}{
			"as it should be":       {func() api.PeerJobParams { return signed(t, a, a.key, a.person().Principal) }, ""},
			"another node's person": {func() api.PeerJobParams { return signed(t, a, c.key, c.person().Principal) }, api.ReasonHomeNotProven},
			"in another's name": {func() api.PeerJobParams {
				p := signed(t, a, a.key, a.person().Principal)
				p.By = c.person().Principal
				return p
			}, api.ReasonSpecAltered},
			"a signer who was removed": {func() api.PeerJobParams { p := signed(t, a, nonMember, gone); return p }, api.ReasonNotAMember},
			"no job":                   {func() api.PeerJobParams { p := signed(t, a, a.key, a.person().Principal); p.Handed = nil; return p }, api.ReasonMissingField},
			"a job that went on": {func() api.PeerJobParams {
				p := signed(t, a, a.key, a.person().Principal)
				p.Handed.Attempt = 1
				return p
			}, api.ReasonBadValue},
			"another home's": {func() api.PeerJobParams {
				p := signed(t, a, a.key, a.person().Principal)
				p.Handed.Home = c.id
				return p
			}, api.ReasonHomeNotProven},
			"no offer": {func() api.PeerJobParams {
				p := signed(t, a, a.key, a.person().Principal)
				p.Offer = nil
				return p
			}, api.ReasonMissingField},
			"an offer to another node": {func() api.PeerJobParams {
				p := signed(t, a, a.key, a.person().Principal)
				offer := p.Handed.StepTo(cluster, p.Job, c.id, 2).Offer(a.key)
				p.Offer = &offer
				return p
			}, api.ReasonHomeNotProven},
			"an offer that another node signed": {func() api.PeerJobParams {
				p := signed(t, a, a.key, a.person().Principal)
				offer := p.Handed.StepTo(cluster, p.Job, b.id, 2).Offer(c.key)
				p.Offer = &offer
				return p
			}, api.ReasonHomeNotProven},
			"an epoch above the offer's": {func() api.PeerJobParams {
				p := signed(t, a, a.key, a.person().Principal)
				p.Offer.Epoch = 9
				return p
			}, api.ReasonHomeNotProven},
			"an expired spec": {func() api.PeerJobParams {
				a.step.Store(int64(-api.SpecLifetime - time.Hour))
				defer a.step.Store(0)
				return signed(t, a, a.key, a.person().Principal)
			}, api.ReasonSpecExpired},
			"a spec that lives for longer than it may": {func() api.PeerJobParams {
				a.step.Store(int64(time.Hour))
				defer a.step.Store(0)
				return signed(t, a, a.key, a.person().Principal)
			}, api.ReasonSpecExpired},
			"another job's spec": {func() api.PeerJobParams {
				p := signed(t, a, a.key, a.person().Principal)
				p.Job = api.NewJobID()
				return p
			}, api.ReasonSpecAltered},
			"values nobody asked for": {func() api.PeerJobParams {
				p := signed(t, a, a.key, a.person().Principal)
				p.Environment = map[string]string{"K": "v"}
				return p
			}, api.ReasonBadValue},
			"a principal of its own": {func() api.PeerJobParams {
				p := signed(t, a, a.key, a.person().Principal)
				p.By.User, p.Handed.Principal.User = "root", "root"
				return p
			}, api.ReasonSpecAltered},
			"an altered spec": {func() api.PeerJobParams {
				p := signed(t, a, a.key, a.person().Principal)
				p.Handed.Spec = json.RawMessage(string(p.Handed.Spec[:len(p.Handed.Spec)-1]) + `,"retries":9}`)
				p.Handed.SpecSHA256 = api.SpecSHA256(p.Handed.Spec)
				return p
			}, api.ReasonSpecAltered},
			"another hash": {func() api.PeerJobParams {
				p := signed(t, a, a.key, a.person().Principal)
				p.Handed.SpecSHA256 = api.SpecSHA256(nil)
				return p
			}, api.ReasonSpecAltered},
		} {
			p := test.make()
			err := a.cfg.Peers.Call(t.Context(), b.id, "peer.job", p, nil)
			if test.want == "" {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if !errors.Is(err, test.want) {
				t.Errorf("%s: %v, not %s", name, err, test.want)
			}
			if _, err := b.Get(t.Context(), Caller{Admin: true}, api.JobSelect{Job: p.Job}); !errors.Is(err, api.ReasonNoSuchJob) {
				t.Errorf("%s: the job is there", name)
			}
		}
	})
}

// Jobs of a member that was removed are not begun, and documents by who is not
// their home are nobody's.
func TestARemovedSignersJobIsNotBegun(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		c.kill()
		pass(2 * time.Second)
		id := a.submits(program(words("hang"), a, b, c)) // waits for c
		pass(time.Second)
		a.cfg.Electors = nobody{a.cfg.Electors}
		c.start()
		is.Equal(a.until(id, api.JobFailed, 5*time.Second).Reason, api.ReasonNotAMember)
		is.Equal(w.starts, 0)
	})
}

// nobody is a roster without members.
type nobody struct{ api.Electors }

func (nobody) PublicKey(api.NodeID) (ed25519.PublicKey, bool) { return nil, false }

// What was checked once is not checked again before each plan; anything else is.
func TestStillSigned(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		id := a.submits(program(words("hang"), a, b))
		for _, m := range w.nodes {
			job := m.sees(id)
			is.NoErr(m.stillSigned(id, job))
			for name, change := range map[string]func(*api.Job){
				"bytes":     func(j *api.Job) { j.Spec = append(slices.Clone(j.Spec[:len(j.Spec)-1]), ' ', '}') },
				"signature": func(j *api.Job) { j.SpecSig = append([]byte{^j.SpecSig[0]}, j.SpecSig[1:]...) },
				"hash":      func(j *api.Job) { j.SpecSHA256 = strings.Repeat("0", 64) },
				"principal": func(j *api.Job) { j.Principal.User = "eve" },
			} {
				altered := job
				change(&altered)
				if err := m.stillSigned(id, altered); !errors.Is(err, api.ReasonSpecAltered) {
					t.Errorf("other %s: %v", name, err)
				}
			}
			is.True(errors.Is(m.stillSigned(api.NewJobID(), job), api.ReasonSpecAltered)) // another job's
		}
	})
}

func TestADocumentThatIsNotItsHomesIsIgnored(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		id := a.submits(program(words("sleep", "30s"), a))
		job := a.until(id, api.JobRunning, time.Second)
		job.Epoch, job.Phase = 9, api.JobStopped
		is.NoErr(docs{b}.Put(api.KindJob, id.String(), job, nil)) // home is a
		pass(time.Second)
		is.Equal(a.sees(id).Phase, api.JobRunning)
		// Nor is a rank's by another node than its plan's.
		zero := 3
		is.NoErr(b.writer.Put(draft(id.String()+"/1/0", api.Rank{Job: id, Attempt: 1, Epoch: 1, Phase: api.RankExited, Exit: &api.Exit{Code: &zero}})))
		is.Equal(a.until(id, api.JobSucceeded, time.Minute).Phase, api.JobSucceeded)
	})
}

// Who may stop, see and delete whose job.
func TestRequestsOfOthers(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		r := program(words("/home/ada/secret/train.py", "--token=x"), b, c)
		r.Name, r.Labels = "ada's plan", map[string]string{"team": "red"}
		id := a.submits(r)
		c.until(id, api.JobRunning, time.Second)
		other, admin := c.person(), Caller{Principal: c.person().Principal, Admin: true}
		_, err := c.Get(t.Context(), other, api.JobSelect{Job: id})
		is.True(errors.Is(err, api.ReasonNotYourJob))
		_, err = c.Watch(t.Context(), other, api.JobSelect{Job: id})
		is.True(errors.Is(err, api.ReasonNotYourJob))
		for _, caller := range []Caller{other, admin} { // an administrator there is nobody here
			is.True(errors.Is(c.Stop(t.Context(), caller, api.JobStopParams{Job: id}), api.ReasonNotYourJob))
		}
		request := api.PeerJobParams{RequestKind: api.RequestStop, Job: id, By: a.person().Principal}
		is.True(errors.Is(c.cfg.Peers.Call(t.Context(), b.id, "peer.job", request, nil), api.ReasonPeerNotAllowed)) // forged
		request.RequestKind = api.RequestDelete
		is.True(errors.Is(c.cfg.Peers.Call(t.Context(), b.id, "peer.job", request, nil), api.ReasonPeerNotAllowed))
		is.Equal(b.sees(id).Phase, api.JobRunning)

		all, err := c.List(t.Context(), other, api.JobListParams{})
		is.NoErr(err)
		is.Equal(len(all.Jobs), 1)
		is.Equal(all.Jobs[0].Name, "train.py") // and no more of it
		is.Equal(all.Jobs[0].Nodes, []api.NodeID{b.id, c.id})
		for _, p := range []api.JobListParams{{Mine: true}, {Labels: map[string]string{"team": "red"}}} {
			none, err := c.List(t.Context(), other, p)
			is.NoErr(err)
			is.Equal(len(none.Jobs), 0)
		}
		own, err := a.List(t.Context(), a.person(), api.JobListParams{Mine: true, Labels: map[string]string{"team": "red"}})
		is.NoErr(err)
		is.Equal(own.Jobs[0].Name, "ada's plan")
		is.True(own.Jobs[0].Mine)

		is.True(errors.Is(a.Delete(t.Context(), a.person(), api.JobDeleteParams{Job: id}), api.ReasonJobRunning))
		w.friend = other.Principal // the person is let, for ranks at the own node
		elsewhere := a.submits(program(words("hang"), b))
		c.until(elsewhere, api.JobPlacing, time.Second)
		is.True(errors.Is(c.Stop(t.Context(), other, api.JobStopParams{Job: elsewhere}), api.ReasonNotYourJob))
		is.NoErr(a.Stop(t.Context(), a.person(), api.JobStopParams{Job: elsewhere}))
		is.NoErr(c.Stop(t.Context(), other, api.JobStopParams{Job: id, Kill: true}))
		c.until(id, api.JobStopped, 5*time.Second)
		w.friend = api.Principal{}
		is.True(errors.Is(c.Delete(t.Context(), other, api.JobDeleteParams{Job: id}), api.ReasonNotYourJob))
		is.NoErr(a.Delete(t.Context(), Caller{Principal: api.Principal{User: "root", Node: a.id}, Admin: true}, api.JobDeleteParams{Job: id}))
	})
}

// Nodes that turn out to differ only once they are prepared end the job, unless its
// person wants it so.
func TestVersionsAfterThePreparation(t *testing.T) {
	for name, test := range map[string]struct {
		of    [2]string
		mixed bool
		want  api.JobPhase
	}{
		"alike":  {[2]string{"3.13.1", "3.13.1"}, false, api.JobSucceeded},
		"unlike": {[2]string{"3.13.1", "3.12.9"}, false, api.JobFailed},
		"wanted": {[2]string{"3.13.1", "3.12.9"}, true, api.JobSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, 2, func(t *testing.T, w *world) {
				is := is.New(t)
				for i, m := range w.nodes {
					m.mu.Lock()
					m.prepared = test.of[i]
					m.mu.Unlock()
				}
				request := program(words("sleep", "5s"), w.nodes...)
				request.AllowMixed = test.mixed
				id := w.nodes[0].submits(request)
				job := w.nodes[0].until(id, test.want, time.Minute)
				if test.want == api.JobFailed {
					is.Equal(job.Reason, api.ReasonPythonVersionsDiffer)
					is.Equal(len(job.Attempts), 1) // what a person has to put right
				}
			})
		})
	}
}

// A member publishes documents of a job of others: as its home at a higher epoch, as
// its owner, as its deletion. Nothing of it counts, and the true home goes on.
func TestDocumentsOfNoHomeCountNothing(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, m := w.nodes[0], w.nodes[1], w.nodes[2]
		id := a.submits(program(words("sleep", "60s"), b))
		job := a.until(id, api.JobRunning, time.Second)
		is.Equal(job.Home, b.id)
		forge := func(change func(*api.Job)) {
			forged := job
			forged.Home, forged.Epoch, forged.Phase = m.id, 100, api.JobRunning
			change(&forged)
			is.NoErr(docs{m}.Put(api.KindJob, id.String(), forged, nil))
			pass(time.Second)
			for _, n := range []*machine{a, b} {
				got, found := n.Known(id)
				is.True(found && !got.Gone && !got.Ended)
				is.Equal(got.Job.Home, b.id)
				is.Equal(got.Job.Principal, a.person().Principal)
				is.True(!n.Counts(id, forged))
			}
		}
		last := func(j *api.Job, s api.Succession) { j.Homes = append(slices.Clone(j.Homes), s) }
		step := job.StepTo(cluster, id, m.id, 100)
		forge(func(*api.Job) {})
		forge(func(j *api.Job) { last(j, step.Offer(m.key)) })
		forge(func(j *api.Job) {
			last(j, api.Succession{Epoch: 100, Home: m.id, Votes: []api.Vote{step.Vote(m.id, m.key)}})
		})
		forge(func(j *api.Job) {
			last(j, api.Succession{Epoch: 100, Home: m.id, Votes: []api.Vote{step.Vote(m.id, m.key), step.Vote(a.id, m.key), step.Vote(b.id, m.key)}})
		})
		forge(func(j *api.Job) { last(j, step.Act(m.person().Principal, m.key)) })
		forge(func(j *api.Job) { last(j, step.Act(a.person().Principal, m.key)) })
		forge(func(j *api.Job) { // another's spec under this job's id
			spec := m.attested(program(words("hang")).Spec(id, m.person().Principal, m.now()))
			raw, sig, err := m.sign(spec)
			is.NoErr(err)
			j.Spec, j.SpecSig, j.SpecSHA256, j.Principal, j.Epoch = raw, sig, api.SpecSHA256(raw), spec.Principal, 1
		})
		is.NoErr(docs{m}.DeleteJob(id, []api.Succession{step.Offer(m.key)}))
		pass(time.Second)
		is.Equal(a.sees(id).Phase, api.JobRunning)
		is.Equal(a.until(id, api.JobSucceeded, 2*time.Minute).Home, b.id)
	})
}

// What has ended is not begun again by its own home either, nor is a deleted job, also
// after everybody was restarted.
func TestAnEndIsTheEnd(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		id := a.submits(program(words("sleep", "1s"), b))
		running := a.until(id, api.JobRunning, time.Second)
		a.until(id, api.JobSucceeded, 10*time.Second)
		again := func() error {
			ref := api.RankRef{Job: id, Attempt: 9}
			warrant := running.Warrant()
			return b.cfg.Peers.Call(t.Context(), a.id, "peer.grant", api.PeerGrantParams{
				PeerHolderParams: api.PeerHolderParams{Holder: ref.String(), Epoch: running.Epoch, Warrant: &warrant}, GPU: api.GPUShared}, nil)
		}
		is.True(errors.Is(again(), api.ReasonJobEnded))
		is.NoErr(docs{b}.Put(api.KindJob, id.String(), running, nil)) // it runs, its home says
		pass(time.Second)
		is.Equal(a.sees(id).Phase, api.JobSucceeded)
		is.True(errors.Is(again(), api.ReasonJobEnded))
		a.kill()
		a.start()
		pass(2 * time.Second)
		is.True(errors.Is(again(), api.ReasonJobDeleted)) // it is remembered; there is no document that counts

		id = a.submits(program(words("sleep", "1s"), b))
		running = a.until(id, api.JobRunning, time.Second)
		a.until(id, api.JobSucceeded, 10*time.Second)
		pass(time.Second)
		is.NoErr(a.Delete(t.Context(), a.person(), api.JobDeleteParams{Job: id}))
		pass(time.Second)
		is.NoErr(docs{b}.Put(api.KindJob, id.String(), running, nil))
		pass(time.Second)
		for _, m := range w.nodes {
			got, found := m.Known(id)
			is.True(found && got.Gone)
		}
		is.True(errors.Is(again(), api.ReasonJobDeleted))
	})
}
