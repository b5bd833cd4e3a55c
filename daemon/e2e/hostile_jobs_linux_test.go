package e2e

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/hostile"
	"fulmen/daemon/e2e/testcluster"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/rank/files/wire"
)

// What only the victim may have: it is in the output, the variables and the folder of
// the victim's job.
const (
	secretOutput = "secret-in-output"
	secretValue  = "secret-in-values"
	secretFile   = "secret-in-folder"
)

// victimJob is a job that says a secret and then again what it reads, from a folder
// that is copied to the nodes of its plan, on studio-1 alone.
func (a *attack) victimJob() api.JobSubmitParams {
	folder := filepath.Join(a.Work, "folder")
	must(a.t, "a folder", errors.Join(os.Mkdir(folder, 0o700), a.Account.Owns(folder)))
	file := filepath.Join(folder, "file")
	must(a.t, "a file", errors.Join(os.WriteFile(file, []byte(secretFile), 0o600), a.Account.Owns(file)))
	return api.JobSubmitParams{
		Environment: map[string]string{"HF_TOKEN": secretValue},
		Request: api.JobRequest{
			Name: "secret-name", Labels: map[string]string{"secret-key": "secret-label"},
			Program: api.Program{
				Command:   []string{"/bin/sh", "-c", `printf '` + secretOutput + `\033]52;c;eA==\007\n'; exec cat`, "--token=hunter2"},
				Directory: folder, Home: a.Account.Home, Variables: []string{"HF_TOKEN"}, Sync: true, Stdin: api.StdinRank0,
			},
			Placement: api.Placement{Ranks: 1, Nodes: []api.NodeID{a.Nodes[0].ID}}, Detached: true,
		},
	}
}

// submits has the victim submit a job at studio-1.
func (a *attack) submits(t *testing.T, p api.JobSubmitParams) api.JobID {
	t.Helper()
	return call[api.JobSubmitResult](t, a.clients.victim, "job.submit", p).Job
}

// runs waits until a job does, and gives it.
func (a *attack) runs(t *testing.T, id api.JobID) (api.Job, []api.Rank) {
	t.Helper()
	return (&jobs{a.stage, a.Cluster}).until(t, a.Nodes[0], id, "rank that runs", timeout, isRunning(1))
}

// genuine is a job's document as the hostile member gets it by the protocol.
func (a *attack) genuine(t *testing.T, id api.JobID) (api.Job, api.JobSpec) {
	t.Helper()
	var job api.Job
	var spec api.JobSpec
	eventually(t, "document of the job", soon, func() bool {
		known, _, err := jobOf(t.Context(), a.Nodes[0].Client, id)
		if err != nil {
			return false
		}
		var result api.PeerPullResult
		key := api.Key{Node: known.Home, Kind: api.KindJob, Name: string(id)}
		must(t, "peer.pull", a.m.Call(t.Context(), a.Nodes[0].ID, "peer.pull", api.PeerPullParams{Keys: []api.Key{key}}, &result))
		return len(result.Docs) == 1 && result.Docs[0].Decode(&job) == nil && json.Unmarshal(job.Spec, &spec) == nil
	})
	return job, spec
}

// stolen is the warrant of the victim's job with a step to the hostile member that
// nobody but it has signed, and that is otherwise as an offer has to be.
func (a *attack) stolen(job api.Job) (w api.Warrant, epoch uint64) {
	const high = api.TermEpochs - 1
	w = job.Warrant()
	w.Homes = append(slices.Clone(w.Homes), job.StepTo(a.cluster, "", a.m.Node, high).Offer(a.m.Key()))
	return w, high
}

// claims are all the proofs that the hostile member can make up of being a job's home.
func (a *attack) claims(job api.Job) (all [][]api.Succession) {
	step := job.StepTo(a.cluster, "", a.m.Node, api.NextTerm(job.Epoch))
	vote := step.Vote(a.m.Node, a.m.Key())
	w, _ := a.stolen(job)
	all = append(all, nil, w.Homes)
	for _, s := range []api.Succession{
		{Epoch: step.Epoch, Home: step.Home, Votes: slices.Repeat([]api.Vote{vote}, 4)},
		step.Act(a.eve(), a.m.Key()), step.Act(a.victim, a.m.Key()),
	} {
		all = append(all, append(slices.Clone(job.Homes), s))
	}
	return all
}

// forged is the warrant of a spec that names the victim, or any other, and that the
// hostile member has signed, as a job whose home it is.
func (a *attack) forged(t *testing.T, spec api.JobSpec) api.Warrant {
	t.Helper()
	spec.Home, spec.Roster = a.m.Node, a.network.Heads()
	spec.SubmittedAt = api.TimeOf(time.Now())
	spec.ExpiresAt = api.TimeOf(time.Now().Add(time.Hour))
	spec.MaxAttempts, spec.Output = 1, api.OutputDelete
	w, err := a.m.Forges(spec)
	must(t, "a spec", err)
	return w
}

// eve is a person of the hostile member's.
func (a *attack) eve() api.Principal { return a.m.Person("eve") }

// isRefused checks that a node refused a call of the hostile member's, and that its own
// people see so.
func (a *attack) isRefused(t *testing.T, at *testcluster.Node, method string, params any, why ...api.Reason) {
	t.Helper()
	err := a.m.Call(t.Context(), at.ID, method, params, nil)
	if !slices.ContainsFunc(why, func(r api.Reason) bool { return errors.Is(err, r) }) {
		t.Errorf("%s at %s: %v, and must be one of %v", method, at.Mac, err, why)
		return
	}
	a.isRecorded(t, at, method, why...)
}

// isRecorded waits until a node's audit has a refusal of the hostile member.
func (a *attack) isRecorded(t *testing.T, at *testcluster.Node, what string, why ...api.Reason) {
	t.Helper()
	eventually(t, "row of the audit that "+what+" was refused", soon, func() bool {
		audit := call[api.EventAuditResult](t, at.Client, "event.audit", api.EventAuditParams{})
		return slices.ContainsFunc(audit.Entries, func(e api.AuditEntry) bool {
			return e.Node == a.m.Node && e.What == what && e.Why == api.AuditRefused && slices.Contains(why, e.Reason)
		})
	})
}

// receives opens a connection to studio-1 and gives all that comes until it ends, or
// nothing comes for a while.
func (a *attack) receives(t *testing.T, first api.PeerConn, report ...func(io.Writer)) string {
	t.Helper()
	conn, err := a.m.Stream(t.Context(), a.Nodes[0].ID, first)
	if err != nil {
		return ""
	}
	defer conn.Close()
	for _, s := range report {
		s(conn)
	}
	must(t, "a deadline", conn.SetReadDeadline(time.Now().Add(3*time.Second)))
	all, _ := io.ReadAll(conn)
	return string(all)
}

// isUnharmed checks that the victim's job runs on, by the same process.
func (a *attack) isUnharmed(t *testing.T) {
	t.Helper()
	job, _ := a.runs(t, a.job)
	is := is.New(t)
	is.Equal(job.Home, a.Nodes[0].ID)
	is.Equal(job.Epoch, uint64(1))
	is.Equal(job.Attempt, 1)
	is.Equal(job.StopRequested, nil)
}

// A preflight that names the victim, a program in place of Python, and variables by
// which that program runs anything.
func (a *attack) testPreflight(t *testing.T) {
	is := is.New(t)
	ran := filepath.Join(a.Work, "ran")
	program := filepath.Join(a.Work, "make")
	must(t, "a program", errors.Join(os.WriteFile(program, []byte("#!/bin/sh\n: >>"+ran+"\n"), 0o755), a.Account.Owns(program)))
	ask := func(by api.Principal) api.PeerPreflightParams {
		spec := api.JobSpec{Job: api.NewJobID(), Principal: by, Program: api.Program{
			Command: []string{"train.py"}, Interpreter: program, Directory: a.Work, Variables: []string{"MAKEFLAGS"}, Stdin: api.StdinNone}}
		return api.PeerPreflightParams{Warrant: a.forged(t, spec), Epoch: 1, Environment: map[string]string{"MAKEFLAGS": "--eval=$(shell touch " + ran + ")"}}
	}
	a.isRefused(t, a.Nodes[0], "peer.preflight", ask(a.victim), api.ReasonSpecAltered)
	a.isRefused(t, a.Nodes[0], "peer.preflight", ask(api.Principal{User: "root", Node: a.Nodes[0].ID}), api.ReasonSpecAltered)
	// A person of its own, of whom studio-1 knows no account, and studio-2 does.
	for i, at := range a.Nodes[:2] {
		var found api.Preflight
		err := a.m.Call(t.Context(), at.ID, "peer.preflight", ask(a.eve()), &found)
		t.Logf("%s: %+v, %v", at.Mac, found, err)
		is.True(i != 0 || err != nil || len(found.Problems) > 0) // it maps nobody
		is.Equal(len(found.Versions), 0)
	}
	is.True(!exists(ran))
}

// The victim's output, input, size and end, as the victim, as a person whom the
// member's own map and own document of the job make the victim, and as nobody.
func (a *attack) testOutput(t *testing.T) {
	is := is.New(t)
	at := a.Nodes[0]
	job, spec := a.genuine(t, a.job)
	sharing, err := a.m.Signs(api.KindSharing, "", api.Sharing{Jobs: api.JobsMapped, MappedMembers: true, Mapped: []api.Principal{a.victim}, RDMAChanges: api.ChangesMembers})
	must(t, "a map", err)
	spec.Principal = a.eve()
	w := a.forged(t, spec)
	job.Spec, job.SpecSig, job.SpecSHA256, job.Principal = w.Spec, w.SpecSig, api.SpecSHA256(w.Spec), a.eve()
	job.Home, job.Epoch = a.m.Node, 100
	mine, err := a.m.Signs(api.KindJob, string(a.job), job)
	must(t, "a job", err)
	_, err = a.m.Puts(t.Context(), at.ID, sharing, mine)
	must(t, "documents", err)

	rank := api.RankRef{Job: a.job, Attempt: 1}
	typed := func(w io.Writer) {
		_ = peer.NewWriter(w).Send(peer.Given{Data: []byte("typed by another\n")}) // it may be closed already
	}
	for _, by := range []api.Principal{a.eve(), a.victim, a.m.Person(a.victim.User)} {
		for _, follow := range []bool{false, true} {
			got := a.receives(t, api.PeerConn{Carries: api.ConnOutput, Rank: rank, Output: &api.PeerOutput{By: by, Follow: follow}})
			if strings.Contains(got, secretOutput) {
				t.Errorf("%s hears %q", by, got)
			}
		}
		a.receives(t, api.PeerConn{Carries: api.ConnInput, Rank: rank, Input: &api.PeerInput{By: by}}, typed)
		why := []api.Reason{api.ReasonNotYourJob, api.ReasonPeerNotAllowed}
		a.isRefused(t, at, "peer.resize", api.PeerResizeParams{Rank: rank, By: by, Rows: 1, Columns: 1}, why...)
		for _, request := range []api.JobRequestKind{api.RequestStop, api.RequestDelete} {
			p := api.PeerJobParams{RequestKind: request, Job: a.job, By: by, Kill: true, Reason: api.ReasonClientGone}
			if err := a.m.Call(t.Context(), at.ID, "peer.job", p, nil); !errors.Is(err, api.ReasonNotYourJob) && !errors.Is(err, api.ReasonPeerNotAllowed) {
				t.Errorf("%s as %s: %v", request, by, err)
			}
		}
	}
	a.isRecorded(t, at, "output", api.ReasonNotYourJob)
	a.isRecorded(t, at, "input", api.ReasonNotYourJob)
	a.isRecorded(t, at, "peer.job", api.ReasonNotYourJob)
	out := a.printed(t)
	is.True(strings.Contains(out, secretOutput)) // it was there to be read
	is.True(!strings.Contains(out, "typed by another"))
	a.isUnharmed(t)
}

// printed is what the victim's job has printed, as the victim reads it.
func (a *attack) printed(t *testing.T) string {
	t.Helper()
	c := a.Command(t.Context(), a.Fulmen, "job", "logs", string(a.job))
	c.Env = append(c.Env, api.EnvHome+"="+a.Nodes[0].Home)
	got := end(t, c)
	is.New(t).Equal(got.status, 0)
	return got.out + got.err
}

// The values of the job's variables, for the genuine spec in a document of the
// member's own, of which it is the home since epoch 100.
func (a *attack) testValues(t *testing.T) {
	is := is.New(t)
	job, _ := a.genuine(t, a.job)
	w, epoch := a.stolen(job)
	job.Home, job.Epoch, job.Homes = a.m.Node, epoch, w.Homes
	mine, err := a.m.Signs(api.KindJob, string(a.job), job)
	must(t, "a job", err)
	for _, at := range a.Nodes[:3] {
		_, err = a.m.Puts(t.Context(), at.ID, mine)
		must(t, "documents", err)
	}
	for _, homes := range a.claims(job) {
		var got api.PeerJobResult
		p := api.PeerJobParams{RequestKind: api.RequestValues, Job: a.job, By: a.victim, Homes: homes}
		err := a.m.Call(t.Context(), a.Nodes[0].ID, "peer.job", p, &got)
		is.True(errors.Is(err, api.ReasonHomeNotProven))
		is.Equal(len(got.Environment), 0)
	}
	a.isRecorded(t, a.Nodes[0], "peer.job", api.ReasonHomeNotProven)
	// Nor by an offer or votes that it made up, at any node.
	for _, at := range a.Nodes[:3] {
		a.isRefused(t, at, "peer.vote", api.PeerVoteParams{Warrant: w, Job: a.job, From: a.m.Node, FromEpoch: epoch, Epoch: api.NextTerm(epoch)}, api.ReasonHomeNotProven)
		a.isRefused(t, at, "peer.job", api.PeerJobParams{RequestKind: api.RequestSubmit, Job: a.job, By: a.victim, Handed: &job,
			Offer: new(job.StepTo(a.cluster, a.job, at.ID, epoch+1).Offer(a.m.Key()))}, api.ReasonHomeNotProven)
		known, _, err := jobOf(t.Context(), at.Client, a.job)
		is.NoErr(err)
		is.Equal(known.Home, a.Nodes[0].ID)
	}
	a.isUnharmed(t)
}

// The folder of the job, by a document of it of which a rank runs at the member, and of
// a job that never was, which has the genuine spec and an offer of it that studio-1
// signed.
func (a *attack) testFolder(t *testing.T) {
	job, _ := a.genuine(t, a.job)
	home, err := a.network.Stolen(a.Nodes[0].Home, a.cluster)
	must(t, "the key of studio-1", err)
	offer := job.StepTo(a.cluster, a.job, a.m.Node, job.Epoch+1).Offer(home.Key())
	attempt := job.OpenAttempt()
	plan := *attempt.Plan
	plan.Ranks = slices.Clone(plan.Ranks)
	plan.Ranks[0].Node = a.m.Node
	attempt.Plan = &plan
	w, epoch := a.stolen(job)
	never := api.NewJobID()
	epochs := map[api.JobID]uint64{a.job: epoch, never: offer.Epoch}
	for id, homes := range map[api.JobID][]api.Succession{a.job: w.Homes, never: {offer}} {
		job.Home, job.Epoch, job.Homes = a.m.Node, epochs[id], homes
		mine, err := a.m.Signs(api.KindJob, string(id), job)
		must(t, "a job", err)
		_, err = a.m.Puts(t.Context(), a.Nodes[0].ID, mine)
		must(t, "documents", err)
	}
	asks := func(conn io.Writer) {
		c := wire.NewConn(nil, conn)
		// It may be closed already.
		_ = errors.Join(c.Send(wire.Hashed, nil), c.Send(wire.Want, []int{0}), c.Send(wire.Wanted, nil), c.Flush())
	}
	for id, high := range epochs {
		for _, epoch := range []uint64{1, high} {
			got := a.receives(t, api.PeerConn{Carries: api.ConnFiles, Job: id, Epoch: epoch}, asks)
			for _, secret := range []string{secretFile, `"path"`} {
				if strings.Contains(got, secret) {
					t.Errorf("%s at epoch %d is given %q", id, epoch, got)
				}
			}
		}
	}
	a.isRecorded(t, a.Nodes[0], "files", api.ReasonNotYourJob)
	a.isRecorded(t, a.Nodes[0], "files", api.ReasonNoSuchJob)
}

// Ends, renewals and addresses for the victim's rank, at an epoch above the true one.
func (a *attack) testEnds(t *testing.T) {
	is := is.New(t)
	_, before := a.runs(t, a.job)
	job, _ := a.genuine(t, a.job)
	w, epoch := a.stolen(job)
	for _, warrant := range []api.Warrant{w, job.Warrant(), {}} {
		why := []api.Reason{api.ReasonHomeNotProven, api.ReasonSpecAltered, api.ReasonNotAMember} // nobody vouches for an empty spec
		rank := api.RankRef{Job: a.job, Attempt: 1}
		a.isRefused(t, a.Nodes[0], "peer.end", api.PeerEndParams{Warrant: warrant, Job: a.job, Attempt: 1, Epoch: epoch, Reason: api.ReasonClientGone}, why...)
		a.isRefused(t, a.Nodes[0], "peer.renew", api.PeerRenewParams{Warrant: warrant, Job: a.job, Attempt: 1, Epoch: epoch, LeaseS: 0.001}, why...)
		a.isRefused(t, a.Nodes[0], "peer.listen", api.PeerListenParams{Warrant: warrant, Rank: rank, Epoch: epoch}, why...)
		a.isRefused(t, a.Nodes[0], "peer.spawn", api.PeerSpawnParams{Warrant: warrant, Rank: rank, Epoch: epoch}, why...)
	}
	_, after := a.runs(t, a.job)
	is.Equal(pidsOf(after), pidsOf(before))
	a.isUnharmed(t)
}

// Grants for the victim, whom studio-1 lends nothing and studio-2 everything, and the
// return of the one that the victim's rank holds.
func (a *attack) testGrants(t *testing.T) {
	is := is.New(t)
	grants := func(at *testcluster.Node) (held []string) {
		for _, d := range call[api.StateGetResult](t, at.Client, "state.get", api.StateSelect{Kinds: []api.Kind{api.KindGrant}, Nodes: []api.NodeRef{api.NodeRef(at.ID)}}).Docs {
			var g api.Grant
			if d.Decode(&g) == nil && (g.State == api.GrantHeld || g.State == api.GrantWaiting) {
				held = append(held, d.Name)
			}
		}
		return held
	}
	job, _ := a.genuine(t, a.job)
	w, epoch := a.stolen(job)
	own := api.RankRef{Job: api.NewJobID(), Attempt: 1}
	for _, at := range a.Nodes[:2] {
		before := grants(at)
		made := a.forged(t, api.JobSpec{Job: own.Job, Principal: a.victim})
		for _, holder := range []string{own.String(), "m4k2m9xq7", ""} {
			p := api.PeerGrantParams{PeerHolderParams: api.PeerHolderParams{Holder: holder, Epoch: 1, Warrant: &made}, Principal: a.victim, GPU: api.GPUExclusive, MemoryBytes: 400e9}
			a.isRefused(t, at, "peer.grant", p, api.ReasonSpecAltered, api.ReasonHomeNotProven)
		}
		rank := api.RankRef{Job: a.job, Attempt: 1}.String()
		a.isRefused(t, at, "peer.release", api.PeerHolderParams{Holder: rank, Epoch: epoch, Warrant: &w}, api.ReasonHomeNotProven)
		is.Equal(grants(at), before)
	}
	is.Equal(len(grants(a.Nodes[0])), 1)
}

// testVictim: after all that the victim types, reads and stops, and everybody hears so.
func (a *attack) testVictim(t *testing.T) {
	call[api.JobInputResult](t, a.clients.victim, "job.input", api.JobInputParams{Job: a.job, OffsetBytes: -1, Data: []byte("typed by the victim\n")})
	eventually(t, "what the victim typed", soon, func() bool { return strings.Contains(a.printed(t), "typed by the victim") })
	call[api.Empty](t, a.clients.victim, "job.stop", api.JobStopParams{Job: a.job})
	for _, at := range a.Nodes[:3] {
		job, _ := (&jobs{a.stage, a.Cluster}).until(t, at, a.job, "end", after, hasEnded)
		is.New(t).Equal(job.Phase, api.JobStopped)
	}
}

// A job of the victim's that has ended on studio-2, started again there: by the member,
// and by the job's first home. And once more when it was deleted.
func (a *attack) testReplay(t *testing.T) {
	is := is.New(t)
	ran := filepath.Join(a.Work, "lines")
	id := a.submits(t, api.JobSubmitParams{Request: api.JobRequest{
		Program:   api.Program{Command: []string{"/bin/sh", "-c", "echo once >>" + ran}, Directory: a.Work, Home: a.Account.Home, Stdin: api.StdinNone},
		Placement: api.Placement{Ranks: 1, Nodes: []api.NodeID{a.Nodes[1].ID}}, Detached: true,
	}})
	(&jobs{a.stage, a.Cluster}).until(t, a.Nodes[1], id, "end", after, hasEnded)
	job, _ := a.genuine(t, id)
	home, err := a.network.Stolen(a.Nodes[0].Home, a.cluster)
	must(t, "the key of studio-1", err)
	first := api.Warrant{Spec: job.Spec, SpecSig: job.SpecSig}
	again := func(by *hostile.Member, w api.Warrant, epoch uint64, why ...api.Reason) {
		t.Helper()
		for attempt := 2; attempt < 4; attempt++ {
			rank := api.RankRef{Job: id, Attempt: attempt}
			grant := api.PeerGrantParams{PeerHolderParams: api.PeerHolderParams{Holder: rank.String(), Epoch: epoch, Warrant: &w}, Principal: a.victim, GPU: api.GPUNone}
			plan := *job.Attempts[0].Plan
			start := api.PeerStartParams{Warrant: w, Rank: rank, Epoch: epoch, Plan: plan, LeaseS: 60}
			for method, p := range map[string]any{"peer.grant": grant, "peer.start": start} {
				err := by.Call(t.Context(), a.Nodes[1].ID, method, p, nil)
				if !slices.ContainsFunc(why, func(r api.Reason) bool { return errors.Is(err, r) }) {
					t.Errorf("%s: %v, and must be one of %v", method, err, why)
				}
			}
		}
	}
	w, epoch := a.stolen(job)
	again(a.m, w, epoch, api.ReasonHomeNotProven)
	again(home, first, 1, api.ReasonJobEnded)
	call[api.Empty](t, a.clients.victim, "job.delete", api.JobDeleteParams{Job: id})
	eventually(t, "end of what studio-2 knows of it", soon, func() bool {
		_, _, err := jobOf(t.Context(), a.Nodes[1].Client, id)
		return errors.Is(err, api.ReasonJobDeleted) || errors.Is(err, api.ReasonNoSuchJob)
	})
	job.Home, job.Epoch, job.Homes = a.m.Node, epoch, w.Homes
	mine, err := a.m.Signs(api.KindJob, string(id), job)
	must(t, "a job", err)
	_, err = a.m.Puts(t.Context(), a.Nodes[1].ID, mine)
	must(t, "documents", err)
	again(a.m, w, epoch, api.ReasonHomeNotProven)
	again(home, first, 1, api.ReasonJobDeleted)
	_, _, err = jobOf(t.Context(), a.Nodes[1].Client, id)
	is.True(err != nil) // it has not come back
	text, err := os.ReadFile(ran)
	is.NoErr(err)
	is.Equal(string(text), "once\n")
	a.isRecorded(t, a.Nodes[1], "peer.start", api.ReasonHomeNotProven)
}
