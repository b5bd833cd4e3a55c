package phase

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// world is a small cluster on virtual time around the state machines of one
// job: real fences, leases and processes, and a network that delays, loses and
// splits. Whatever happens in it, processes of two attempts never live at once.
type world struct {
	t       testing.TB
	rng     *rand.Rand
	now     time.Duration
	queue   []happening
	serial  int
	rules   Rules
	nodes   []*machine
	procs   []*process
	reports int
	trace   []string
	starts  map[int]bool // attempts of which a process was started
	spawns  int          // processes that ran once all were prepared
}

type happening struct {
	at time.Duration
	n  int
	do func()
}

// machine is one Mac.
type machine struct {
	w       *world
	id      api.NodeID
	side    int // of a partition
	up      bool
	boots   int
	has     bool // it knows the job
	s       State
	disk    api.Job
	fence   uint64
	voted   map[uint64]api.NodeID
	ended   map[int]bool // attempts whose end it has acknowledged
	grants  map[string]time.Duration
	docs    map[api.NodeID]api.Job // as others wrote them
	missed  map[string]int         // renewals that did not list a rank, of this attempt and number
	masters api.NodeID             // who spoke last, to be told of ends
}

type process struct {
	attempt, rank int
	epoch         uint64 // of the home that has begun it
	on            *machine
	lease, death  time.Duration // death: -1 while not decided
	exit          *api.Exit
	dead          bool
	handshake     api.HandshakeState
	severed       bool
	waits, ready  bool     // for the others; prepared
	end           api.Time // when it ended, by itself
}

func newWorld(t testing.TB, seed testkit.Seed, n int, r Rules) *world {
	w := &world{t: t, rng: seed.Source(7), rules: r, starts: map[int]bool{}}
	for i := range n {
		w.nodes = append(w.nodes, &machine{w: w, id: nodeID(i), up: true, voted: map[uint64]api.NodeID{}, ended: map[int]bool{}, grants: map[string]time.Duration{}, docs: map[api.NodeID]api.Job{}, missed: map[string]int{}})
	}
	return w
}

func (w *world) after(d time.Duration, do func()) {
	w.serial++
	h := happening{w.now + d, w.serial, do}
	i, _ := slices.BinarySearchFunc(w.queue, h, func(a, b happening) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.n, b.n)) })
	w.queue = slices.Insert(w.queue, i, h)
}

func (w *world) run(until time.Duration) {
	for len(w.queue) > 0 && w.queue[0].at <= until {
		h := w.queue[0]
		w.queue = w.queue[1:]
		w.now = h.at
		h.do()
		w.check()
	}
	w.now = until
}

func (w *world) report(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%8s ", w.now)+fmt.Sprintf(format, args...))
}

func (w *world) fatal(text string) {
	for _, l := range w.trace[max(0, len(w.trace)-60):] {
		w.t.Log(l)
	}
	w.t.Fatal(text)
}

// check is the invariant.
func (w *world) check() {
	attempt := 0
	for _, p := range w.procs {
		if p.dead {
			continue
		}
		if attempt != 0 && p.attempt != attempt {
			w.fatal(fmt.Sprintf("ranks of attempts %d and %d live at once", attempt, p.attempt))
		}
		attempt = p.attempt
	}
}

func (w *world) node(id api.NodeID) *machine {
	return w.nodes[slices.IndexFunc(w.nodes, func(m *machine) bool { return m.id == id })]
}

func (w *world) delay() time.Duration {
	return time.Duration(1+w.rng.IntN(200)) * time.Millisecond
}

func connected(a, b *machine) bool { return a.up && b.up && a.side == b.side }

// call carries a request; whoever is cut off meanwhile never gets it.
func (m *machine) call(to *machine, do func()) {
	m.w.after(m.w.delay(), func() {
		if connected(m, to) {
			do()
		}
	})
}

// notify gives this machine's state machine an event.
func (m *machine) notify(e Event) {
	if !m.up || !m.has {
		return
	}
	before := m.s
	var out []Effect
	m.s, out = Next(m.s, api.TimeOf(time.Unix(0, 0).Add(m.w.now)), e)
	checkStep(m.w.t, before, m.s, out)
	if before.Phase() != m.s.Phase() || before.Role != m.s.Role {
		m.w.report("%s %s epoch %d attempt %d: %s on %T %s", m.id, m.s.Role, m.s.Job.Epoch, m.s.Job.Attempt, m.s.Phase(), e, m.s.Job.Reason)
	}
	m.carry(out)
}

// answer is an event for the home on from, as the reply to its call.
func (m *machine) answer(to *machine, e Event) { m.call(to, func() { to.notify(e) }) }

// fenced reports whether the caller's epoch counts here.
func (m *machine) fenced(from *machine, epoch uint64) bool {
	if epoch < m.fence {
		m.shows(from, func() {})
		return true
	}
	m.fence, m.masters = epoch, from.id
	return false
}

func (m *machine) carry(out []Effect) {
	w := m.w
	for _, e := range out {
		switch e := e.(type) {
		case PutDocument:
			m.disk = e.Job
			for _, to := range w.nodes {
				if to != m {
					m.call(to, func() { to.learn(m, e.Job) })
				}
			}
		case StartTimer:
			boots := m.boots
			w.after(e.After, func() {
				if m.boots == boots {
					m.notify(TimerFired{e.Timer})
				}
			})
		case AskPlan:
			m.call(m, func() { m.notify(m.plan()) })
		case HandOver:
			to := w.node(e.To)
			m.call(to, func() {
				if !to.has || to.s.Role == RoleFollower && to.s.Job.Epoch <= e.Job.Epoch {
					job := e.Job
					job.Homes, job.Home, job.Epoch = append(job.Homes[:len(job.Homes):len(job.Homes)], e.Offer), e.Offer.Home, e.Offer.Epoch
					to.has = true
					w.report("%s accepts epoch %d", to.id, job.Epoch)
					var fx []Effect
					to.s, fx = Accept(to.id, job, w.rules, api.TimeOf(time.Unix(0, 0).Add(w.now)))
					to.carry(fx)
					to.look()
				}
			})
		case AskVotes:
			m.askVotes(e)
		case Preflight:
			if w.rng.IntN(20) == 0 {
				m.answer(m, PreflightFailed{Attempt: e.Attempt, Cause: Cause{Reason: api.ReasonProgramMissing}})
			} else {
				m.answer(m, Preflighted{Attempt: e.Attempt})
			}
		case AskGrant:
			to, boots, answered := w.node(e.Rank.Node), m.boots, false
			answer := func(event Event) {
				to.call(m, func() {
					answered = true
					m.notify(event)
				})
			}
			m.call(to, func() {
				if to.fenced(m, e.Epoch) {
					return
				}
				if e.Wait == 0 && w.rng.IntN(5) == 0 {
					why := []api.Reason{api.ReasonGPUBusy, api.ReasonMeasurementRunning}[w.rng.IntN(2)]
					answer(GrantRefused{e.Attempt, e.Rank.Rank, true, Cause{Reason: why}})
					return
				}
				to.grants[fmt.Sprint(e.Attempt, "/", e.Rank.Rank)] = w.now + w.rules.Lease
				answer(Granted{e.Attempt, e.Rank.Rank, to.id})
			})
			w.after(e.Wait+10*time.Second, func() { // the answer was lost with the node
				if !answered && m.boots == boots {
					m.notify(GrantRefused{e.Attempt, e.Rank.Rank, false, Cause{Reason: api.ReasonUnreachable}})
				}
			})
		case Release:
			to := w.node(e.Node)
			m.call(to, func() {
				if !to.fenced(m, e.Epoch) {
					delete(to.grants, fmt.Sprint(e.Attempt, "/", e.Rank))
				}
			})
		case StartRank:
			to := w.node(e.Node)
			m.call(to, func() { to.startRank(m, e) })
		case SpawnRank:
			to := w.node(e.Node)
			m.call(to, func() { to.spawnRank(m, e) })
		case Renew:
			to := w.node(e.Node)
			m.call(to, func() {
				if to.fenced(m, e.Epoch) {
					return
				}
				for name := range to.grants {
					to.grants[name] = w.now + e.Lease
				}
				for _, p := range w.procs {
					if p.on == to && p.attempt == e.Attempt && !p.dead {
						p.lease = w.now + e.Lease
					}
				}
				to.answer(m, Renewed{e.Attempt, to.id})
				to.unlisted(m, e.Attempt)
			})
		case EndRanks:
			to := w.node(e.Node)
			m.call(to, func() { to.endRanks(m, e) })
		case NotifyTerminal:
			w.reports++
			w.report("%s tells %s %d", m.id, e.Phase, e.ExitCode)
		}
	}
}

// askVotes gathers what the others say. Each votes once for an epoch.
func (m *machine) askVotes(e AskVotes) {
	w, votes := m.w, 0
	for _, to := range w.nodes {
		m.call(to, func() {
			if !to.has || (to != m && !to.s.MayVote(e.Job.Home, e.Job.Epoch)) {
				return
			}
			if given, ok := to.voted[e.Epoch]; ok && given != m.id {
				to.answer(m, VoteRefused{e.Epoch})
				return
			}
			to.voted[e.Epoch] = m.id
			to.call(m, func() {
				if votes++; votes*2 > len(w.nodes) {
					m.notify(Voted{Before: e.Job.Epoch, Epoch: e.Epoch, Votes: []api.Vote{{Node: to.id}}})
				}
			})
		})
	}
}

// plan is a fixed placement: the first two nodes in sight, this one not always first; at
// times with two ranks on each.
func (m *machine) plan() Event {
	var free []api.NodeID
	for _, n := range m.w.nodes {
		if connected(m, n) {
			free = append(free, n.id)
		}
	}
	if len(free) < 2 {
		return Unplaceable{Cause: Cause{Reason: api.ReasonNotEnoughNodes}}
	}
	if m.w.rng.IntN(2) == 0 {
		slices.Reverse(free)
	}
	backend, nodes := []api.Backend{api.BackendRing, api.BackendJACCL}[m.w.rng.IntN(2)], free[:2]
	if backend == api.BackendRing && m.w.rng.IntN(3) == 0 {
		nodes = []api.NodeID{free[0], free[0], free[1], free[1]}
	}
	return Planned{planOn(backend, nodes...)}
}

func (m *machine) startRank(from *machine, e StartRank) {
	w := m.w
	if m.fenced(from, e.Epoch) || m.ended[e.Attempt] {
		return
	}
	p := &process{attempt: e.Attempt, rank: e.Rank, epoch: e.Epoch, on: m, lease: w.now + e.Lease, death: -1}
	w.procs = append(w.procs, p)
	w.starts[e.Attempt] = true
	if e.Wait {
		p.prepare(from)
	} else {
		p.run(from)
	}
	p.watch()
}

// run is when the program is started.
func (p *process) run(home *machine) {
	w := p.on.w
	p.waits = false
	w.report("%s runs %d/%d", p.on.id, p.attempt, p.rank)
	p.join(home, home.s.handshakesNow())
	if w.rng.IntN(4) > 0 {
		w.after(time.Duration(w.rng.IntN(90))*time.Second, func() { p.die(exit(w.rng.IntN(3) / 2)) })
	}
}

// join reports the process's way into its group: at once where nobody watches it,
// else by steps, of which the last may never come.
func (p *process) join(home *machine, watched bool) {
	if !watched {
		p.on.answer(home, RankAt{Attempt: p.attempt, Rank: p.rank, Phase: api.RankRunning})
		return
	}
	p.at(home, api.RankHandshake, api.HandshakeNone)
	p.on.w.after(p.on.w.delay(), func() { p.at(home, api.RankHandshake, api.HandshakeConnected) })
	if p.on.w.rng.IntN(6) > 0 {
		p.on.w.after(time.Duration(p.on.w.rng.IntN(3000))*time.Millisecond, func() { p.at(home, api.RankRunning, api.HandshakeJoined) })
	}
}

func (p *process) at(home *machine, phase api.RankPhase, state api.HandshakeState) {
	if !p.dead {
		p.handshake = state
		p.on.answer(home, RankAt{Attempt: p.attempt, Rank: p.rank, Phase: phase, Handshake: state})
	}
}

// watch ends a process whose lease ran out, after its grace.
func (p *process) watch() {
	p.on.w.after(p.lease-p.on.w.now, func() {
		if p.dead {
			return
		}
		if p.lease > p.on.w.now {
			p.watch()
			return
		}
		p.on.w.after(p.on.w.rules.FailedGrace, func() { p.die(&api.Exit{Signal: 9}) })
	})
}

func (p *process) die(e *api.Exit) {
	if p.dead {
		return
	}
	w := p.on.w
	if p.waits { // no program has ended
		p.dead, p.on.ended[p.attempt] = true, true
		w.report("%s gives %d/%d up", p.on.id, p.attempt, p.rank)
		p.report(p.on.masters)
		return
	}
	p.dead, p.exit, p.severed = true, e, w.rng.IntN(4) == 0
	if e.Signal == 0 {
		p.end = api.TimeOf(time.Unix(0, 0).Add(w.now + time.Duration(w.rng.IntN(20))*time.Millisecond)) // clocks differ
	}
	p.on.ended[p.attempt] = true
	w.report("%s ended %d/%d %d", p.on.id, p.attempt, p.rank, e.Status())
	p.report(p.on.masters)
}

func (p *process) report(to api.NodeID) {
	p.on.answer(p.on.w.node(to), RankFailing{Attempt: p.attempt, Rank: p.rank, Exit: p.exit, At: p.end, Handshake: p.handshake, Severed: p.severed}) // may come at any time, or never
	p.on.answer(p.on.w.node(to), RankEnded{Attempt: p.attempt, Rank: p.rank, Exit: p.exit, At: p.end, Handshake: p.handshake, Severed: p.severed})
}
