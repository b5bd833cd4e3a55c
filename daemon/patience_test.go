package daemon

import (
	"crypto/ed25519"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/node"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/ledger/ledgertest"
)

// TestPatience: of what a job changes on its way to run only those hear late who
// neither drive it nor have submitted it; what ends something goes at once.
func TestPatience(t *testing.T) {
	is := is.New(t)
	keyOf := func(n byte) ed25519.PrivateKey {
		return ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), n))
	}
	self, home, submitter := cluster.NewIdentity(keyOf(1)), cluster.NewIdentity(keyOf(2)), cluster.NewIdentity(keyOf(3))
	roster, err := cluster.FoundRoster(self, time.Now())
	is.NoErr(err)
	for _, other := range []cluster.Identity{home, submitter} {
		roster, err = roster.Add(self, other.Public(), time.Now())
		is.NoErr(err)
	}
	d := &daemon{ground: &ground{identity: self, roster: node.NewHolder(roster, nil)}}
	open := func(of cluster.Identity) (*ledger.Ledger, *ledger.Writer) {
		disk := &ledgertest.Disk{}
		l, w, err := ledger.Open(ledger.Options{Key: of.Key(), Cluster: d.roster.Cluster(), Counter: disk, Store: disk, Members: d.roster})
		is.NoErr(err)
		return l, w
	}
	var writer, homes *ledger.Writer
	var homesLedger *ledger.Ledger
	d.ledger, writer = open(self)
	homesLedger, homes = open(home)
	const id = api.JobID("jaaaaaaaa")
	job := func(change func(*api.Job)) api.Job {
		j := api.Job{Spec: json.RawMessage(`{}`), Principal: api.Principal{User: "ada", Node: submitter.Node}, Home: home.Node, Epoch: 1,
			Phase: api.JobPlacing, PhaseSince: api.TimeOf(time.Now())}
		change(&j)
		return j
	}
	is.NoErr(homes.Put(ledger.Draft{Kind: api.KindJob, Name: string(id), Value: job(func(*api.Job) {})}))
	theirs, _ := homesLedger.Get(api.Key{Node: home.Node, Kind: api.KindJob, Name: string(id)})
	_, err = d.ledger.PutForeign(theirs.Document())
	is.NoErr(err)
	rank := func(phase api.RankPhase, prepared api.Time) api.Rank {
		return api.Rank{Job: id, Attempt: 1, Epoch: 1, Phase: phase, PhaseSince: api.TimeOf(time.Now()), PreparedAt: prepared}
	}
	grant := func(state api.GrantState) api.Grant { return api.Grant{State: state} }
	for _, tt := range []struct {
		name      string
		kind      api.Kind
		of        string
		value     any
		mayWait   bool
		everybody bool // waits, whoever looks
	}{
		{"queued", api.KindJob, string(id), job(func(j *api.Job) { j.Phase = api.JobQueued }), true, false},
		{"placing", api.KindJob, string(id), job(func(*api.Job) {}), true, false},
		{"running", api.KindJob, string(id), job(func(j *api.Job) { j.Phase = api.JobRunning }), true, false},
		{"a home to come", api.KindJob, string(id), job(func(j *api.Job) { j.NextHome = self.Node }), false, false},
		{"another home", api.KindJob, string(id), job(func(j *api.Job) { j.Epoch = 2 }), false, false},
		{"a stop", api.KindJob, string(id), job(func(j *api.Job) { j.StopRequested = &api.StopRequest{By: j.Principal} }), false, false},
		{"ending", api.KindJob, string(id), job(func(j *api.Job) { j.Phase = api.JobEnding }), false, false},
		{"failed", api.KindJob, string(id), job(func(j *api.Job) { j.Phase = api.JobFailed }), false, false},
		{"a rank that prepares", api.KindRank, string(id) + "/1/0", rank(api.RankPreparing, api.Time{}), true, true},
		{"one that has", api.KindRank, string(id) + "/1/0", rank(api.RankPreparing, api.TimeOf(time.Now())), false, true},
		{"one that starts", api.KindRank, string(id) + "/1/0", rank(api.RankStarting, api.Time{}), true, true},
		{"one that runs", api.KindRank, string(id) + "/1/0", rank(api.RankRunning, api.Time{}), true, false},
		{"one that ends", api.KindRank, string(id) + "/1/0", rank(api.RankEnding, api.Time{}), false, false},
		{"one that has ended", api.KindRank, string(id) + "/1/0", rank(api.RankExited, api.Time{}), false, false},
		{"one that is lost", api.KindRank, string(id) + "/1/0", rank(api.RankLost, api.Time{}), false, false},
		{"a grant", api.KindGrant, string(id) + "/1/0", grant(api.GrantHeld), true, false},
		{"a grant given back", api.KindGrant, string(id) + "/1/0", grant(api.GrantReleased), false, false},
		{"another kind", api.KindNodeState, "", api.NodeState{}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			is.NoErr(writer.Put(ledger.Draft{Kind: tt.kind, Name: tt.of, Value: tt.value}))
			record, found := d.ledger.Get(api.Key{Node: self.Node, Kind: tt.kind, Name: tt.of})
			is.True(found)
			p, mayWait := d.patience(record)
			is.Equal(mayWait, tt.mayWait)
			if !mayWait {
				return
			}
			is.Equal(p.EvenWatched, tt.everybody)
			for _, node := range []api.NodeID{home.Node, submitter.Node} {
				is.Equal(slices.Contains(p.Except, node), !tt.everybody)
			}
		})
	}
}
