package job

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/job/beat"
	"fulmen/daemon/internal/job/phase"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/placement"
	"fulmen/native"
)

const cluster = api.ClusterID("0123456789abcdef0123456789abcdef")

// world is several Macs in one bubble: real controllers over real ledgers, that are
// replicated within milliseconds, and ranks that are timers.
type world struct {
	blind    bool        // nobody knows what others were lent
	unhinted atomic.Bool // nobody looks again by itself
	stuck    atomic.Bool // a plan takes a minute
	t        *testing.T
	scenario *peertest.Network
	began    time.Time
	nodes    []*machine
	times    phase.Times

	mu              sync.Mutex
	broken          string               // the first broken law
	slow            time.Duration        // how long a plan takes
	slowStart       time.Duration        // how long an order to start is on its way behind the gate
	lack            map[string]api.Cause // what a preflight finds missing, by program
	friend          api.Principal        // may act for everybody
	calls           map[string]int       // answered, by method
	starts          int
	keep            int // how many ended jobs a home keeps; 0 = by default
	cables          []api.Cable
	mlx             string                         // version that preflights find
	models          map[api.NodeID]*api.FoundModel // that they find
	prints, printed int64                          // bytes between two renewals, and in all
	alive           map[api.RankRef]api.NodeID
}

// machine is one Mac. Its disk and its processes outlive its daemon.
type machine struct {
	*Jobs
	w    *world
	id   api.NodeID
	key  ed25519.PrivateKey
	disk *peertest.Disk

	up     bool
	writer *ledger.Writer
	ledger *ledger.Ledger
	stop   context.CancelFunc
	ended  chan struct{}

	mu           sync.Mutex
	receive      func(api.NodeID)
	hungUp       func(api.NodeID)
	presence     []func()
	in           atomic.Value // the cluster; nil = the world's
	memory       memory
	unresponsive bool          // sends and hears no beats
	frozen       chan struct{} // closed when it goes on; nil while it does
	forgot       []string
	removed      atomic.Bool // from the cluster
	wrote        []api.Job   // its last documents of jobs, in order
	full         bool        // the disk
	denies       func() (api.Grant, error)
	nameless     time.Time    // until when it knows no names of others, since its database is lost
	takesBack    bool         // its own documents of jobs that others kept, since its database is lost
	beside       api.Reason   // what else uses the GPU that it lends
	preparing    preparing    // how that goes
	prepared     string       // the version of Python that its ranks find once they are prepared
	step         atomic.Int64 // by how much the wall clock was set
	reads        atomic.Int64 // of its cluster, after which it is next
	next         api.ClusterID
	busy         atomic.Int64 // how long the requests to its ranks still take
	unanswered   atomic.Int64 // orders to start that it does not answer
	ranks
}

// in runs a test in a bubble with so many Macs.
func in(t *testing.T, n int, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, scenario: peertest.NewNetwork(), began: time.Now(), times: phase.DefaultTimes(),
			alive: map[api.RankRef]api.NodeID{},
			lack:  map[string]api.Cause{}, calls: map[string]int{}}
		for i := range n {
			seed := sha256.Sum256(fmt.Append(nil, "mac", i))
			key := ed25519.NewKeyFromSeed(seed[:])
			m := &machine{w: w, id: api.NodeIDFromKey(key.Public().(ed25519.PublicKey)), key: key, disk: &peertest.Disk{}}
			m.ranks.init()
			w.nodes = append(w.nodes, m)
		}
		slices.SortFunc(w.nodes, func(a, b *machine) int {
			if a.id < b.id {
				return -1
			}
			return 1
		})
		for _, m := range w.nodes {
			m.start()
		}
		synctest.Wait()
		defer func() {
			for _, m := range w.nodes {
				m.kill()
				m.killRanks()
			}
			pass(time.Minute) // for what the rig itself has under way
			if w.broken != "" {
				t.Error(w.broken)
			}
		}()
		test(t, w)
	})
}

// quiet waits for the requests that a rank has.
func (m *machine) quiet(ctx context.Context, _ api.RankRef) {
	if takes := time.Duration(m.busy.Load()); takes > 0 {
		native.Pause(ctx, m.clock(), takes)
	}
}

// clock is the machine's, whose wall clock may have been set.
func (m *machine) clock() native.Clock {
	return icy{native.ClockFrom(func() time.Time { return time.Now().Add(time.Duration(m.step.Load())) },
		func() time.Duration { return time.Since(m.w.began) + time.Hour }), m}
}

func (w *world) node(id api.NodeID) *machine {
	i := slices.IndexFunc(w.nodes, func(m *machine) bool { return m.id == id })
	return w.nodes[i]
}

// Cluster is the one that the machine is in. Where so is asked, that changes when it is
// read so often.
func (m *machine) Cluster() api.ClusterID {
	if m.reads.Add(-1) == 0 {
		m.adopts(m.next)
		go m.moves(m.next)
	}
	return m.isIn()
}

// isIn is Cluster where that is not counted.
func (m *machine) isIn() api.ClusterID {
	in, _ := m.in.Load().(api.ClusterID)
	return cmp.Or(in, cluster)
}

// PublicKey makes the machines of one cluster its members.
func (m *machine) PublicKey(id api.NodeID) (ed25519.PublicKey, bool) {
	for _, o := range m.w.nodes {
		if o.id == id && o.isIn() == m.isIn() && !o.removed.Load() {
			return o.key.Public().(ed25519.PublicKey), true
		}
	}
	return nil, false
}

// SignerKey makes those that were removed former members.
func (m *machine) SignerKey(id api.NodeID) (ed25519.PublicKey, bool) {
	o := m.w.node(id)
	return o.key.Public().(ed25519.PublicKey), o.isIn() == m.isIn()
}

// removes takes machines out of the cluster.
func (w *world) removes(all ...*machine) {
	var ids []api.NodeID
	for _, m := range all {
		m.removed.Store(true)
		m.cut(w.nodes...)
		ids = append(ids, m.id)
	}
	for _, m := range w.nodes {
		m.MembersRemoved(ids)
	}
	w.changed()
}

// adopts has the machine hold the roster of another cluster.
func (m *machine) adopts(to api.ClusterID) { m.in.Store(to) }

// rejoins signs again what the machine has written.
func (m *machine) rejoins() {
	if err := m.writer.Rejoin(m.isIn()); err != nil {
		m.w.breaks("%v", err)
	}
	m.w.changed()
}

// moves brings the machine into another cluster, in the order of a join.
func (m *machine) moves(to api.ClusterID) {
	m.adopts(to)
	m.ClusterChanged()
	m.rejoins()
}

// start begins the machine's daemon.
func (m *machine) start() {
	l, writer, err := ledger.Open(ledger.Options{Key: m.key, Cluster: m.Cluster(), Counter: m.disk, Store: m.disk, Members: m,
		TakesBack: func(d api.Document) bool { return m.takesBack && d.Kind == api.KindJob }})
	if err != nil {
		m.w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	electors := peertest.Electors(m, m.voters)
	var jobs *Jobs
	node := m.w.scenario.New(m.id)
	peers := peer.New(m.id, node, peertest.NewGate(gate.Config{
		Self: m.id, Electors: electors, Clock: m.clock(),
		Known: func(id api.JobID) (gate.Known, bool) { return jobs.Asked(id) },
		Bound: func(s api.Step, a api.Act) bool { return jobs.Bound(s, a) },
		Maps:  func(by, _ api.Principal) bool { return by == m.w.friend },
	}))
	m.mu.Lock()
	m.ledger, m.writer, m.stop, m.ended, m.up, m.presence = l, writer, cancel, make(chan struct{}), true, nil
	m.mu.Unlock()
	m.serve(peers)
	jobs, err = New(Config{
		Node: m.id, Key: m.key, Electors: electors, Roster: func() []string { return []string{"head of " + string(m.isIn())} }, Memory: &m.memory,
		Clock: m.clock(), Peers: icyPeers{peers, m}, Ledger: l, Documents: docs{m}, Presence: eyes{m}, Access: m, Beats: network{m}, Planner: planner{m}, Sharing: lendsAll,
		Keep: m.w.keep, Settle: func() error { return nil },
		Cables: m.w.cablesNow, Name: m.nameOf, Unfit: unfit,
		Compare: func(all []api.Preflight, mixed bool) (out []api.Cause) {
			for _, one := range all {
				out = append(out, one.Problems...)
				if has, first := one.Versions["python"], all[0].Versions["python"]; !mixed && has != first {
					out = append(out, api.Cause{Reason: api.ReasonPythonVersionsDiffer, Message: first + " is not " + has + "."})
				}
			}
			return out
		},
		Find:   func(ref api.NodeRef) (api.NodeID, error) { return api.NodeID(ref), nil },
		Forget: m.forgetRanks, Bind: m.bindRanks, Quiet: m.quiet, Times: func() phase.Times { return m.w.times }, BeatTimes: beat.DefaultTimes,
		PreflightWithin: func() time.Duration { return api.DefaultPreflight }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		m.w.t.Fatal(err)
	}
	m.Jobs = jobs
	m.w.scenario.Put(node) // from here on calls come
	m.notifyAgain()
	run, ended := m.Jobs, m.ended
	go func() {
		defer close(ended)
		run.Run(ctx)
	}()
	_, own := l.Watch(ledger.WatchOptions{Filter: ledger.Filter{Nodes: []api.NodeID{m.id}, Deleted: true}, Passive: true})
	go m.replicate(ctx, own)
	m.w.changed()
}

// replicate brings what the node writes to all that it reaches.
func (m *machine) replicate(ctx context.Context, own *ledger.Watcher) {
	defer own.Close()
	for {
		change, err := own.Next(ctx)
		if err != nil {
			return
		}
		<-time.After(2 * time.Millisecond)
		for _, r := range change.Put {
			for _, to := range m.w.nodes {
				m.bring(to, r)
			}
		}
	}
}

func (m *machine) bring(to *machine, r *ledger.Record) {
	if to != m && m.w.scenario.Joined(m.id, to.id) {
		to.thaws(func() {
			to.mu.Lock()
			l := to.ledger
			to.mu.Unlock()
			l.PutForeign(r.Document())
		})
	}
}

// kill ends the daemon at once; what it had under way is lost, its processes run on.
func (m *machine) kill() {
	m.mu.Lock()
	was := m.up
	m.up = false
	m.mu.Unlock()
	if !was {
		return
	}
	for _, o := range m.w.nodes { // its system closes what was open
		o.mu.Lock()
		hungUp := o.hungUp
		o.mu.Unlock()
		if o != m && o.isUp() && m.w.scenario.Joined(m.id, o.id) {
			go o.thaws(func() { hungUp(m.id) })
		}
	}
	m.w.scenario.Remove(m.id)
	m.stop()
	<-m.ended
	m.w.changed()
}

// forgets loses the machine's database under its daemon, which begins anew after a while,
// and hears of the others.
func (m *machine) forgets(away time.Duration) {
	m.kill()
	pass(away)
	m.disk, m.memory, m.takesBack = &peertest.Disk{}, memory{}, true
	m.nameless = time.Now().Add(2 * time.Second)
	m.start()
	pass(2 * time.Second)
}

// nameOf is what this machine knows of what another is called.
func (m *machine) nameOf(id api.NodeID) string {
	if id != m.id && time.Now().Before(m.nameless) {
		return id.Display()
	}
	return m.w.nameOf(id)
}

func (m *machine) isUp() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.up
}

// cut parts this machine from others, join brings them together again.
func (m *machine) cut(others ...*machine) {
	for _, o := range others {
		if o != m {
			m.w.scenario.Cut(m.id, o.id)
		}
	}
	m.w.changed()
}

func (m *machine) join(others ...*machine) {
	for _, o := range others {
		m.w.scenario.Join(m.id, o.id)
	}
	m.w.changed()
}

// changed lets everybody notice who is there, after a second, and brings what was
// missed meanwhile.
func (w *world) changed() {
	go func() {
		<-time.After(time.Second)
		for _, m := range w.nodes {
			m.mu.Lock()
			reported, l := slices.Clone(m.presence), m.ledger
			m.mu.Unlock()
			for _, f := range reported {
				f()
			}
			for _, r := range l.List(ledger.Filter{Deleted: true}) {
				for _, to := range w.nodes {
					if m.isUp() {
						m.bring(to, r)
					}
				}
			}
		}
	}()
}

// The machine's parts, as the controller knows them.
type (
	eyes    struct{ m *machine }
	docs    struct{ m *machine }
	planner struct{ m *machine }
	network struct{ m *machine }
)

func (e eyes) Members() []api.NodeID { return e.m.Members() }

func (e eyes) Reached() []api.NodeID { return e.m.Reached() }

func (e eyes) Watch(f func()) (stop func()) {
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	e.m.presence = append(e.m.presence, f)
	return func() {}
}

// voters are the members at every head of the roster: the removed ones too.
func (m *machine) voters() []api.NodeID {
	var all []api.NodeID
	for _, n := range m.w.nodes {
		if n.isIn() == m.isIn() {
			all = append(all, n.id)
		}
	}
	return all
}

func (m *machine) Members() []api.NodeID {
	return slices.DeleteFunc(m.voters(), func(id api.NodeID) bool { return m.w.node(id).removed.Load() })
}

func (m *machine) Reached() []api.NodeID {
	var all []api.NodeID
	for _, id := range m.Members() {
		if m.w.scenario.Joined(m.id, id) {
			all = append(all, id)
		}
	}
	return all
}

func (a network) Send(to api.NodeID) error {
	m := a.m
	other := m.w.node(to)
	m.mu.Lock()
	unresponsive := m.unresponsive
	m.mu.Unlock()
	other.mu.Lock()
	receive := other.receive
	unresponsive = unresponsive || other.unresponsive
	other.mu.Unlock()
	if receive != nil && !unresponsive && m.w.scenario.Joined(m.id, to) {
		go other.thaws(func() { receive(m.id) })
	}
	return nil
}

func (a network) HungUp(f func(api.NodeID)) {
	a.m.mu.Lock()
	defer a.m.mu.Unlock()
	a.m.hungUp = f
}

func (a network) Receive(f func(api.NodeID)) {
	m := a.m
	m.mu.Lock()
	defer m.mu.Unlock()
	m.receive = f
}

// May lets one principal act for all.
func (m *machine) May(by, _ api.Principal) bool { return by == m.w.friend }

// Put and Delete write to the machine's ledger, unless its disk is full.
func (d docs) Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error {
	m := d.m
	m.mu.Lock()
	full := m.full
	if job, is := value.(api.Job); is && !full {
		m.wrote = append(m.wrote[max(len(m.wrote)-15, 0):], job)
	}
	m.mu.Unlock()
	if full {
		return api.NewError(api.ReasonDiskFull, "")
	}
	return m.writer.Put(ledger.Draft{Kind: kind, Name: name, Value: value, Unknown: unknown, Settled: true})
}

func (d docs) DeleteJob(id api.JobID, homes []api.Succession) error {
	return d.m.writer.Put(ledger.Draft{Kind: api.KindJob, Name: id.String(), Delete: true, Homes: homes})
}

// memory is what a machine remembers of jobs, on its disk.
type memory struct {
	mu   sync.Mutex
	jobs map[api.JobID]Remembered
}

func (m *memory) LoadJobs() (map[api.JobID]Remembered, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.jobs), nil
}

func (m *memory) SaveJob(id api.JobID, r Remembered) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.jobs == nil {
		m.jobs = map[api.JobID]Remembered{}
	}
	m.jobs[id] = r
	return nil
}

func (m *memory) DropJobs(ids []api.JobID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		delete(m.jobs, id)
	}
	return nil
}

// taken is why nodes are not free for a job; what is lent is looked at again soon.
func (m *machine) taken(id api.JobID, nodes []api.NodeID, line placement.Line) error {
	if m.w.blind {
		return nil
	}
	for _, r := range line.Reserved {
		if slices.ContainsFunc(r.Grants, func(g api.WantedGrant) bool { return slices.Contains(nodes, g.Node) }) {
			return api.NewError(api.ReasonWaitingInLine, r.Job.String())
		}
	}
	for _, n := range nodes {
		on := m.w.node(n)
		on.mu.Lock()
		var by []api.JobID
		for holder, until := range on.grants {
			if ref, err := api.ParseRankRef(holder); err == nil && time.Now().Before(until) {
				by = append(by, ref.Job)
			}
		}
		on.mu.Unlock()
		if slices.ContainsFunc(by, func(o api.JobID) bool { return o != id && (line.Without == nil || !line.Without(o)) }) {
			if !m.w.unhinted.Load() {
				m.clock().AfterFunc(100*time.Millisecond, m.hintFirsts)
			}
			return api.NewError(api.ReasonGPUBusy, n.Display()).WithWait(string(by[0]))
		}
	}
	return nil
}

// lendsAll is what every node of a rig lends.
func lendsAll(api.NodeID) (api.Sharing, bool) {
	return api.Sharing{Jobs: api.JobsMapped, MappedMembers: true}, true
}

// Plan places ranks on the named nodes, or the first in sight.
func (p planner) Plan(_ context.Context, spec api.JobSpec, mlx map[api.NodeID]api.ProgramMLX, models map[api.NodeID]api.FoundModel, line placement.Line) (api.Plan, error) {
	m := p.m
	reached, nodes, perNode := m.Reached(), spec.Placement.Nodes, spec.Placement.PerNode()
	slow := m.w.slow
	if m.w.stuck.Load() {
		slow = time.Minute
	}
	if slow > 0 { // what it read is old when it answers
		over := make(chan struct{})
		m.clock().AfterFunc(slow, func() { close(over) })
		<-over
	}
	for _, n := range nodes {
		if !slices.Contains(reached, n) {
			return api.Plan{}, api.NewError(api.ReasonNodeUnreachable, n.Display())
		}
	}
	for _, n := range reached {
		if len(nodes) < max(spec.Placement.Ranks/perNode, 1) && !slices.Contains(nodes, n) {
			nodes = append(slices.Clone(nodes), n)
		}
	}
	if len(nodes) < spec.Placement.Ranks/perNode {
		return api.Plan{}, api.NewError(api.ReasonNotEnoughNodes, "")
	}
	if err := m.taken(spec.Job, nodes, line); err != nil {
		return api.Plan{}, err
	}
	if spec.Model.Model != "" {
		return m.planModel(spec, models)
	}
	plan := api.Plan{Backend: api.BackendRing, Shape: api.ShapeRing}
	if backend := spec.Placement.Backend; backend.RDMA() {
		return m.w.jaccl(backend, nodes)
	} else if backend == api.BackendAuto && mlx[nodes[0]].Version != "0.32.2" {
		return m.w.jaccl(api.BackendJACCLRing, nodes)
	}
	for i := range len(nodes) * perNode {
		plan.Ranks = append(plan.Ranks, api.PlanRank{Rank: i, Node: nodes[i/perNode], GPU: api.GPUExclusive})
		plan.Hosts = append(plan.Hosts, []string{fmt.Sprintf("10.0.0.%d", i+1)})
	}
	return plan, nil
}

func (m *machine) person() Caller { return Caller{Principal: api.Principal{User: "ada", Node: m.id}} }
