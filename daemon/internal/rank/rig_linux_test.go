package rank

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/rank/prepare"
	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/native"
	"fulmen/native/linux"
)

const (
	// timeout is how long a test waits for what must come.
	timeout = 2 * time.Minute
	cluster = api.ClusterID("0123456789abcdef0123456789abcdef")
)

func TestMain(m *testing.M) { ranktest.Main(m) }

// mac is a node with its disk, its supervisor and its documents, which outlive
// the daemons on it.
type mac struct {
	t          testing.TB
	folder     string
	id, homeID api.NodeID
	job        api.JobID          // its own: processes of one unit are found by its label on the whole machine
	home       ed25519.PrivateKey // of the other member, who submits and keeps the jobs
	clock      native.Clock
	scenario   *peertest.Network
	caller     *peer.Peers // the home's node
	ledger     *ledger.Ledger
	documents  *documents
	grants     *grants
	preparer   *preparer
	supervisor *supervisor
	members    map[api.NodeID]ed25519.PublicKey
	accounts   map[string]prepare.Account
	policy     func(api.Principal) (string, api.Reason)
	config     func(*Config)
	known      gate.Known  // what the node knows of the job
	warrant    api.Warrant // what the home proves itself with; empty before the first params
	ranks      *Ranks
}

func newMac(t testing.TB) *mac {
	t.Helper()
	folder, err := os.MkdirTemp("", "rank") // shorter than t.TempDir: sun_path is 104 bytes
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o711); err != nil {
		t.Fatal(err)
	}
	clock, err := native.SystemClock()
	if err != nil {
		t.Fatal(err)
	}
	platform, err := linux.New(linux.Options{Units: filepath.Join(folder, "units")})
	if err != nil {
		t.Fatal(err)
	}
	own, home := newKey(t), newKey(t)
	m := &mac{
		t: t, job: api.NewJobID(), folder: folder, id: idOf(own), homeID: idOf(home), home: home, clock: clock, scenario: peertest.NewNetwork(),
		grants:   &grants{held: map[api.RankRef]int{}, epochs: map[api.JobID]uint64{}},
		preparer: &preparer{}, supervisor: &supervisor{Supervisor: platform.Supervisor},
		members: map[api.NodeID]ed25519.PublicKey{}, accounts: map[string]prepare.Account{"root": {Name: "root"}},
	}
	m.preparer.mac = m
	for _, key := range []ed25519.PrivateKey{own, home} {
		m.members[idOf(key)] = key.Public().(ed25519.PublicKey)
	}
	m.accounts["worker"] = prepare.Account{Name: "nobody", UID: 65534, GID: 65534, Groups: []uint32{65534}}
	if os.Geteuid() != 0 {
		m.accounts["worker"] = prepare.Account{Name: "me", UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}
	}
	m.policy = func(api.Principal) (string, api.Reason) { return "worker", "" }
	l, w, err := ledger.Open(ledger.Options{Key: own, Cluster: cluster, Counter: &counter{}})
	if err != nil {
		t.Fatal(err)
	}
	m.ledger, m.documents = l, &documents{w}
	m.caller = peer.New(m.homeID, m.scenario.Add(m.homeID), peertest.GateFor(m.homeID, clock, nil))
	t.Cleanup(func() {
		if m.ranks != nil {
			m.ranks.Close()
		}
		units, _ := m.supervisor.List(context.Background(), "")
		for _, u := range units {
			_ = m.supervisor.Remove(context.Background(), u.Label)
		}
		if t.Failed() {
			for _, rec := range m.ledger.List(ledger.Filter{}) {
				text, _ := rec.JSON()
				t.Logf("%s", text)
			}
			logs, _ := filepath.Glob(filepath.Join(folder, "jobs", "*", "*", "*", shimLog))
			for _, path := range logs {
				text, _ := os.ReadFile(path)
				t.Logf("%s: %s", path, text)
			}
		}
		os.RemoveAll(folder)
	})
	return m
}

// times are those of a spec, else the defaults.
func times(spec api.JobSpec) Times {
	t := Times{api.DefaultPreparing, api.DefaultStarting, api.DefaultHandshake, api.DefaultGrace, api.DefaultFailedGrace}
	for of, s := range map[*time.Duration]*float64{
		&t.Preparing: spec.Deadlines.PreparingS, &t.Starting: spec.Deadlines.StartingS, &t.Handshake: spec.Deadlines.HandshakeS, &t.Grace: spec.Deadlines.GraceS,
	} {
		if s != nil {
			*of = api.Seconds(*s)
		}
	}
	return t
}

// boot starts a daemon, in place of the one that was there.
func (m *mac) boot() *mac {
	m.t.Helper()
	m.kill()
	var log io.Writer = io.Discard
	if os.Getenv("RANK_TEST_LOG") != "" {
		log = os.Stderr
	}
	cfg := Config{
		Node: m.id, Name: m.name, Cluster: m.Cluster, Clock: m.clock, Jobs: m.ledger, Documents: m.documents,
		Peers: peer.New(m.id, m.scenario.Add(m.id), peertest.NewGate(gate.Config{
			Self: m.id, Clock: m.clock, Electors: peertest.Electors(m, nil),
			Known: func(id api.JobID) (gate.Known, bool) { return m.known, m.known.Spec.Job == id },
		})),
		Deleted: func(id api.JobID) bool { return m.known.Gone && m.known.Spec.Job == id },
		Times:   times,
		Grants:  m.grants, RestoreGrant: m.grants.restore, Policy: m, Preparer: m.preparer, Supervisor: m.supervisor,
		Program: os.Args[0], Folder: filepath.Join(m.folder, "jobs"), Runtime: filepath.Join(m.folder, "run"),
		Channels: &channels{open: map[api.RankRef]channel{}},
		Spawned:  func(api.RankRef) {}, Ended: func(api.Rank) {}, OutputLost: func(api.RankRef, string) {}, Changed: func() {},
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if m.config != nil {
		m.config(&cfg)
	}
	m.ranks = New(cfg)
	if err := m.ranks.Restore(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
	return m
}

// name is home for the node that keeps the jobs, and mac for this one.
func (m *mac) name(id api.NodeID) string {
	if id == m.homeID {
		return "home"
	}
	return "mac"
}

// kill takes the daemon away without a word: nothing is written from then on.
func (m *mac) kill() {
	if m.ranks != nil {
		m.ranks.Close()
		m.scenario.Remove(m.id)
		m.grants.forget()
	}
}

func (m *mac) Allows(p api.Principal) (string, api.Reason) { return m.policy(p) }

// spec is a job of the other member that runs a shell script.
func (m *mac) spec(script string) api.JobSpec {
	request := api.JobRequest{Program: api.Program{Command: []string{"/bin/sh", "-c", script}}, Placement: api.Placement{Ranks: 1}}
	spec := request.Spec(m.job, api.Principal{User: "anna", Node: m.homeID}, api.TimeOf(m.clock.Now()))
	spec.Home, spec.ExpiresAt = m.homeID, api.TimeOf(m.clock.Now().Add(time.Hour))
	return spec
}

// params is the home's request to start rank 0 of attempt 1 here.
func (m *mac) params(spec api.JobSpec) api.PeerStartParams {
	m.t.Helper()
	raw, sig, err := api.SignSpec(cluster, m.home, spec)
	if err != nil {
		m.t.Fatal(err)
	}
	m.warrant = api.Warrant{Spec: raw, SpecSig: sig}
	return api.PeerStartParams{
		Rank: api.RankRef{Job: m.job, Attempt: 1}, Epoch: 1, Warrant: m.warrant, LeaseS: 30,
		Plan: api.Plan{
			SpecSHA256: api.SpecSHA256(raw), Backend: api.BackendRing, Shape: api.ShapeSingle,
			Ranks: []api.PlanRank{{Node: m.id, GPU: api.GPUShared, MemoryBytes: 1 << 20}},
		},
	}
}

// call is a call of the home's node.
func (m *mac) call(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(m.t.Context(), timeout)
	defer cancel()
	if result == nil {
		result = &api.Empty{}
	}
	return m.caller.Call(ctx, m.id, method, m.prove(params), result)
}

// prove adds the home's proof to the parameters of a call. Above the first epoch the
// home has offered the job to itself.
func (m *mac) prove(params any) any {
	proof := func(w api.Warrant, epoch uint64) api.Warrant {
		if w.Spec == nil && m.warrant.Spec == nil {
			m.params(m.spec("true"))
		}
		if w.Spec == nil {
			w = m.warrant
		}
		if epoch > 1 && w.Homes == nil {
			first := api.Job{SpecSHA256: api.SpecSHA256(w.Spec), Home: m.homeID, Epoch: 1}
			w.Homes = []api.Succession{first.StepTo(cluster, m.job, m.homeID, epoch).Offer(m.home)}
		}
		return w
	}
	switch p := params.(type) {
	case api.PeerStartParams:
		p.Warrant = proof(p.Warrant, p.Epoch)
		return p
	case api.PeerSpawnParams:
		p.Warrant = proof(p.Warrant, p.Epoch)
		return p
	case api.PeerRenewParams:
		p.Warrant = proof(p.Warrant, p.Epoch)
		return p
	case api.PeerEndParams:
		p.Warrant = proof(p.Warrant, p.Epoch)
		return p
	case api.PeerListenParams:
		p.Warrant = proof(p.Warrant, p.Epoch)
		return p
	}
	return params
}

// SignerKey is PublicKey: nobody was removed.
func (m *mac) SignerKey(id api.NodeID) (ed25519.PublicKey, bool) { return m.PublicKey(id) }

// PublicKey makes the two nodes the members.
func (m *mac) PublicKey(id api.NodeID) (ed25519.PublicKey, bool) {
	key, ok := m.members[id]
	return key, ok
}

// Cluster is theirs.
func (m *mac) Cluster() api.ClusterID { return cluster }

// start grants the rank what the plan says and starts it.
func (m *mac) start(p api.PeerStartParams) error {
	m.grants.give(p.Rank, p.Epoch)
	return m.call("peer.start", p, nil)
}

func (m *mac) mustStart(p api.PeerStartParams) {
	m.t.Helper()
	if err := m.start(p); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mac) mustEnd(p api.PeerEndParams) {
	m.t.Helper()
	if err := m.call("peer.end", p, nil); err != nil {
		m.t.Fatal(err)
	}
}

// run starts a script and waits until it has ended.
func (m *mac) run(script string) api.Rank {
	m.t.Helper()
	p := m.params(m.spec(script))
	m.mustStart(p)
	return m.until(p.Rank, api.RankExited)
}

// doc is the rank's document; false while there is none.
func (m *mac) doc(ref api.RankRef) (doc api.Rank, ok bool) {
	rec, ok := m.ledger.Get(api.Key{Node: m.id, Kind: api.KindRank, Name: ref.String()})
	if ok && rec.Decode(&doc) != nil {
		m.t.Fatal("a rank document cannot be read")
	}
	return doc, ok
}

// until waits until the document says that the rank is in a phase.
func (m *mac) until(ref api.RankRef, phase api.RankPhase) (doc api.Rank) {
	m.t.Helper()
	eventually(m.t, "rank "+ref.String()+" to be "+string(phase), func() bool {
		doc, _ = m.doc(ref)
		if doc.Phase.Ended() && !phase.Ended() {
			m.t.Fatalf("the rank has ended: %+v", doc)
		}
		return doc.Phase == phase
	})
	return doc
}

// free waits until the rank's grant is not occupied any more.
func (m *mac) free(ref api.RankRef) {
	m.t.Helper()
	eventually(m.t, "the grant of "+ref.String(), func() bool { return !m.grants.occupied(ref) })
}

// output is what the rank has printed.
func (m *mac) output(ref api.RankRef) string {
	m.t.Helper()
	folder, _, _, ok := m.ranks.Folder(ref)
	if !ok {
		m.t.Fatal("no folder")
	}
	text, _ := os.ReadFile(filepath.Join(folder, fmt.Sprintf("out.%d", ref.Rank)))
	return string(text)
}

// shimPID is the process of the only unit.
func (m *mac) shimPID() int {
	m.t.Helper()
	units, err := m.supervisor.List(m.t.Context(), api.RankLabelsOf(m.id))
	if err != nil || len(units) != 1 {
		m.t.Fatalf("%d units, %v", len(units), err)
	}
	return units[0].PID
}

// eventually waits for something that nothing announces to a test.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	end := time.After(timeout)
	for !is() {
		select {
		case <-end:
			t.Fatalf("still waiting for %s", what)
		case <-time.After(time.Millisecond):
		}
	}
}

func newKey(t testing.TB) ed25519.PrivateKey {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func idOf(key ed25519.PrivateKey) api.NodeID {
	return api.NodeIDFromKey(key.Public().(ed25519.PublicKey))
}

type counter struct{ v api.Version }

func (c *counter) LoadVersion() (api.Version, error) { return c.v, nil }
func (c *counter) SaveVersion(v api.Version) error   { c.v = v; return nil }

type documents struct{ *ledger.Writer }

func (d *documents) Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error {
	return d.Writer.Put(ledger.Draft{Kind: kind, Name: name, Value: value, Unknown: unknown})
}

// grants is an arbiter that has enough for everybody.
type grants struct {
	mu     sync.Mutex
	held   map[api.RankRef]int // by how many processes
	epochs map[api.JobID]uint64
	bytes  int64 // of each; 0 = 1 MiB
}

func (g *grants) give(ref api.RankRef, epoch uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.held[ref]; !known {
		g.held[ref] = 0
	}
	g.epochs[ref.Job] = max(g.epochs[ref.Job], epoch)
}

func (g *grants) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.held)
	clear(g.epochs)
}

func (g *grants) restore(lent api.PeerGrantParams, lease time.Duration) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if lent.GPU != api.GPUShared || lent.MemoryBytes != cmp.Or(g.bytes, 1<<20) || !lent.Principal.Valid() || lease <= 0 {
		return fmt.Errorf("restored as %+v", lent)
	}
	ref, err := api.ParseRankRef(lent.Holder)
	g.held[ref]++
	g.epochs[ref.Job] = lent.Epoch
	return err
}

func (g *grants) occupied(ref api.RankRef) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held[ref] > 0
}

func (g *grants) Occupy(ref api.RankRef, epoch uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.held[ref]; !ok || epoch < g.epochs[ref.Job] {
		return false
	}
	g.held[ref]++
	return true
}

func (g *grants) Vacate(ref api.RankRef) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held[ref]--
}

func (g *grants) Renew(job api.JobID, _ int, epoch uint64, _ time.Duration) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if epoch < g.epochs[job] {
		return 0, api.NewError(api.ReasonStaleEpoch, string(job))
	}
	g.epochs[job] = epoch
	return len(slices.Collect(maps.Keys(g.held))), nil
}

func (g *grants) Epoch(job api.JobID) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.epochs[job]
}

// preparer takes programs as they are. What is set is asked first.
type preparer struct {
	mac     *mac
	resolve func(ctx context.Context) error
	prepare func(ctx context.Context, log io.Writer) error
	env     []string

	versions map[string]string
}

func (p *preparer) Account(name string) (prepare.Account, error) {
	a, ok := p.mac.accounts[name]
	if !ok {
		return prepare.Account{}, api.NewError(api.ReasonAccountForbidden, name)
	}
	return a, nil
}

func (p *preparer) Resolve(ctx context.Context, _ prepare.Account, program api.Program, environment map[string]string) (prepare.Resolved, error) {
	if p.resolve != nil {
		if err := p.resolve(ctx); err != nil {
			return prepare.Resolved{}, err
		}
	}
	env := append([]string{"PATH=" + os.Getenv("PATH")}, p.env...)
	for name, value := range environment {
		env = append(env, name+"="+value)
	}
	dir := program.Directory
	if dir == "" {
		dir = "/"
	}
	return prepare.Resolved{Program: program.Command[0], Args: program.Command[1:], Env: env, Dir: dir, Versions: p.versions}, nil
}

func (p *preparer) Prepare(ctx context.Context, _ prepare.Account, _ api.Program, log io.Writer) error {
	if p.prepare == nil {
		return errors.New("nothing to be prepared")
	}
	return p.prepare(ctx, log)
}

// supervisor is the system's, with moments at which a daemon can be killed.
type supervisor struct {
	native.Supervisor
	before, after func() // of Start; nil = nothing
	mu            sync.Mutex
	started       []string
}

func (s *supervisor) Start(ctx context.Context, unit native.Unit) error {
	if s.before != nil {
		s.before()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err := s.Supervisor.Start(ctx, unit)
	if err == nil {
		s.mu.Lock()
		s.started = append(s.started, unit.Label)
		s.mu.Unlock()
	}
	if s.after != nil {
		s.after()
	}
	return err
}

func (s *supervisor) starts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.started)
}

// isReason reports whether an error has a reason.
func isReason(err error, reason api.Reason) bool { return errors.Is(err, reason) }
