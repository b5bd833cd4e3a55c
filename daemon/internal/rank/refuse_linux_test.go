package rank

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
)

// What is refused is never run, and leaves no rank behind.
func TestWhatIsNotStarted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(m *mac, p *api.PeerStartParams)
		reason api.Reason
	}{
		"a spec that was altered": {func(m *mac, p *api.PeerStartParams) {
			p.Spec = []byte(strings.Replace(string(p.Spec), "echo ran", "echo Ran", 1))
		}, api.ReasonSpecAltered},
		"a principal of this node, which did not sign": {func(m *mac, p *api.PeerStartParams) {
			p.Spec = []byte(strings.Replace(string(p.Spec), "anna@"+string(m.homeID), "anna@"+string(m.id), 1))
		}, api.ReasonSpecAltered},
		"another person of the node that signed": {func(m *mac, p *api.PeerStartParams) {
			p.Spec = []byte(strings.Replace(string(p.Spec), "anna@", "bert@", 1))
		}, api.ReasonSpecAltered},
		"a signature of somebody else for another's person": {func(m *mac, p *api.PeerStartParams) {
			p.SpecSig = ed25519.Sign(newKey(m.t), api.SpecSigningBytes(cluster, p.Spec))
		}, api.ReasonSpecAltered},
		"a spec signed for another cluster": {func(m *mac, p *api.PeerStartParams) {
			p.SpecSig = ed25519.Sign(m.home, api.SpecSigningBytes("ffffffffffffffffffffffffffffffff", p.Spec))
		}, api.ReasonSpecAltered},
		"a spec of another job": {func(m *mac, p *api.PeerStartParams) {
			m.job = api.NewJobID()
			p.Rank.Job = m.job
		}, api.ReasonSpecAltered},
		"a signer who was removed": {func(m *mac, p *api.PeerStartParams) { delete(m.members, m.homeID) }, api.ReasonNotAMember},
		"a person without an account": {func(m *mac, p *api.PeerStartParams) {
			m.policy = func(api.Principal) (string, api.Reason) { return "", api.ReasonPrincipalUnmapped }
		}, api.ReasonPrincipalUnmapped},
		"as root": {func(m *mac, p *api.PeerStartParams) {
			m.policy = func(api.Principal) (string, api.Reason) { return "root", "" }
		}, api.ReasonAccountForbidden},
		"a plan of another spec":  {func(m *mac, p *api.PeerStartParams) { p.Plan.SpecSHA256 = strings.Repeat("0", 64) }, api.ReasonBadValue},
		"a plan for another node": {func(m *mac, p *api.PeerStartParams) { p.Plan.Ranks[0].Node = m.homeID }, api.ReasonBadValue},
		"no shares": {func(m *mac, p *api.PeerStartParams) {
			s := m.spec("exit 0")
			s.Placement.ShareBy = api.ShareByMemory
			*p = m.params(s)
		}, api.ReasonBadValue},
		"a rank that is not planned": {func(m *mac, p *api.PeerStartParams) { p.Rank.Rank = 1 }, api.ReasonBadValue},
		"a ring without addresses": {func(m *mac, p *api.PeerStartParams) {
			p.Plan.Ranks = append(p.Plan.Ranks, api.PlanRank{Rank: 1, Node: m.homeID})
		}, api.ReasonBadValue},
		"a rank beside it that the spec does not ask for": {func(m *mac, p *api.PeerStartParams) {
			p.Plan.Ranks = append(p.Plan.Ranks, api.PlanRank{Rank: 1, Node: m.id})
			p.Plan.Hosts = [][]string{{"127.0.0.1:4000"}, {"127.0.0.1:4001"}}
		}, api.ReasonBadValue},
		"a variable that is not passed": {func(m *mac, p *api.PeerStartParams) { p.Environment = map[string]string{"LD_PRELOAD": "x"} }, api.ReasonBadValue},
		"no epoch":                      {func(m *mac, p *api.PeerStartParams) { p.Epoch = 0 }, api.ReasonHomeNotProven},
		"no lease":                      {func(m *mac, p *api.PeerStartParams) { p.LeaseS = 0 }, api.ReasonBadValue},
		"a stale epoch": {func(m *mac, p *api.PeerStartParams) {
			m.mustEnd(api.PeerEndParams{Job: m.job, Attempt: 1, Ranks: []int{7}, Epoch: 2})
		}, api.ReasonStaleEpoch},
		"an epoch that the job's document has passed": {func(m *mac, p *api.PeerStartParams) {
			m.known = m.knows(*p, 2)
		}, api.ReasonStaleEpoch},
		"a job that has ended": {func(m *mac, p *api.PeerStartParams) {
			m.known = m.knows(*p, 1)
			m.known.Ended = true
		}, api.ReasonJobEnded},
		"another spec of the same job": {func(m *mac, p *api.PeerStartParams) {
			m.known = m.knows(m.params(m.spec("echo another")), 1)
		}, api.ReasonSpecAltered},
		"an epoch that nobody offered": {func(m *mac, p *api.PeerStartParams) {
			p.Epoch, p.Homes = 9, []api.Succession{{Epoch: 9, Home: m.homeID, Offer: make([]byte, ed25519.SignatureSize)}}
		}, api.ReasonHomeNotProven},
		"a spec that has expired": {func(m *mac, p *api.PeerStartParams) {
			spec := m.spec("echo ran")
			spec.SubmittedAt, spec.ExpiresAt = api.TimeOf(spec.SubmittedAt.Add(-2*time.Hour)), api.TimeOf(spec.SubmittedAt.Add(-time.Hour))
			*p = m.params(spec)
		}, api.ReasonSpecExpired},
		"a spec by which nothing is started": {func(m *mac, p *api.PeerStartParams) {
			spec := m.spec("echo ran")
			spec.Look = true
			*p = m.params(spec)
		}, api.ReasonHomeNotProven},
		"a job that was deleted": {func(m *mac, p *api.PeerStartParams) {
			m.known = m.knows(*p, 1)
			m.known.Gone = true
		}, api.ReasonJobDeleted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m := newMac(t).boot()
			p := m.params(m.spec("echo ran"))
			test.change(m, &p)
			err := m.start(p)
			if !isReason(err, test.reason) {
				t.Fatalf("%v, want %s", err, test.reason)
			}
			is.Equal(len(m.ranks.Live()), 0)
			is.Equal(m.supervisor.starts(), 0)
			is.True(!m.grants.occupied(p.Rank))
			_, ok := m.doc(p.Rank)
			is.True(!ok)
		})
	}
}

func TestNothingIsStartedWithoutAGrant(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	p := m.params(m.spec("echo ran"))
	is.True(isReason(m.call("peer.start", p, nil), api.ReasonGrantRefused))
	is.Equal(m.supervisor.starts(), 0)
	m.mustStart(p) // it can be asked for again with one
	m.until(p.Rank, api.RankExited)
}

func TestNoMoreIsStartedThanTheSpecAllows(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	spec := m.spec("echo ran")
	spec.MaxAttempts, spec.Retries = 1, 1
	p := m.params(spec)
	for range 2 {
		m.mustStart(p)
		m.until(p.Rank, api.RankExited)
		m.free(p.Rank)
		p.Rank.Attempt++
	}
	is.True(isReason(m.start(p), api.ReasonRetriesSpent))
}

func TestARepeatedStartIsOne(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	p := m.params(m.spec("exit 42"))
	answers := make(chan error, 8)
	for range cap(answers) {
		go func() { answers <- m.start(p) }()
	}
	for range cap(answers) {
		is.NoErr(<-answers)
	}
	m.until(p.Rank, api.RankExited)
	is.NoErr(m.start(p))
	is.Equal(m.supervisor.starts(), 1)
	p.Epoch = 2 // a new home starts a new attempt
	is.True(isReason(m.start(p), api.ReasonStaleEpoch))
}

// knows is the job as the node knows it, at an epoch of the same home.
func (m *mac) knows(p api.PeerStartParams, epoch uint64) gate.Known {
	m.t.Helper()
	var spec api.JobSpec
	if err := json.Unmarshal(p.Spec, &spec); err != nil {
		m.t.Fatal(err)
	}
	return gate.Known{Spec: spec, Job: api.Job{
		Spec: p.Spec, SpecSig: p.SpecSig, SpecSHA256: api.SpecSHA256(p.Spec), Principal: spec.Principal, Home: m.homeID, Epoch: epoch,
		Phase: api.JobRunning, PhaseSince: spec.SubmittedAt, Attempt: 1,
	}}
}

// A program's way through a folder that is not its own stays closed.
func TestFoldersArePassedAndNotListed(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	p := m.params(m.spec("exit 0"))
	m.mustStart(p)
	m.until(p.Rank, api.RankExited)
	for folder := m.ranks.rankFolder(p.Rank); folder != m.folder; folder = filepath.Dir(folder) {
		info, err := os.Stat(folder)
		is.NoErr(err)
		is.Equal(info.Mode().Perm(), os.FileMode(0o711))
	}
}

// A rank that a full disk kept from starting says that, and no word of the system's.
func TestAFullDiskIsTheReason(t *testing.T) {
	is := is.New(t)
	m := newMac(t)
	m.preparer.resolve = func(context.Context) error { return &os.PathError{Op: "write", Path: "spec.json", Err: syscall.ENOSPC} }
	m.boot()
	p := m.params(m.spec("echo ran"))
	m.mustStart(p)
	doc := m.until(p.Rank, api.RankExited)
	is.Equal(doc.Reason, api.ReasonDiskFull)
	is.Equal(doc.Message, "The rank could not be started: the disk is full.")
}
