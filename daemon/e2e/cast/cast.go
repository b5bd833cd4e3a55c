// Package cast is who uses the routes of a gate in tests, with what each presents and
// what each may have: the gate's own tests let the cast in one by one, those over real
// daemons with the keys of real members.
package cast

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/native/nativetest"
)

const (
	ownCluster     = api.ClusterID("0123456789abcdef0123456789abcdef")
	foreignCluster = api.ClusterID("fedcba9876543210fedcba9876543210")
	// OwnJob is the submitter's job in a cast of invented nodes.
	OwnJob = api.JobID("j4k2m9xq7")
	// OthersJob is the job of somebody else there.
	OthersJob = api.JobID("j4k2m9xq8")
	attempt   = 1
	// Mapped is the account of the member that is somebody here.
	Mapped = "bob"
)

// Callers are the callers, each of which presents the best proof that it could have: the removed
// member and the stranger are named by the spec as its first home, and the others that
// are no home claim to be the first one.
var Callers = []string{
	"stranger", "removed", "member", "submitter", "first", "offered", "former", "voted", "acted", "bound", "unbound", "rank", "cable", "self",
}

// Subjects are what the callers ask about, or what they ask with.
var Subjects = []string{
	"own", "another", "ended", "deleted", "never", "expired", "stale", "forged", "altered", "resigned", "foreign", "look",
}

// Cast is every node of a matrix, with its key, and their cluster.
type Cast struct {
	// ID is the cluster's, Heads the roster's heads that specs name, at which Elect are
	// the members, by name. Half of them and one vote where somebody was voted for.
	ID    api.ClusterID
	Heads []string
	Elect []string
	// Now is the time at which all is tried.
	Now time.Time
	// Keys are the nodes' keys, by name.
	Keys map[string]ed25519.PrivateKey
	// Cable is that which leads from the node that is called to the node of that name.
	Cable api.LinkID
	// User is the account that everybody has.
	User string
	// Job gives the id of what a caller asks about; isOwn is false for the job of others.
	Job func(caller, subject string, isOwn bool) api.JobID
}

// NewCast is a cast of invented nodes.
func NewCast() *Cast {
	c := &Cast{
		ID: ownCluster, Heads: []string{"head"}, Elect: []string{"submitter", "first", "member", "rank", "voted"},
		Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Keys: map[string]ed25519.PrivateKey{}, User: "ada",
		Job: func(_, _ string, isOwn bool) api.JobID {
			if isOwn {
				return OwnJob
			}
			return OthersJob
		},
	}
	for _, n := range append([]string{"other"}, Callers...) {
		seed := sha256.Sum256([]byte(n))
		c.Keys[n] = ed25519.NewKeyFromSeed(seed[:])
	}
	return c
}

// Node is a node by its name.
func (c *Cast) Node(name string) api.NodeID {
	return api.NodeIDFromKey(c.Keys[name].Public().(ed25519.PublicKey))
}

// Person is an account of a node.
func (c *Cast) Person(user, node string) api.Principal {
	return api.Principal{User: user, Node: c.Node(node)}
}

// Link is a cable between two nodes.
func (c *Cast) Link(a, b string) api.LinkID {
	l, err := api.NewLinkID(api.LinkEnd{Node: c.Node(a), PortNumber: 1}, api.LinkEnd{Node: c.Node(b), PortNumber: 2})
	if err != nil {
		panic(err)
	}
	return l
}

// Cluster implements api.Electors.
func (c *Cast) Cluster() api.ClusterID { return c.ID }

// PublicKey implements api.Electors: of all but the stranger and the removed member.
func (c *Cast) PublicKey(n api.NodeID) (ed25519.PublicKey, bool) {
	for name, key := range c.Keys {
		if public := key.Public().(ed25519.PublicKey); api.NodeIDFromKey(public) == n && name != "stranger" && name != "removed" {
			return public, true
		}
	}
	return nil, false
}

// SignerKey implements api.Electors: of all but the stranger.
func (c *Cast) SignerKey(n api.NodeID) (ed25519.PublicKey, bool) {
	if n == c.Node("removed") {
		return c.Keys["removed"].Public().(ed25519.PublicKey), true
	}
	return c.PublicKey(n)
}

// Voters implements api.Electors: those of Elect at the heads that the specs name.
func (c *Cast) Voters(heads []string) ([]api.NodeID, bool) {
	var voters []api.NodeID
	for _, n := range c.Elect {
		voters = append(voters, c.Node(n))
	}
	return voters, slices.Equal(heads, c.Heads)
}

// World is what a caller presents about a job, and what this node knows of it.
type World struct {
	Cast            *Cast
	Caller, Subject string
	// Self is who this node is.
	Self string

	// Spec is what the caller presents, with the bytes that are signed.
	Spec  api.JobSpec
	Raw   json.RawMessage
	Sig   []byte
	Homes []api.Succession
	// Epoch is that of the home that the caller says it is.
	Epoch uint64

	// Known is what this node knows, and IsKnown whether it knows anything.
	Known   gate.Known
	IsKnown bool
	// Before is a job that was deleted.
	Before api.Job
	Clock  *nativetest.Clock
}

// From is the calling node.
func (w *World) From() api.NodeID {
	if w.Caller == "self" {
		return w.Cast.Node(w.Self)
	}
	return w.Cast.Node(w.Caller)
}

// Key is the calling node's.
func (w *World) Key() ed25519.PrivateKey {
	if w.Caller == "self" {
		return w.Cast.Keys[w.Self]
	}
	return w.Cast.Keys[w.Caller]
}

// Job is the job as the caller says that it is.
func (w *World) Job() api.Job {
	return api.Job{
		Spec: w.Raw, SpecSig: w.Sig, SpecSHA256: api.SpecSHA256(w.Raw), Principal: w.Spec.Principal,
		Home: w.From(), Epoch: w.Epoch, Homes: w.Homes, Phase: api.JobQueued,
	}
}

// Sign signs the spec that is presented.
func (w *World) Sign(cluster api.ClusterID, signer string) {
	raw, sig, err := api.SignSpec(cluster, w.Cast.Keys[signer], w.Spec)
	if err != nil {
		panic(err)
	}
	w.Raw, w.Sig = raw, sig
}

// NewWorld makes a case's world. Whatever a caller presents is made as well as it can
// be without what its subject says is wrong with it.
func NewWorld(c *Cast, self, caller, subject string) *World {
	w := &World{Cast: c, Caller: caller, Subject: subject, Self: self, Epoch: 1, Clock: nativetest.NewClock(c.Now)}
	submitted := c.Now.Add(-time.Hour)
	if subject == "expired" {
		submitted = c.Now.Add(-api.SpecLifetime - 24*time.Hour)
	}
	w.Spec = api.JobSpec{
		Job: c.Job(caller, subject, true), Principal: c.Person(c.User, "submitter"), SubmittedAt: api.TimeOf(submitted), Home: c.Node("first"),
		Roster: c.Heads, ExpiresAt: api.TimeOf(submitted.Add(api.SpecLifetime)), MaxAttempts: 1, Look: subject == "look",
	}
	if caller == "stranger" || caller == "removed" {
		w.Spec.Home = c.Node(caller)
	}
	w.Sign(c.ID, "submitter")
	k := w.truth()
	switch subject {
	case "foreign":
		w.Sign(foreignCluster, "submitter")
	case "altered":
		w.Raw = bytes.Replace(w.Raw, []byte(`"max_attempts":1`), []byte(`"max_attempts":3`), 1)
	case "resigned":
		w.Spec.MaxAttempts = 3
		w.Sign(c.ID, "submitter")
	}
	if w.Homes = w.steps(); len(w.Homes) > 0 {
		w.Epoch = w.Homes[0].Epoch
	}
	if subject == "another" {
		w.Spec.Job, w.Spec.Principal, w.Spec.Home = c.Job(caller, subject, false), c.Person("eve", "other"), c.Node("other")
		w.Sign(c.ID, "other")
		k = gate.Known{Spec: w.Spec, Job: w.running(c.Node("other"), 1, nil)}
	} else {
		k.Job.Attempts = []api.Attempt{{Attempt: attempt, Plan: &api.Plan{Ranks: []api.PlanRank{{Node: c.Node("rank")}}}}}
	}
	w.Known, w.IsKnown = k, subject != "never" && subject != "look"
	switch subject {
	case "deleted":
		w.Before, w.Known = k.Job, gate.Known{Gone: true}
	case "ended":
		w.Known.Ended, w.Known.Job.Phase, w.Known.Job.ExitCode = true, api.JobSucceeded, new(int)
		w.Known.Job.Attempts[0].EndedAt = api.TimeOf(c.Now)
	}
	return w
}

// running is the document of the job whose spec was signed last.
func (w *World) running(home api.NodeID, epoch uint64, homes []api.Succession) api.Job {
	return api.Job{
		Spec: w.Raw, SpecSig: w.Sig, SpecSHA256: api.SpecSHA256(w.Raw), Principal: w.Spec.Principal,
		Home: home, Epoch: epoch, Homes: homes, Phase: api.JobRunning, Attempt: attempt,
	}
}

// truth is the job with the home that it has in truth: the caller, if it came to be one,
// and where it was one the one after.
func (w *World) truth() gate.Known {
	c, by := w.Cast, w.Caller
	job := w.running(w.Spec.Home, 1, nil)
	if steps := w.steps(); len(steps) > 0 && by != "unbound" {
		job.Succeed(steps[0])
	} else {
		by = "first"
		if w.Spec.Home != c.Node(by) {
			by = w.Caller
		}
	}
	offers := func(to string) {
		job.Succeed(job.StepTo(c.ID, w.Spec.Job, c.Node(to), job.Epoch+2).Offer(c.Keys[by]))
		by = to
	}
	if w.Caller == "former" {
		offers("offered")
	}
	if w.Subject == "stale" {
		offers("other")
	}
	return gate.Known{Spec: w.Spec, Job: job}
}

// steps are the caller's way to be the home of the job whose spec it presents.
func (w *World) steps() []api.Succession {
	c := w.Cast
	step := api.Step{
		Job: w.Spec.Job, Cluster: c.ID, SpecSHA256: api.SpecSHA256(w.Raw), From: w.Spec.Home, Before: 1, Home: w.From(), Epoch: api.NextTerm(1),
	}
	switch w.Caller {
	case "offered", "former":
		step.Epoch = 2
		return []api.Succession{step.Offer(c.Keys["first"])}
	case "voted":
		s := api.Succession{Epoch: step.Epoch, Home: w.From()}
		for _, n := range c.Elect[(len(c.Elect)-1)/2:] { // just more than half
			s.Votes = append(s.Votes, step.Vote(c.Node(n), c.Keys[n]))
		}
		return []api.Succession{s}
	case "acted":
		return []api.Succession{step.Act(c.Person(c.User, "submitter"), c.Keys["submitter"])}
	case "bound", "unbound":
		return []api.Succession{step.Act(c.Person(c.User, w.Caller), c.Keys[w.Caller])}
	}
	return nil
}

// forgedStep leads to the caller at a higher epoch, without a signature that counts.
func (w *World) forgedStep() api.Succession {
	return api.Succession{Epoch: w.Epoch + 7, Home: w.From(), Offer: make([]byte, ed25519.SignatureSize)}
}

// Gate is this node's: cables lead to the node of that name alone, and every node says
// that its account of that name is the one of the submitter's.
func (w *World) Gate(record func(gate.Entry)) *gate.Gate {
	c := w.Cast
	return peertest.NewGate(gate.Config{
		Self: c.Node(w.Self), Electors: c, Clock: w.Clock, Record: record,
		Known: func(id api.JobID) (gate.Known, bool) {
			if id != w.Spec.Job || !w.IsKnown {
				return gate.Known{}, false
			}
			return w.Known, true
		},
		Bound:  func(s api.Step, a api.Act) bool { return a.By.Node == c.Node("bound") && s.Home == c.Node("bound") },
		Shares: func(by, _ api.Principal) bool { return by.User == Mapped },
		Maps: func(by, principal api.Principal) bool {
			return by.User == c.User && principal == c.Person(c.User, "submitter")
		},
		Reads: func(by api.Principal) api.Reason {
			if by.Node == c.Node(w.Self) || by == c.Person(Mapped, "member") {
				return ""
			}
			return api.ReasonModelsNotShared
		},
		Cable: func(l api.LinkID, to api.NodeID) bool { return l == c.Link(w.Self, "cable") && to == c.Node("cable") },
	})
}
