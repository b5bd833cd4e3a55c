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
	spec := by.vouched(program(words("hang")).Spec(id, principal, by.now()))
	spec.Home = principal.Node
	raw, sig, err := api.SignSpec(cluster, key, spec)
	if err != nil {
		t.Fatal(err)
	}
	job := api.Job{Spec: raw, SpecSig: sig, SpecSHA256: api.SpecSHA256(raw), Principal: principal, Home: by.id, Epoch: 1, Phase: api.JobPlacing}
	offer := job.StepTo(cluster, id, by.w.nodes[1].id, 2).Offer(by.key)
	return api.PeerJobParams{Wish: api.WishSubmit, Job: id, By: principal, Handed: &job, Offer: &offer}
}

// What no member can have asked for is refused, whoever brings it.
func TestForgedJobsAreRefused(t *testing.T) {
	in(t, 3, func(t *testing.T, w *world) {
		a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
		_, stranger, _ := ed25519.GenerateKey(nil)
		gone := api.Principal{User: "ada", Node: api.NodeIDFromKey(stranger.Public().(ed25519.PublicKey))}
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
			"a signer who was removed": {func() api.PeerJobParams { p := signed(t, a, stranger, gone); return p }, api.ReasonNotAMember},
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
func TestWishesOfOthers(t *testing.T) {
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
		wish := api.PeerJobParams{Wish: api.WishStop, Job: id, By: a.person().Principal}
		is.True(errors.Is(c.cfg.Peers.Call(t.Context(), b.id, "peer.job", wish, nil), api.ReasonPeerNotAllowed)) // forged
		wish.Wish = api.WishDelete
		is.True(errors.Is(c.cfg.Peers.Call(t.Context(), b.id, "peer.job", wish, nil), api.ReasonPeerNotAllowed))
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
