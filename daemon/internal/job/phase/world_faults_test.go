package phase

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

func (m *machine) endRanks(from *machine, e EndRanks) {
	w := m.w
	if m.fenced(from, e.Epoch) {
		return
	}
	m.ended[e.Attempt] = true
	m.answer(from, EndAccepted{e.Attempt, m.id})
	found := false
	for _, p := range w.procs {
		if p.on != m || p.attempt != e.Attempt {
			continue
		}
		found = true
		if p.dead {
			p.report(from.id)
		} else {
			w.after(time.Duration(w.rng.Int64N(int64(e.Grace)+1)), func() { p.die(&api.Exit{Signal: 15}) })
		}
	}
	if !found { // it never came here, and never will
		for i, r := range from.s.Ranks {
			if r.Node == m.id {
				m.answer(from, RankEnded{Attempt: e.Attempt, Rank: i})
			}
		}
	}
}

// unlisted tells the home of ranks that it has started here, as far as it knows, and that
// this node did not have when it was asked twice.
func (m *machine) unlisted(home *machine, attempt int) {
	for i, r := range home.s.Ranks {
		isHere := func(p *process) bool { return p.on == m && p.attempt == attempt && p.rank == i && !p.dead }
		if r.Node != m.id || attempt != home.s.Job.Attempt || !r.MayLive() || slices.ContainsFunc(m.w.procs, isHere) {
			continue
		}
		if name := fmt.Sprint(attempt, "/", i); m.missed[name] > 0 {
			m.ended[attempt] = true
			m.answer(home, RankEnded{Attempt: attempt, Rank: i, Reason: api.ReasonRankLost})
		} else {
			m.missed[name]++
		}
	}
}

// learn takes in a document that was replicated, and tells its writer so, after
// what it has of other homes.
func (m *machine) learn(from *machine, job api.Job) {
	if !m.has {
		m.has, m.s = true, Follow(m.id, job, m.w.rules)
		m.look()
	} else if old := m.docs[from.id]; old.Epoch < job.Epoch || len(old.Phases) <= len(job.Phases) {
		m.notify(Seen{job}) // a writer's documents are ordered
	}
	if old, ok := m.docs[from.id]; !ok || old.Epoch < job.Epoch || old.Epoch == job.Epoch && len(old.Phases) <= len(job.Phases) {
		m.docs[from.id] = job
	}
	held := m.s.Job.Home == from.id && m.s.Job.Epoch == job.Epoch
	attempt := m.s.Job.Attempt
	m.shows(from, func() {
		if held {
			from.notify(Held{attempt, job.Epoch, []api.NodeID{m.id}})
		}
	})
}

// shows tells another machine what this one has of other homes, and then something else.
func (m *machine) shows(from *machine, then func()) {
	docs := maps.Clone(m.docs)
	if m.disk.Home == m.id {
		docs[m.id] = m.disk
	}
	m.call(from, func() {
		for _, id := range slices.Sorted(maps.Keys(docs)) {
			if id != from.id {
				from.notify(Seen{docs[id]})
			}
		}
		then()
	})
}

// look tells who is in sight; beats find out after two seconds.
func (m *machine) look() {
	var all, reached []api.NodeID
	for _, n := range m.w.nodes {
		all = append(all, n.id)
		if connected(m, n) {
			reached = append(reached, n.id)
		}
	}
	m.notify(Presence{all, reached})
	for _, n := range m.s.Nodes {
		if lost := !slices.Contains(reached, n.ID); lost {
			m.notify(NodeLost{Node: n.ID})
		} else {
			m.notify(NodeBack{n.ID})
		}
	}
	if m.has && m.s.Role == RoleHome && m.s.Waits() {
		m.notify(m.plan())
	}
}

func (w *world) changed() {
	w.after(2*time.Second, func() {
		for _, m := range w.nodes {
			m.look()
		}
		for _, m := range w.nodes { // what was missed is brought after
			for _, to := range w.nodes {
				if m != to && m.up && m.has && m.s.Role == RoleHome {
					job := m.disk
					m.call(to, func() { to.learn(m, job) })
				}
			}
		}
	})
}

// crash ends a machine's daemon, whose processes run on, and starts it again.
func (m *machine) crash() {
	w := m.w
	if !m.up {
		return
	}
	w.report("%s crashes", m.id)
	for _, p := range w.procs {
		if p.on == m && p.waits && !p.dead { // nothing goes on that was not started
			p.dead = true
			m.ended[p.attempt] = true
		}
	}
	m.up = false
	m.boots++
	w.changed()
	w.after(time.Duration(w.rng.IntN(60))*time.Second, func() {
		w.report("%s is back", m.id)
		m.up = true
		if m.has {
			at := api.TimeOf(time.Unix(0, 0).Add(w.now))
			if m.s.Role == RoleHome && m.disk.Home == m.id {
				ended := m.s.Job.Phase.Ended()
				var out []Effect
				m.s, out = Resume(m.id, m.disk, w.rules, at)
				if !ended {
					m.carry(out)
				}
				for _, p := range w.procs {
					if m.s.open && p.attempt == m.s.Job.Attempt && p.dead {
						p.report(m.id)
					}
				}
			} else {
				m.s = Follow(m.id, m.s.Job, w.rules)
			}
		}
		w.changed()
	})
}

// split cuts the network in two, or heals it.
func (w *world) split() {
	heal := w.rng.IntN(2) == 0
	for _, m := range w.nodes {
		m.side = 0
		if !heal {
			m.side = w.rng.IntN(2)
		}
		w.report("%s is on side %d", m.id, m.side)
	}
	w.changed()
}

// pull pulls a cable that the job's ranks talk over, as far as anybody believes to
// be its home.
func (w *world) pull() {
	for _, m := range w.nodes {
		w.report("%s hears that a cable is gone", m.id)
		m.notify(LinkLost{m.s.Job.Attempt, Cause{Reason: api.ReasonLinkGone}})
	}
}

// handshakesNow reports whether the current attempt's ranks have one to be watched.
func (s State) handshakesNow() bool { return (&step{State: s}).handshakes() }

// TestRandomSchedules lets jobs live through crashes and splits. What must hold
// is checked at every step; at the end all is healed, and the job must end.
func TestRandomSchedules(t *testing.T) {
	rounds := 700
	if os.Getenv("FULMEN_SOAK") != "" {
		rounds = 100_000
	}
	if testing.Short() {
		rounds = 100
	}
	retried, taken, spawned, preempted := 0, 0, 0, 0
	for seed := range testkit.Upto(t, rounds) {
		r := rules()
		r.Retries = int(seed % 3)
		r.Prepares, r.Kept = seed%4 == 3, seed%7 == 6
		w := newWorld(t, seed, 2+int(seed%4), r)
		home := w.nodes[w.rng.IntN(len(w.nodes))]
		home.has = true
		var out []Effect
		home.s, out = Accept(home.id, api.Job{Principal: api.Principal{User: "u", Node: home.id}}, r, at(0))
		home.carry(out)
		home.look()
		for i := range w.rng.IntN(6) {
			w.after(time.Duration(i*30+w.rng.IntN(60))*time.Second, func() {
				switch w.rng.IntN(6) {
				case 5:
					for _, m := range w.nodes {
						m.notify(Preempted{Cause{Reason: api.ReasonPreempted}})
					}
				case 0, 1:
					w.split()
				case 2, 3:
					w.nodes[w.rng.IntN(len(w.nodes))].crash()
				default:
					w.pull()
				}
			})
		}
		if seed%5 == 0 {
			w.after(time.Duration(w.rng.IntN(200))*time.Second, func() {
				for _, m := range w.nodes {
					m.notify(StopAsked{Kill: seed%2 == 0})
				}
			})
		}
		w.run(5 * time.Minute)
		for _, m := range w.nodes {
			m.side = 0
			for _, p := range w.procs { // programs do not hang for ever here
				w.after(time.Duration(w.rng.IntN(30))*time.Second, func() { p.die(exit(0)) })
			}
		}
		w.changed()
		for range 20 {
			w.run(w.now + time.Minute)
			for _, p := range w.procs {
				p.die(exit(0))
			}
		}
		if r.Kept { // it goes on until somebody stops it
			for _, m := range w.nodes {
				m.notify(StopAsked{})
			}
			w.run(w.now + time.Minute)
		}
		w.mustBeOver()
		if len(w.starts) > 1 {
			retried++
		}
		spawned += w.spawns
		if slices.ContainsFunc(w.nodes, (*machine).wasPreempted) {
			preempted++
		}
		for _, m := range w.nodes {
			if m.s.Role == RoleHome && m.s.Job.Epoch >= api.NextTerm(1) {
				taken++
				break
			}
		}
	}
	if retried < rounds/50 || taken == 0 || spawned < rounds/10 || preempted < rounds/50 {
		t.Fatalf("of %d rounds %d had a second attempt and %d a take-over, %d ranks waited, and in %d one was preempted: the test tests nothing", rounds, retried, taken, spawned, preempted)
	}
}

// wasPreempted reports whether the job, as a machine knows it, was ended for another.
func (m *machine) wasPreempted() bool {
	return slices.ContainsFunc(m.s.Job.Attempts, func(a api.Attempt) bool { return a.Reason == api.ReasonPreempted })
}

func (w *world) mustBeOver() {
	var best *machine
	for _, m := range w.nodes {
		if m.has && m.s.Role == RoleHome && (best == nil || m.s.Job.Outranks(best.s.Job)) {
			best = m
		}
	}
	if best == nil {
		w.fatal("nobody keeps the job")
	}
	if !best.s.Job.Phase.Ended() {
		w.fatal("the job hangs in " + string(best.s.Phase()) + " for " + string(best.s.Job.Reason) + " " + best.s.Job.WaitingFor)
	}
	for _, p := range w.procs {
		if !p.dead {
			w.fatal("an orphan runs")
		}
	}
	for _, m := range w.nodes {
		for name, until := range m.grants {
			if until > w.now {
				w.fatal("grant " + name + " on " + string(m.id) + " outlives its job")
			}
		}
	}
}
