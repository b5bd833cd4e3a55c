package gate_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/gate/gatetest"
	"fulmen/native/nativetest"
)

const (
	ownCluster     = api.ClusterID("0123456789abcdef0123456789abcdef")
	foreignCluster = api.ClusterID("fedcba9876543210fedcba9876543210")
	ownJob         = api.JobID("j4k2m9xq7")
	othersJob      = api.JobID("j4k2m9xq8")
	attempt        = 1
)

var (
	wall       = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rosterHead = []string{"head"}
)

// The callers, each of which presents the best proof that it could have: the removed
// member and the stranger are named by the spec as its first home, and the others that
// are no home claim to be the first one.
var callers = []string{
	"stranger", "removed", "member", "submitter", "first", "offered", "former", "voted", "acted", "bound", "unbound", "rank", "cable", "self",
}

// The subjects: what the callers ask about, or what they ask with.
var subjects = []string{
	"own", "another", "ended", "deleted", "never", "expired", "stale", "forged", "altered", "resigned", "foreign", "look",
}

// cast is every node of the tests, with its key.
type cast struct {
	keys map[string]ed25519.PrivateKey
	name map[api.NodeID]string
}

func newCast() *cast {
	c := &cast{keys: map[string]ed25519.PrivateKey{}, name: map[api.NodeID]string{}}
	for _, n := range append([]string{"other"}, callers...) {
		seed := sha256.Sum256([]byte(n))
		c.keys[n] = ed25519.NewKeyFromSeed(seed[:])
		c.name[c.node(n)] = n
	}
	return c
}

func (c *cast) node(name string) api.NodeID {
	return api.NodeIDFromKey(c.keys[name].Public().(ed25519.PublicKey))
}

func (c *cast) person(user, node string) api.Principal {
	return api.Principal{User: user, Node: c.node(node)}
}

// link is a cable between two nodes.
func (c *cast) link(a, b string) api.LinkID {
	l, err := api.NewLinkID(api.LinkEnd{Node: c.node(a), Receptacle: 1}, api.LinkEnd{Node: c.node(b), Receptacle: 2})
	if err != nil {
		panic(err)
	}
	return l
}

// Cluster implements api.Electors.
func (c *cast) Cluster() api.ClusterID { return ownCluster }

// PublicKey implements api.Electors: of all but the stranger and the removed member.
func (c *cast) PublicKey(n api.NodeID) (ed25519.PublicKey, bool) {
	name, ok := c.name[n]
	if !ok || name == "stranger" || name == "removed" {
		return nil, false
	}
	return c.keys[name].Public().(ed25519.PublicKey), true
}

// SignerKey implements api.Electors: of all but the stranger.
func (c *cast) SignerKey(n api.NodeID) (ed25519.PublicKey, bool) {
	if c.name[n] == "removed" {
		return c.keys["removed"].Public().(ed25519.PublicKey), true
	}
	return c.PublicKey(n)
}

// Voters implements api.Electors: five at the heads that the specs name.
func (c *cast) Voters(heads []string) ([]api.NodeID, bool) {
	var voters []api.NodeID
	for _, n := range []string{"submitter", "first", "member", "rank", "voted"} {
		voters = append(voters, c.node(n))
	}
	return voters, slices.Equal(heads, rosterHead)
}

// world is what a caller presents about a job, and what this node knows of it.
type world struct {
	c       *cast
	caller  string
	subject string
	self    string // who this node is

	spec  api.JobSpec
	raw   json.RawMessage
	sig   []byte
	homes []api.Succession
	epoch uint64 // as the home that the caller says it is

	known   gate.Known
	isKnown bool
	clock   *nativetest.Clock
}

// from is the calling node.
func (w *world) from() api.NodeID {
	if w.caller == "self" {
		return w.c.node(w.self)
	}
	return w.c.node(w.caller)
}

// key is the calling node's.
func (w *world) key() ed25519.PrivateKey {
	if w.caller == "self" {
		return w.c.keys[w.self]
	}
	return w.c.keys[w.caller]
}

func (w *world) job() api.Job {
	return api.Job{
		Spec: w.raw, SpecSig: w.sig, SpecSHA256: api.SpecSHA256(w.raw), Principal: w.spec.Principal,
		Home: w.from(), Epoch: w.epoch, Homes: w.homes, Phase: api.JobQueued,
	}
}

func (w *world) sign(cluster api.ClusterID, signer string) {
	raw, sig, err := api.SignSpec(cluster, w.c.keys[signer], w.spec)
	if err != nil {
		panic(err)
	}
	w.raw, w.sig = raw, sig
}

// newWorld makes a case's world. Whatever a caller presents is made as well as it can
// be without what its subject says is wrong with it.
func newWorld(c *cast, self, caller, subject string) *world {
	w := &world{c: c, caller: caller, subject: subject, self: self, epoch: 1, clock: nativetest.NewClock(wall)}
	submitted := wall.Add(-time.Hour)
	if subject == "expired" {
		submitted = wall.Add(-api.SpecLifetime - 24*time.Hour)
	}
	w.spec = api.JobSpec{
		Job: ownJob, Principal: c.person("ada", "submitter"), SubmittedAt: api.TimeOf(submitted), Home: c.node("first"),
		Roster: rosterHead, ExpiresAt: api.TimeOf(submitted.Add(api.SpecLifetime)), MaxAttempts: 1, Look: subject == "look",
	}
	if caller == "stranger" || caller == "removed" {
		w.spec.Home = c.node(caller)
	}
	w.sign(ownCluster, "submitter")
	true256, trueSpec := api.SpecSHA256(w.raw), w.spec
	switch subject {
	case "foreign":
		w.sign(foreignCluster, "submitter")
	case "altered":
		w.raw = bytes.Replace(w.raw, []byte(`"max_attempts":1`), []byte(`"max_attempts":3`), 1)
	case "resigned":
		w.spec.MaxAttempts = 3
		w.sign(ownCluster, "submitter")
	}
	w.homes = w.steps()
	home, epoch, homes := w.spec.Home, uint64(1), []api.Succession(nil)
	if len(w.homes) > 0 {
		w.epoch = w.homes[0].Epoch
		if caller != "unbound" {
			home, epoch, homes = w.from(), w.epoch, w.homes
		}
	}
	if caller == "former" {
		home, epoch = c.node("offered"), 4
		homes = append(slices.Clone(homes), api.Succession{Home: home, Epoch: epoch})
	}
	if subject == "stale" {
		home, epoch = c.node("other"), 2*api.NextTerm(1)
		homes = append(slices.Clone(homes), api.Succession{Home: home, Epoch: epoch})
	}
	if subject == "another" {
		w.spec.Job, w.spec.Principal, w.spec.Home = othersJob, c.person("eve", "other"), c.node("other")
		w.sign(ownCluster, "other")
		true256, trueSpec = api.SpecSHA256(w.raw), w.spec
		home, epoch, homes = c.node("other"), 1, nil
	}
	w.known = gate.Known{Spec: trueSpec, Job: api.Job{
		SpecSHA256: true256, Principal: trueSpec.Principal, Home: home, Epoch: epoch, Homes: homes, Phase: api.JobRunning, Attempt: attempt,
	}}
	if subject != "another" {
		w.known.Job.Attempts = []api.Attempt{{Attempt: attempt, Plan: &api.Plan{Ranks: []api.PlanRank{{Node: c.node("rank")}}}}}
	}
	w.isKnown = subject != "never" && subject != "look"
	switch subject {
	case "deleted":
		w.known = gate.Known{Gone: true}
	case "ended":
		w.known.Ended, w.known.Job.Phase = true, api.JobSucceeded
		w.known.Job.Attempts[0].EndedAt = api.TimeOf(wall)
	}
	return w
}

// steps are the caller's way to be the home of the job whose spec it presents.
func (w *world) steps() []api.Succession {
	c := w.c
	step := api.Step{
		Job: w.spec.Job, Cluster: ownCluster, SpecSHA256: api.SpecSHA256(w.raw), From: w.spec.Home, Before: 1, Home: w.from(), Epoch: api.NextTerm(1),
	}
	switch w.caller {
	case "offered", "former":
		step.Epoch = 2
		return []api.Succession{step.Offer(c.keys["first"])}
	case "voted":
		s := api.Succession{Epoch: step.Epoch, Home: w.from()}
		for _, n := range []string{"member", "rank", "voted"} { // three of five
			s.Votes = append(s.Votes, step.Vote(c.node(n), c.keys[n]))
		}
		return []api.Succession{s}
	case "acted":
		return []api.Succession{step.Act(c.person("ada", "submitter"), c.keys["submitter"])}
	case "bound", "unbound":
		return []api.Succession{step.Act(c.person("ada", w.caller), c.keys[w.caller])}
	}
	return nil
}

// forgedStep leads to the caller at a higher epoch, without a signature that counts.
func (w *world) forgedStep() api.Succession {
	return api.Succession{Epoch: w.epoch + 7, Home: w.from(), Offer: make([]byte, ed25519.SignatureSize)}
}

// gate is this node's: cables lead to the node of that name alone, and every node says
// that its ada is the account of the submitter's.
func (w *world) gate(record func(gate.Entry)) *gate.Gate {
	c := w.c
	return gatetest.New(gate.Config{
		Self: c.node(w.self), Electors: c, Clock: w.clock, Record: record,
		Known: func(id api.JobID) (gate.Known, bool) {
			if id != w.spec.Job || !w.isKnown {
				return gate.Known{}, false
			}
			return w.known, true
		},
		Bound: func(s api.Step, a api.Act) bool { return a.By.Node == c.node("bound") && s.Home == c.node("bound") },
		Maps: func(by, principal api.Principal) bool {
			return by.User == "ada" && principal == c.person("ada", "submitter")
		},
		Cable: func(l api.LinkID, to api.NodeID) bool { return l == c.link(w.self, "cable") && to == c.node("cable") },
	})
}
