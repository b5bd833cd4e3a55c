package attach_test

import (
	"crypto/ed25519"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/job/attach"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/native"
)

const jobID = api.JobID("j4k2m9xq7")

// noCounter counts versions from the beginning.
type noCounter struct{}

func (noCounter) LoadVersion() (api.Version, error) { return api.Version{}, nil }
func (noCounter) SaveVersion(api.Version) error     { return nil }

type keys map[api.NodeID][]byte

func (k keys) PublicKey(node api.NodeID) (ed25519.PublicKey, bool) {
	key, ok := k[node]
	return key, ok
}

// rig is a desk of three nodes: a client's, which is the job's home too, and two
// with a rank each.
type rig struct {
	t        *testing.T
	scenario *peertest.Network
	nodes    []api.NodeID
	ledger   *ledger.Ledger
	docs     []*ledger.Writer
	others   []*ledger.Ledger
	attach   *attach.Attach
	far      []*machine // 1 and 2 have the ranks 0 and 1
	job      api.Job
	ada      api.Principal
	lost     []api.JobID
	whole    []api.RankRef // what readAll was told of
}

// inBubble runs a test on the time of a bubble.
func inBubble(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.attach.Close()
		f(t, r)
		r.attach.Close()
		for _, m := range r.far[1:] {
			m.stop()
		}
		synctest.Wait()
	})
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, scenario: peertest.NewNetwork(), far: []*machine{nil}}
	members := keys{}
	for i := range 3 {
		key := ed25519.NewKeyFromSeed([]byte(strings.Repeat(strconv.Itoa(i), ed25519.SeedSize)))
		held, writer, err := ledger.Open(ledger.Options{Key: key, Cluster: "a7937b64b8caa58f03721bb6bacf5c78", Counter: noCounter{}, Members: members})
		if err != nil {
			t.Fatal(err)
		}
		members[held.Node()] = key.Public().(ed25519.PublicKey)
		r.nodes, r.docs, r.others = append(r.nodes, held.Node()), append(r.docs, writer), append(r.others, held)
		began := time.Now()
		clock := native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) })
		known := func(id api.JobID) (gate.Known, bool) {
			job := api.Job{Principal: r.ada, Home: r.nodes[0], Epoch: 1, Phase: api.JobRunning}
			return gate.Known{Job: job, Spec: api.JobSpec{Job: jobID, Principal: r.ada, Home: r.nodes[0]}}, id == jobID
		}
		peers := peer.New(held.Node(), r.scenario.Add(held.Node()), peertest.NewGate(gate.Config{Self: held.Node(), Clock: clock, Known: known,
			Maps: func(by, _ api.Principal) bool { return by.User == "root" }}))
		if i > 0 {
			r.far = append(r.far, newMachine(peers))
			continue
		}
		r.ledger = held
		r.ada = api.Principal{User: "ada", Node: held.Node()}
		r.attach = attach.New(attach.Config{
			Clock: clock, Peers: peers, Ledger: held, Log: slog.New(slog.DiscardHandler),
			May:  func(by, of api.Principal) bool { return by.User == "root" },
			Name: func(id api.NodeID) string { return "mac-" + strconv.Itoa(slices.Index(r.nodes, id)) },
			Lost: func(id api.JobID, _ *api.Error) { r.lost = append(r.lost, id) },
		})
	}
	r.job = api.Job{Principal: r.ada, Home: r.nodes[0], Epoch: 1, Phase: api.JobQueued}
	r.spec(api.Program{Stdin: api.StdinAll})
	return r
}

// spec sets what the job's program is.
func (r *rig) spec(p api.Program) {
	r.t.Helper()
	text, err := json.Marshal(api.JobSpec{Job: jobID, Home: r.ada.Node, Principal: r.ada, Program: p, Output: api.OutputDelete})
	if err != nil {
		r.t.Fatal(err)
	}
	r.job.Spec = text
	r.put()
}

// put publishes the job as it is.
func (r *rig) put() { r.t.Helper(); r.publish(0, api.KindJob, string(jobID), r.job) }

// publish has a node write a document, which the client's node gets.
func (r *rig) publish(node int, kind api.Kind, name string, value any) {
	r.t.Helper()
	if err := r.docs[node].Put(ledger.Draft{Kind: kind, Name: name, Value: value}); err != nil {
		r.t.Fatal(err)
	}
	if node == 0 {
		return
	}
	record, _ := r.others[node].Get(api.Key{Node: r.nodes[node], Kind: kind, Name: name})
	if _, err := r.ledger.PutForeign(record.Document()); err != nil {
		r.t.Fatal(err)
	}
}

// ref is a rank of an attempt.
func ref(attempt, rank int) api.RankRef {
	return api.RankRef{Job: jobID, Attempt: attempt, Rank: rank}
}

// plan gives the job an attempt, whose ranks run on the nodes 1 and 2.
func (r *rig) plan() int {
	n := len(r.job.Attempts) + 1
	r.job.Attempts = append(slices.Clone(r.job.Attempts), api.Attempt{
		Attempt: n, StartedAt: api.TimeOf(time.Now()),
		Plan: &api.Plan{Ranks: []api.PlanRank{{Rank: 0, Node: r.nodes[1]}, {Rank: 1, Node: r.nodes[2]}}},
	})
	r.job.Attempt, r.job.Phase = n, api.JobRunning
	return n
}

// begin starts an attempt.
func (r *rig) begin(phase api.RankPhase) {
	r.t.Helper()
	n := r.plan()
	for rank := range 2 {
		r.far[rank+1].add(ref(n, rank))
	}
	r.put()
	for rank := range 2 {
		r.rank(n, rank, phase)
	}
}

// rank has a rank's node write how it is.
func (r *rig) rank(attempt, rank int, phase api.RankPhase) {
	r.t.Helper()
	r.publish(rank+1, api.KindRank, ref(attempt, rank).String(), api.Rank{Job: jobID, Attempt: attempt, Rank: rank, Epoch: 1, Phase: phase})
}

// end ends the current attempt, with the job or not.
func (r *rig) end(phase api.JobPhase) {
	r.t.Helper()
	n := r.job.Attempt
	for rank := range 2 {
		r.far[rank+1].end(ref(n, rank))
		r.rank(n, rank, api.RankExited)
	}
	r.job.Attempts = slices.Clone(r.job.Attempts)
	r.job.Attempts[n-1].EndedAt = api.TimeOf(time.Now())
	r.job.Phase = phase
	r.put()
}

// logs begins to read.
func (r *rig) logs(p api.JobLogsParams) *attach.Output {
	r.t.Helper()
	p.Job = jobID
	o, err := r.attach.Logs(r.t.Context(), r.ada, p)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(o.Close)
	return o
}

// readAll reads until the terminal piece, and reports whether it came.
func (r *rig) readAll(o *attach.Output, into map[string]string) bool {
	for {
		p, err := o.Next(r.t.Context())
		if err != nil || p.Terminal {
			return err == nil
		}
		if p.Complete {
			r.whole = append(r.whole, ref(p.Attempt, p.Rank))
			continue
		}
		take(into, p)
	}
}

// take notes a piece under attempt/rank/stream, or a notice under attempt/rank.
func take(into map[string]string, p api.JobOutput) {
	name := strconv.Itoa(p.Attempt) + "/" + strconv.Itoa(p.Rank)
	if p.Notice != nil {
		into[name] += string(p.Notice.Reason) + " "
		return
	}
	into[name+"/"+string(p.Stream)] += string(p.Data)
}
